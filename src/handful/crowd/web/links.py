"""The links that are printed when a server starts."""

from __future__ import annotations

from dataclasses import dataclass

from handful.crowd.registry import Registry


@dataclass(frozen=True)
class Links:
    """The address of each theme's page for workers, and of the organizer's pages."""

    workers: dict[str, str]
    organizer: str


def links_of(registry: Registry, url: str) -> Links:
    """The links of all studies. What stands after the # is the key, which never leaves the organizer's browser."""
    return Links(
        {hosted.theme: f"{url}/s/{name}" for name, hosted in registry.studies.items()},
        f"{url}{registry.keys.login}",
    )

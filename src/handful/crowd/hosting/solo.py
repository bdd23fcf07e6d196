"""Studies for one person, who chooses alone."""

from __future__ import annotations

from collections.abc import Sequence

from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.hosting.registry import Registry
from handful.errors import InvalidProblem
from handful.storage import without_password


def solo_study(registry: Registry, themes: Sequence[str] = ()) -> HostedStudy:
    """The study for one person that is not finished, of these themes before others; if all are, the last of them."""
    studies = [hosted for hosted in registry.studies.values() if hosted.study.setup.solo]
    if not studies:
        theirs = next(iter(registry.studies.values())).theme
        raise InvalidProblem(
            f"{without_password(str(registry.storage))} holds {theirs!r}, a study for many: to choose alone beside it, "
            "give a --theme of your own, or another file as --storage"
        )
    named = [hosted for hosted in studies if hosted.theme in themes] or studies
    return next((hosted for hosted in named if hosted.open), named[-1])

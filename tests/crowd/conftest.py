"""A small collection, and servers on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from handful.crowd.collection import Collection
from handful.crowd.intake import ingest
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import Settings
from tests.crowd.clients import Started, started
from tests.crowd.pictures import folder_of


@pytest.fixture(scope="session")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """Eight pictures, processed."""
    folder = tmp_path_factory.mktemp("collection")
    return ingest(folder_of(8, folder / "photos"), folder / "items")


@pytest.fixture
def serve(collection: Collection) -> Iterator[Callable[..., Started]]:
    """Starts a server on a free port; it stops when the test ends."""
    with ExitStack() as running:

        def start(
            plan: StudyPlan | None = None,
            settings: Settings | None = None,
            themes: tuple[str, ...] = ("Cathedrals in Venice",),
            storage: str | Path | None = None,
            items: Collection | None = None,
            clock: Callable[[], float] = time.time,
        ) -> Started:
            return running.enter_context(started(items or collection, plan, settings, themes, storage, clock))

        yield start

"""A collection of drawn postcards, servers on it, and people with real browsers in front of them."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image as Picture
from playwright.sync_api import expect

from handful.crowd.collection import Collection
from handful.crowd.intake import ingest
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import Settings
from handful.venice import PICTURES, venice
from tests.crowd.clients import Started, started

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

THEME = "Cathedrals in Venice"
PATIENCE_MS = 60_000  # also on a machine that has much else to do
expect.set_options(timeout=PATIENCE_MS)
PLAN = StudyPlan(k=3, options=2, budget=90, in_flight=20)


@pytest.fixture(scope="session")
def postcards(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """A dozen postcards of Venice with captions and alternative texts."""
    folder = tmp_path_factory.mktemp("postcards")
    with (folder / "postcards.csv").open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["image", "caption", "alt"])
        for image in venice(n=60).images[:12]:
            with Picture.open(PICTURES / f"{image.id}.webp") as picture:
                picture.resize((800, 600)).save(folder / f"{image.id}.jpg", quality=90)
            lines.writerow(
                [f"{image.id}.jpg", " ".join(image.tags[:2]).capitalize(), f"A postcard: {', '.join(image.tags)}"]
            )
    return ingest(folder / "postcards.csv", folder / "items")


@pytest.fixture(scope="session")
def sayings(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """Texts: some short, one long."""
    folder = tmp_path_factory.mktemp("sayings")
    with (folder / "sayings.csv").open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["text", "caption"])
        for number in range(1, 7):
            lines.writerow(["A city is read by walking through it. " * (2 * number), f"Saying {number}"])
    return ingest(folder / "sayings.csv", folder / "items")


@pytest.fixture
def serve(postcards: Collection, tmp_path: Path) -> Iterator[Callable[..., Started]]:
    """Starts a server with a database on disk; it stops when the test ends."""
    with ExitStack() as running:

        def start(
            plan: StudyPlan = PLAN,
            settings: Settings | None = None,
            themes: tuple[str, ...] = (THEME,),
            items: Collection | None = None,
            clock: Callable[[], float] = time.time,
        ) -> Started:
            storage = tmp_path / f"{len(list(tmp_path.iterdir()))}.db"
            return running.enter_context(started(items or postcards, plan, settings, themes, storage, clock))

        yield start


def ours(address: str) -> bool:
    """Whether something is loaded from the server itself; no page may load anything from elsewhere."""
    return address.startswith(("http://127.0.0.1:", "blob:http://127.0.0.1:"))


@pytest.fixture
def somebody(browser: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """A person with a browser profile of their own. Whatever a page does that it must not fails the test."""
    with ExitStack() as leaving:
        wrong: list[str] = []

        def enter(**options: Any) -> BrowserContext:
            context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
            leaving.callback(context.close)
            context.set_default_timeout(PATIENCE_MS)
            context.on("request", lambda asked: wrong.append(asked.url) if not ours(asked.url) else None)
            context.on("weberror", lambda error: wrong.append(str(error.error)))
            context.on(
                "console",
                lambda said: wrong.append(said.text) if "Content Security Policy" in said.text else None,
            )
            return context

        yield enter
        assert wrong == []

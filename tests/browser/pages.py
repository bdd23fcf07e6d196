"""The pages, as a person handles them, and the eyes of the tests: axe and screenshots."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

    from tests.crowd.clients import Started

SCREENSHOTS = Path(__file__).parents[2] / "out" / "screenshots"
STUDY = "cathedrals-in-venice"
ARMED = "#question:not([hidden]) #left .choose[aria-disabled=false]"


@dataclass(frozen=True)
class WorkersPage:
    """A tab with the worker's page."""

    page: Page

    @classmethod
    def at(cls, server: Started, context: BrowserContext, study: str = STUDY) -> WorkersPage:
        page = context.new_page()
        page.goto(f"{server.url}/s/{study}")
        return cls(page)

    @classmethod
    def joined(cls, server: Started, context: BrowserContext, study: str = STUDY) -> WorkersPage:
        """The page of somebody who has agreed and practised before."""
        reply = context.request.post(f"{server.url}/api/s/{study}/join", data={"consent": True})
        assert reply.ok
        return cls.at(server, context, study)

    def join(self) -> WorkersPage:
        """Agree and practise."""
        self.page.click("#begin")
        for key in ("ArrowLeft", "ArrowRight"):
            self.ready()
            self.page.keyboard.press(key)
            self.page.click("#onward")
        return self

    def ready(self) -> WorkersPage:
        """Wait until the pair may be answered."""
        self.page.wait_for_selector(ARMED)
        return self

    @property
    def pair(self) -> tuple[str, str]:
        """The addresses of the two pictures."""
        left, right = (self.page.get_attribute(f"#{side} .shown img", "src") or "" for side in ("left", "right"))
        return left, right

    def press(self, key: str) -> WorkersPage:
        """Answer with a key, and wait for the next question."""
        before = self.pair
        self.page.keyboard.press(key)
        return self.changed(before)

    def changed(self, before: tuple[str, str]) -> WorkersPage:
        """Wait until another pair may be answered."""
        self.page.wait_for_function(
            "before => before !== ['left', 'right']"
            ".map(side => document.querySelector(`#${side} img`)?.getAttribute('src')).join()",
            arg=",".join(before),
        )
        return self.ready()

    def says(self, words: str) -> None:
        expect(self.page.locator("body")).to_contain_text(words)


def organizers_page(server: Started, context: BrowserContext) -> Page:
    """A tab with the organizer's page, by the link that was printed at start."""
    page = context.new_page()
    page.goto(f"{server.url}/organize/login#{server.hall.secret.organizer_key}")
    page.wait_for_url("**/organize/*")
    page.wait_for_selector("#race li, .studies")
    return page


def answers(server: Started, study: str = STUDY) -> list[dict[str, Any]]:
    """What the journal holds: one line per answer, as it stands."""
    text = server.organizer().get(f"/api/organize/{study}/export.csv").text
    return list(csv.DictReader(text.splitlines()))


def look(page: Page, name: str, *, whole: bool = False) -> None:
    """Take a picture of the page, and let axe look at it."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=whole, animations="disabled")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"

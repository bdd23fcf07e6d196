"""The pages, as a person handles them, and the eyes of the tests: axe and screenshots."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, Route

    from tests.crowd.clients import Started

SCREENSHOTS = Path(__file__).parents[2] / "out" / "screenshots"
STUDY = "cathedrals-in-venice"
AT = {"left": "#option-1", "right": "#option-2"}
ARMED = "#question:not([hidden]) #option-1 .choose[aria-disabled=false]"


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
    def question(self) -> str:
        """The token of the question that is shown."""
        return self.page.get_attribute("#cards", "data-question") or ""

    @property
    def pictures(self) -> list[str]:
        """The addresses of the two pictures."""
        return [self.page.get_attribute(f"{AT[side]} img", "src") or "" for side in ("left", "right")]

    def press(self, key: str) -> WorkersPage:
        """Answer with a key, and wait for the next question."""
        before = self.question
        self.page.keyboard.press(key)
        return self.after(before)

    def after(self, question: str) -> WorkersPage:
        """Wait until another question may be answered."""
        self.page.wait_for_selector(f"#cards:not([data-question='{question}'])")
        return self.ready()

    def says(self, words: str) -> None:
        expect(self.page.locator("body")).to_contain_text(words)


def becomes(page: Page, expression: str, expected: object) -> None:
    """Wait until something on the page is so. (The page's own rules forbid `wait_for_function`.)"""
    for _ in range(3000):
        found = page.evaluate(expression)
        if found == expected:
            return
        page.wait_for_timeout(20)
    raise AssertionError(found)


def changed_script(context: BrowserContext, name: str, before: str, after: str) -> None:
    """Let a script of the pages be another in one place, where a person would be faster than a busy machine."""

    def change(route: Route) -> None:
        reply = route.fetch()
        assert before in reply.text()
        route.fulfill(response=reply, body=reply.text().replace(before, after))

    context.route(f"**/{name}", change)


def organizers_page(server: Started, context: BrowserContext) -> Page:
    """A tab with the organizer's page, by the link that was printed at start."""
    page = context.new_page()
    page.goto(f"{server.url}/organize/login#{server.registry.keys.organizer}")
    page.wait_for_url("**/organize/*")
    page.wait_for_selector("#race li, .studies")
    return page


def answers(server: Started, study: str = STUDY) -> list[dict[str, Any]]:
    """What the journal holds: one line per answer, as it stands."""
    text = server.organizer().get(f"/api/organize/{study}/export.csv").text
    return list(csv.DictReader(text.splitlines()))


def crowd(server: Started, people: int, turns: int, study: str = STUDY) -> None:
    """People without browsers who take turns, as long as there is something to answer."""
    persons = [server.person(study) for _ in range(people)]
    for turn in range(turns):
        for number, person in enumerate(persons):
            if person.work["questions"] or person.next()["questions"]:
                person.answer("left" if turn % (number + 2) else "right", ms=900 + 300 * number)


SIZES = {1280: 800, 1200: 800, 1024: 768, 768: 1024, 360: 640, 320: 568, 740: 360}
LOOKED_AT_BY_AXE: dict[int, tuple[Literal["dark", "light"], ...]] = {1280: ("dark", "light"), 360: ("light",)}
AXE = Axe()
WHOLE = "[...document.querySelectorAll('.scroll')].every((part) => part.scrollWidth <= part.clientWidth)"
ONLY_VIOLATIONS = {"resultTypes": ["violations"]}  # of what is well, not each element
ONLY_COLOURS = {**ONLY_VIOLATIONS, "runOnly": ["color-contrast"]}


def look(page: Page, name: str, *, whole: bool = False, widths: Sequence[int] = tuple(SIZES)) -> None:
    """Let nothing scroll at any width; take pictures on desk and phone and in the dark, and let axe look at each."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for width in widths:
        height = SIZES[width]
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} scrolls at {width} px"
        assert page.evaluate(WHOLE), f"something is cut off in {name} at {width} px"
        for light in LOOKED_AT_BY_AXE.get(width, ()):
            page.emulate_media(color_scheme=light, reduced_motion="reduce")
            page.screenshot(path=SCREENSHOTS / f"{name}-{width}-{light}.png", full_page=whole, animations="disabled")
            found = AXE.run(page, options=ONLY_COLOURS if light == "dark" else ONLY_VIOLATIONS)
            assert found.violations_count == 0, f"{name}, {width} px, {light}: {found.generate_report()}"
    page.set_viewport_size({"width": 1280, "height": 800})


def drop(page: Page, selector: str, paths: list[str]) -> None:
    """Drag files or folders of this machine onto an element, and let them go there."""
    page.locator(selector).scroll_into_view_if_needed()
    box = page.locator(selector).bounding_box()
    assert box is not None
    over = {
        "x": box["x"] + box["width"] / 2,
        "y": box["y"] + box["height"] / 2,
        "data": {"items": [], "files": paths, "dragOperationsMask": 1},
    }
    browser = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        browser.send("Input.dispatchDragEvent", {"type": kind, **over})
    browser.detach()

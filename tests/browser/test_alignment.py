"""What belongs together stands in one line, and nothing that is short is cut: measured where it is shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from handful.crowd.settings import Settings
from tests.browser.pages import STUDY, WorkersPage, organizers_page
from tests.crowd.clients import Started
from tests.crowd.test_setup_routes import empty_server

Serve = Callable[..., Started]
Somebody = Callable[..., BrowserContext]
PHONE = {"width": 360, "height": 640}
STARTS = """(parts) => parts.filter((part) => part.offsetParent).map((part) => {
  const range = document.createRange();
  range.selectNodeContents(part);
  const box = range.getBoundingClientRect();
  return Math.round(getComputedStyle(part).direction === "rtl" ? innerWidth - box.right : box.left);
})"""
CUT = """() => {
  const pen = document.createElement("canvas").getContext("2d");
  return [...document.querySelectorAll("select")].filter((field) => field.offsetParent).flatMap((field) => {
    const look = getComputedStyle(field);
    pen.font = look.font;
    const room = field.clientWidth - parseFloat(look.paddingLeft) - parseFloat(look.paddingRight) - 16; // the arrow
    return [...field.options].map(({ text }) => text).filter((text) => pen.measureText(text).width > room);
  });
}"""

END = """(part) => {
  const range = document.createRange();
  range.selectNodeContents(part);
  return range.getBoundingClientRect().right;
}"""
LOOKS = """(parts) => parts.filter((part) => part.offsetParent).map((part) => {
  const { color, fontWeight, display } = getComputedStyle(part);
  return `${color} ${fontWeight} ${display}`;
})"""


def starts(page: Page, selector: str) -> set[int]:
    """Where the words of these begin, in pixels from the side that reading begins at."""
    found: list[int] = page.locator(selector).evaluate_all(STARTS)
    assert found
    return set(found)


@pytest.mark.parametrize("language", ["en", "ar"])
def test_on_a_phone_the_words_of_a_message_begin_where_the_theme_does(
    serve: Serve, somebody: Somebody, language: str
) -> None:
    page = WorkersPage.at(serve(settings=Settings(language=language)), somebody(viewport=PHONE)).page
    page.wait_for_selector("#begin:visible")
    where = starts(page, "#theme, #welcome-title, #welcome-lead, #decline")
    assert max(where) - min(where) <= 1
    page.click("#help")
    assert len(starts(page, ".keys dd")) == 1
    assert len(starts(page, "#instructions summary")) == 1


def test_on_a_phone_no_choice_of_a_new_study_is_cut_and_short_numbers_stand_in_pairs(
    somebody: Somebody, tmp_path: Path
) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = somebody(viewport=PHONE).new_page()
        page.goto(f"{server.url}/organize/login#{server.registry.keys.organizer}")
        page.wait_for_url("**/setup")
        expect(page.locator("#consent")).not_to_have_value("")
        page.click("text=For experts")
        assert page.evaluate(CUT) == []
        question = page.locator("#question")
        question.fill(question.get_attribute("placeholder") or "")
        assert question.evaluate("(field) => field.scrollWidth <= field.clientWidth")
        assert question.evaluate("(field) => field.scrollHeight <= field.clientHeight")
        k, options, people = (page.locator(f"#{name}").bounding_box() for name in ("k", "options", "people"))
        assert k is not None
        assert options is not None
        assert people is not None
        assert k["y"] == options["y"] < people["y"]
        page.set_viewport_size({"width": 1280, "height": 800})
        for title, last in (("size", "#plan"), ("who", "#checks ~ .hint, .tick + .hint")):
            section = page.locator(f"section[aria-labelledby={title}-title]").bounding_box()
            words = page.locator(f"section[aria-labelledby={title}-title]").locator(last).last.bounding_box()
            assert section is not None
            assert words is not None
            assert section["y"] + section["height"] - words["y"] - words["height"] <= 22  # the padding: nothing empty
        leave = page.locator("#leave").evaluate(END)
        card = page.locator(".step").first.bounding_box()
        assert card is not None
        assert abs(leave - card["x"] - card["width"]) <= 2


def test_what_unfolds_looks_the_same_everywhere_and_buttons_keep_to_one_line(serve: Serve, somebody: Somebody) -> None:
    server = serve()
    page = organizers_page(server, somebody())
    expect(page.locator("#people-title")).to_be_visible()
    looks = page.locator("summary").evaluate_all(LOOKS)
    assert len(looks) >= 4
    assert len(set(looks)) == 1
    for button in ("Allow them", "Keep"):
        box = page.get_by_role("button", name=button, exact=True).bounding_box()
        assert box is not None
        assert box["height"] <= 46
    label, field = (page.locator(one).bounding_box() for one in ("label[for=retention]", "#retention"))
    assert label is not None
    assert field is not None
    assert label["height"] <= 50
    assert label["y"] < field["y"]
    for person in range(2):
        (question,) = server.registry.studies[STUDY].study.ask(1, worker=f"w{person}")
        server.registry.studies[STUDY].study.tell(question.id, True, f"w{person}")
    page.wait_for_selector("#people tr")
    table, exclude = (page.locator(one).first.bounding_box() for one in (".scroll", "#people button"))
    assert table is not None
    assert exclude is not None
    assert table["x"] + table["width"] - exclude["x"] - exclude["width"] >= 6  # room for the ring of the focus
    page.wait_for_selector("#course-from:not(:empty)")
    assert page.inner_text("#course-from") != page.inner_text("#course-to")

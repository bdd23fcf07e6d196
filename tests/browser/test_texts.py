"""Texts that do not fit the window: what lies below is said, and nothing is answered that was not seen."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import BrowserContext, expect

from handful.crowd.collection import Collection
from handful.crowd.registry import StudyPlan
from tests.browser.conftest import PATIENCE_MS
from tests.browser.pages import WorkersPage, answers, becomes, look
from tests.crowd.clients import Started

Serve = Callable[..., Started]
Somebody = Callable[..., BrowserContext]

NARROW = {"width": 420, "height": 600}

# Buttons that can be seen although less than two lines of their text can.
BUTTONS_BEFORE_TEXTS = """() => {
  const bar = document.querySelector('#question .bottom').getBoundingClientRect().top;
  const cards = [...document.querySelectorAll('#cards .card')];
  const found = [];
  for (let y = 0; y < document.documentElement.scrollHeight - innerHeight; y += 7) {
    scrollTo(0, y);
    for (const card of cards) {
      const [box, foot] = [card, card.querySelector('.foot')].map((part) => part.getBoundingClientRect());
      if (foot.top < bar && foot.bottom > 0 && foot.top - box.top < 60) found.push([y, card.id]);
    }
  }
  scrollTo(0, 0);
  return found;
}"""


def reading(serve: Serve, somebody: Somebody, sayings: Collection, **options: Any) -> tuple[Started, WorkersPage]:
    """A server, and somebody who sees four texts in one column, by keyboard."""
    server = serve(StudyPlan(k=2, options=4, budget=20), themes=("Sayings",), items=sayings)
    return server, WorkersPage.joined(server, somebody(viewport=NARROW, **options), "sayings").ready()


def test_a_digit_for_a_text_that_was_not_seen_leads_there_and_the_next_one_answers(
    serve: Serve, somebody: Somebody, sayings: Collection
) -> None:
    server, desk = reading(serve, somebody, sayings)
    before = desk.question
    expect(desk.page.locator("#option-4")).not_to_be_in_viewport()
    desk.page.keyboard.press("4")
    expect(desk.page.locator("#option-4 .choose")).to_be_focused()
    expect(desk.page.locator("#option-4 .choose")).to_be_in_viewport(ratio=1)
    desk.page.wait_for_selector("#below", state="hidden")
    assert desk.question == before
    assert answers(server, "sayings") == []
    desk.press("4")
    (answer,) = answers(server, "sayings")
    assert answer["place"] == "4"
    assert desk.page.evaluate("scrollY") == 0  # the next question is read from its top
    expect(desk.page.locator("#option-4 .choose")).not_to_be_focused()
    desk.press("1")
    assert len(answers(server, "sayings")) == 2


def test_how_many_texts_lie_below_is_said_until_they_were_seen(
    serve: Serve, somebody: Somebody, sayings: Collection
) -> None:
    _, desk = reading(serve, somebody, sayings, reduced_motion="reduce")
    below = desk.page.locator("#below")
    expect(below).to_have_text(re.compile(r"^[123] more below$"))
    look(desk.page, "texts-more-below", widths=(360, 320))
    desk.page.set_viewport_size(NARROW)  # where all were seen meanwhile, in a wider window
    desk.page.reload()
    desk.ready()
    for _ in range(PATIENCE_MS // 100):
        if below.evaluate("(button) => button.hidden || button.click()"):
            break
        desk.page.wait_for_timeout(100)
    expect(desk.page.locator("#option-4 .choose")).to_be_in_viewport(ratio=1)
    desk.page.evaluate("scrollTo(0, 0)")
    desk.page.wait_for_timeout(100)
    expect(below).to_be_hidden()


def test_up_and_down_scroll_texts_and_the_other_arrows_go_from_one_to_the_next(
    serve: Serve, somebody: Somebody, sayings: Collection
) -> None:
    _, desk = reading(serve, somebody, sayings)
    desk.page.keyboard.press("ArrowDown")
    for _ in range(100):
        if desk.page.evaluate("scrollY") == 0:
            desk.page.wait_for_timeout(50)
    assert desk.page.evaluate("scrollY") > 0
    expect(desk.page.locator("#cards .choose:focus")).to_have_count(0)
    desk.page.keyboard.press("ArrowRight")
    expect(desk.page.locator("#option-1 .choose")).to_be_focused()
    desk.page.keyboard.press("ArrowRight")
    expect(desk.page.locator("#option-2 .choose")).to_be_focused()


def test_no_button_comes_into_view_before_its_text(serve: Serve, somebody: Somebody, sayings: Collection) -> None:
    _, desk = reading(serve, somebody, sayings)
    for width, height in ((320, 568), (360, 640), (900, 520)):
        desk.page.set_viewport_size({"width": width, "height": height})
        becomes(desk.page, BUTTONS_BEFORE_TEXTS, [])


def test_up_and_down_scroll_a_text_that_is_enlarged(serve: Serve, somebody: Somebody, sayings: Collection) -> None:
    _, desk = reading(serve, somebody, sayings)
    desk.page.set_viewport_size({"width": 320, "height": 200})  # in which even the shortest does not fit
    desk.page.keyboard.press("Space")
    expect(desk.page.locator("#enlarged")).to_be_visible()
    desk.page.keyboard.press("4")
    expect(desk.page.locator("#enlarged")).to_contain_text("Option 4")
    scrolled = "document.querySelector('#enlarged .shown').scrollTop"
    desk.page.keyboard.press("ArrowDown")
    assert desk.page.evaluate(scrolled) > 0
    desk.page.keyboard.press("ArrowUp")
    assert desk.page.evaluate(scrolled) == 0

"""The worker's page in other languages: nothing is left in English, and it can be read from right to left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import BrowserContext, Page

from handful.crowd import languages as catalogues
from handful.crowd.collection import Collection
from handful.crowd.languages import Language, language
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import Settings
from tests.browser.pages import STUDY, WorkersPage, answers, look
from tests.crowd.clients import Started

Serve = Callable[..., Started]
Somebody = Callable[..., BrowserContext]

LEFT_IN_ENGLISH = """() => {
  const kept = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, text = node.textContent.trim();
    if (/[A-Za-z]{2}/.test(text) && !text.includes("⟦") && !node.parentElement.closest("script, #theme, .caption")) {
      kept.push(text);
    }
  }
  for (const element of document.querySelectorAll("[aria-label], [title]")) {
    for (const name of ["aria-label", "title"]) {
      const text = element.getAttribute(name) ?? "";
      if (/[A-Za-z]{2}/.test(text) && !text.includes("⟦")) kept.push(`${name}: ${text}`);
    }
  }
  return kept;
}"""

LINES_START = """(selector) => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector(selector));
  return [...range.getClientRects()].map((line) => line.left);
}"""


def pseudo() -> Language:
    """English in brackets: what has none was forgotten."""
    english = language("en")

    def marked(word: catalogues.Word) -> catalogues.Word:
        return f"⟦{word}⟧" if isinstance(word, str) else {form: f"⟦{said}⟧" for form, said in word.items()}

    return replace(english, words={key: marked(word) for key, word in english.words.items()})


def left(page: Page) -> list[str]:
    found: list[str] = page.evaluate(LEFT_IN_ENGLISH)
    return found


def test_no_word_of_the_page_is_forgotten(serve: Serve, somebody: Somebody, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "catalogue", property(lambda self: pseudo()))
    server = serve(
        StudyPlan(k=2, options=4, budget=200, in_flight=20),
        Settings(consent="⟦consent⟧", instructions="⟦⟧", undo_s=60.0, redo_s=60.0),
    )
    worker = WorkersPage.at(server, somebody())
    worker.page.wait_for_selector("#begin")
    assert left(worker.page) == []
    worker.page.click("#begin")
    for key in ("1", "2"):
        worker.ready()
        assert left(worker.page) == []
        worker.page.keyboard.press(key)
        worker.page.wait_for_selector("#onward")
        assert left(worker.page) == []
        worker.page.click("#onward")
    worker.ready().press("2")
    assert left(worker.page) == []
    worker.page.keyboard.press("u")
    worker.page.wait_for_selector("text=⟦Keep it⟧")
    assert left(worker.page) == []
    server.registry.studies["cathedrals-in-venice"].study.finish("enough")
    worker.ready().page.keyboard.press("1")
    worker.page.wait_for_selector("#quiet:not([hidden])")
    assert left(worker.page) == []


@pytest.mark.parametrize("code", ["ar", "ja"])
def test_the_page_can_be_read_in_its_language(serve: Serve, somebody: Somebody, code: str) -> None:
    settings = Settings(language=code).in_its_language()
    server = serve(StudyPlan(k=2, options=4, budget=200, in_flight=20), settings)
    worker = WorkersPage.at(server, somebody())
    worker.page.wait_for_selector(f"text={language(code).said('agree')}")
    assert worker.page.evaluate("document.documentElement.dir") == ("rtl" if code == "ar" else "ltr")
    assert language(code).said("consent")[:40] in worker.page.inner_text("#consent-text")
    assert "。 " not in worker.page.inner_text("#welcome-lead")
    look(worker.page, f"language-{code}-1-welcome", widths=(1280, 360))
    worker.page.click("#begin")
    for key in ("1", "2"):
        worker.ready().page.keyboard.press(key)
        worker.page.click("#onward")
    worker.ready()
    look(worker.page, f"language-{code}-2-question", widths=(1280, 360, 320))
    worker.press("3")
    person = server.person()
    for _ in range(12):
        question = person.next()["questions"][0]
        person.post("answer", {"token": question["token"], "option": question["options"][0]["id"]})
    server.registry.studies[STUDY].study.finish("enough")
    shared = somebody().new_page()
    shared.goto(server.url + server.organizer().post(f"/api/organize/{STUDY}/share").json()["link"])
    shared.wait_for_selector("ol.picks li")
    look(shared, f"language-{code}-3-shared", whole=True, widths=(1280, 360))


def test_from_right_to_left_the_right_arrow_chooses_the_card_on_the_right(serve: Serve, somebody: Somebody) -> None:
    server = serve(StudyPlan(k=2, options=2, budget=200, in_flight=20), Settings(language="ar").in_its_language())
    worker = WorkersPage.joined(server, somebody()).ready()
    first, second = (worker.page.locator(f"#option-{n}").bounding_box() for n in (1, 2))
    assert first is not None
    assert second is not None
    assert first["x"] > second["x"]
    worker.press("ArrowRight")
    (answer,) = answers(server)
    assert answer["side"] == "left"  # the first of the two, which is read from the right


def test_a_text_in_another_direction_than_the_page_is_read_in_its_own(
    serve: Serve, somebody: Somebody, sayings: Collection
) -> None:
    settings = Settings(language="ar").in_its_language()
    server = serve(StudyPlan(k=2, options=2, budget=20), settings, themes=("Sayings",), items=sayings)
    worker = WorkersPage.joined(server, somebody(viewport={"width": 360, "height": 640}), "sayings").ready()
    starts = worker.page.evaluate(LINES_START, "#option-1 .text")
    assert len(starts) > 1
    assert max(starts) - min(starts) < 1  # lines of English begin below each other, at the left

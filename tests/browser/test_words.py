"""What people read, in real browsers: looked at before, practised by, and changed while the study runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from handful.crowd.languages import language
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import Settings
from tests.browser.pages import ARMED, STUDY, WorkersPage, look, organizers_page
from tests.browser.test_setup import MINUTES_MS, _set_up_page
from tests.crowd.clients import Started
from tests.crowd.pictures import drawn, encoded
from tests.crowd.test_setup_routes import empty_server

Serve = Callable[..., Started]
Somebody = Callable[..., BrowserContext]


def _walk_through(page: Page, *, question: str, thanks: str, pictures: int = 0) -> None:
    """From the welcome over one lesson of practice and one question to the thanks."""
    page.click("#begin")
    page.wait_for_selector(ARMED)
    expect(page.locator("#cards .card img")).to_have_count(pictures)
    expect(page.locator("#prompt")).to_have_text(question)
    expect(page.locator("#strip li")).to_have_count(2)
    page.locator(".card", has_text="a church").locator(".choose").click()
    expect(page.locator("#lesson-title")).to_have_text("Yes")
    expect(page.locator("#lesson-text")).to_have_text("It is about churches.")
    page.click("#onward")
    page.wait_for_selector(ARMED)
    expect(page.locator("#prompt")).to_have_text(question)
    page.click("#option-1 .choose")
    expect(page.locator("#enough-text")).to_contain_text(thanks)


def test_words_and_a_practice_of_ones_own_are_previewed_before_the_study_is_opened(
    somebody: Somebody, tmp_path: Path
) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = _set_up_page(server, somebody)
        page.click("#paste")
        page.fill("#texts", "one\ntwo\nthree\nfour")
        page.click("text=Use these")
        page.wait_for_selector("#prepared:visible", timeout=MINUTES_MS)
        for field, value in (("theme", "Numbers"), ("k", "2"), ("welcome", "Hello there"), ("thanks", "Goodbye")):
            page.fill(f"#{field}", value)
        page.fill("#question", "Which is finer?")
        page.select_option("#practising", "own")
        for name, value in (("right", "a church"), ("why", "It is about churches.")):
            page.fill(f"#lessons [name={name}]", value)
        (tmp_path / "spoon.jpg").write_bytes(encoded(drawn(7)))
        page.set_input_files("#lessons .side:nth-of-type(2) input[type=file]", tmp_path / "spoon.jpg")
        expect(page.locator("#lessons [name=wrong]")).to_have_value("spoon.jpg", timeout=MINUTES_MS)
        expect(page.locator("#lessons img:visible")).to_have_count(1)
        page.select_option("#door", "panel")
        page.fill("#per_hour", "9.50", timeout=MINUTES_MS)
        expect(page.locator("#cost")).to_contain_text("£9.50 per hour")
        page.check("#checks")
        page.click("#own-rule summary")
        page.fill("#rule", '{"version": 1, "admission": {"practice": 1, "checks": 0, "right_at_least": 1}}')
        page.press("#rule", "Tab")
        expect(page.locator("#kept")).to_have_text("All changes are kept.")
        look(page, "setup-6-words", whole=True, widths=(360, 1280))
        with page.expect_popup() as opened:
            page.click("#preview")
        preview = opened.value
        expect(preview.locator("#welcome-lead")).to_have_text("Hello there")
        _walk_through(preview, question="Which is finer?", thanks="Goodbye", pictures=1)
        expect(preview.locator(".preview-mark")).to_have_text("Preview: nothing is sent or kept")
        look(preview, "preview", widths=(360, 1280))
        preview.click("#go-on")
        preview.wait_for_selector(ARMED)
        preview.click("#option-1 .choose")
        preview.click("#enough-for-me")
        expect(preview.locator("#quiet-text")).to_contain_text("Goodbye")
        page.click("#open")
        page.wait_for_url("**/organize/numbers", timeout=MINUTES_MS)
        hosted = server.registry.studies["numbers"]
        assert hosted.study.state.workers.names == [], "nobody has taken part by looking"
        assert hosted.study.setup.rule is not None
        assert hosted.study.setup.rule.checks is None
        page.click("text=Recruit people on Prolific")
        page.fill("#recruit-address", "https://photos.example.org/s/numbers")
        page.click("text=Show me the steps")
        expect(page.locator("#recruiting-plan")).to_contain_text("£9.50 per hour")


def test_in_another_language_the_consent_is_read_before_people_agree_to_it(serve: Serve, somebody: Somebody) -> None:
    server = serve(StudyPlan(k=2, options=2, budget=60), Settings(undo_s=0, redo_s=0))
    page = organizers_page(server, somebody())
    page.click("text=Change what people read")
    expect(page.locator("#consent")).to_have_value(language("en").consent(marked=False))
    page.fill("#instructions", "Look closely.")
    page.select_option("#language", "ja")
    japanese = language("ja").consent(marked=False)
    expect(page.locator("#consent")).to_have_value(japanese)
    expect(page.locator("#instructions")).to_have_value("Look closely.")
    expect(page.locator("#words-said")).to_contain_text("The built-in consent now stands here in that language")
    look(page, "organizer-words-language", whole=True, widths=(360, 1280))
    assert server.browser().get(f"/api/s/{STUDY}").json()["consent"] == language("en").consent(marked=False)
    page.click("text=Use these words")
    expect(page.locator("#words-said")).to_have_text("People read these words from now on.")
    expect(page.locator("#consent")).to_have_value(japanese)
    assert server.browser().get(f"/api/s/{STUDY}").json()["consent"] == japanese


def test_words_change_while_it_runs_where_that_is_harmless_and_it_is_said_where_not(
    serve: Serve, somebody: Somebody
) -> None:
    server = serve(StudyPlan(k=2, options=2, budget=60), Settings(undo_s=0, redo_s=0))
    page = organizers_page(server, somebody())
    page.click("text=Change what people read")
    expect(page.locator("#consent")).not_to_have_value("")
    page.fill("#question", "Which is finer?")
    page.select_option("#practising", "own")
    for name, value in (("right", "a church"), ("wrong", "a spoon"), ("why", "It is about churches.")):
        page.fill(f"#lessons [name={name}]", value)
    with page.expect_popup() as opened:
        page.click("#preview")
    _walk_through(opened.value, question="Which is finer?", thanks="")
    assert server.browser().get(f"/api/s/{STUDY}").json()["question"] is None, "a preview changes nothing"
    page.click("text=Use these words")
    expect(page.locator("#words-said")).to_have_text("People read these words from now on.")
    worker = WorkersPage.joined(server, somebody()).ready()
    expect(worker.page.locator("#prompt")).to_have_text("Which is finer?")
    worker.press("ArrowLeft")
    page.reload()
    page.click("text=Change what people read")
    expect(page.locator("#question")).to_be_disabled()
    expect(page.locator("#question-means")).to_contain_text("eople have been asked it (1 answer so far)")
    expect(page.locator("#consent-means")).to_contain_text("1 person has agreed to the text as it was")
    look(page, "organizer-words", whole=True, widths=(360, 1280))
    page.fill("#thanks", "Goodbye")
    page.click("text=Use these words")
    expect(page.locator("#words-said")).to_have_text("People read these words from now on.")
    assert server.browser().get(f"/api/s/{STUDY}").json()["thanks"] == "Goodbye"

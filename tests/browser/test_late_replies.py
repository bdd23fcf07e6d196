"""Replies that come late: they overwrite nothing that is newer, and nothing is sent before they are there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from handful.crowd.settings import Settings
from tests.browser.conftest import PATIENCE_MS
from tests.browser.pages import STUDY, organizers_page
from tests.browser.test_setup import MINUTES_MS
from tests.crowd.clients import Started
from tests.crowd.test_setup_routes import empty_server

Serve = Callable[..., Started]
Somebody = Callable[..., BrowserContext]

HOLD = """
window.held = [];
const quick = window.fetch;
window.fetch = async (path, how = {}) => {
  const reply = quick(path, how);
  if (/%s/.test(`${how.method} ${path}`)) await new Promise((done) => window.held.push(done));
  return reply;
};
window.release = () => window.held.splice(0).forEach((done) => done());
"""


def hold(page: Page, which: str) -> None:
    """From its next loading on, the page gets the replies to these requests when `release` lets them through."""
    page.add_init_script(HOLD % which)


def release(page: Page) -> None:
    """Let the reply that is held through, once it is there."""
    await_held(page)
    page.evaluate("release()")


def await_held(page: Page) -> None:
    await_so(page, lambda: bool(page.evaluate("held.length")))


def await_so(page: Page, true: Callable[[], bool]) -> None:
    for _ in range(PATIENCE_MS // 20):
        if true():
            return
        page.wait_for_timeout(20)
    raise AssertionError("it has not become so")


def page_of_a_new_study(server: Started, somebody: Somebody, which: str) -> Page:
    """The page where a study is set up, some replies being held."""
    page = somebody().new_page()
    hold(page, which)
    page.goto(f"{server.url}/organize/login#{server.registry.keys.organizer}")
    page.wait_for_url("**/setup")
    return page


def test_words_are_not_changed_before_they_are_on_the_page(serve: Serve, somebody: Somebody) -> None:
    server = serve(settings=Settings(consent="You agree to this.", welcome="Hello there"))
    page = organizers_page(server, somebody())
    hold(page, "GET .*[/]words$")
    page.reload()
    page.click("#words-part summary")
    expect(page.locator("#words-form")).to_have_js_property("inert", True)
    page.evaluate("document.querySelector('#words-form').requestSubmit()")  # all fields are empty now
    release(page)
    expect(page.locator("#consent")).to_have_value("You agree to this.")
    page.fill("#thanks", "Goodbye")
    page.click("#words-form button.main, #words-form button[type=submit]")
    release(page)
    expect(page.locator("#words-said")).to_have_text("People read these words from now on.")
    settings = server.registry.studies[STUDY].settings
    assert (settings.consent, settings.welcome, settings.thanks) == ("You agree to this.", "Hello there", "Goodbye")


def test_nothing_can_be_typed_where_a_study_is_set_up_before_the_page_is_filled(
    somebody: Somebody, tmp_path: Path
) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = page_of_a_new_study(server, somebody, "GET .*[/]api[/]setup$")
        expect(page.locator("#steps")).to_have_js_property("inert", True)
        release(page)
        expect(page.locator("#steps")).to_have_js_property("inert", False)
        page.fill("#theme", "Cathedrals")
        expect(page.locator("#kept")).to_have_text("All changes are kept.")
        (draft,) = server.registry.drafts
        assert draft.settings.theme == "Cathedrals"


def test_what_is_typed_while_a_draft_is_begun_is_kept(somebody: Somebody, tmp_path: Path) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = page_of_a_new_study(server, somebody, "POST .*[/]api[/]setup$")
        expect(page.locator("#consent")).not_to_have_value("")
        page.click("#paste")
        page.fill("#texts", "one\ntwo\nthree")
        page.click("text=Use these")
        await_held(page)
        page.fill("#theme", "Words")
        page.fill("#k", "2")
        page.wait_for_timeout(1500)  # it would be kept by now
        release(page)
        expect(page.locator("#prepared")).to_be_visible(timeout=MINUTES_MS)
        expect(page.locator("#kept")).to_have_text("All changes are kept.")
        (draft,) = server.registry.drafts
        assert (draft.settings.theme, draft.settings.k) == ("Words", 2)


def test_an_older_status_is_not_shown_after_a_newer_one(serve: Serve, somebody: Somebody) -> None:
    server = serve()
    page = organizers_page(server, somebody())
    hold(page, "POST .*[/]pause$")
    page.reload()
    expect(page.locator("#state")).to_have_text("open")
    page.click("#pause")
    expect(page.locator("#state")).to_have_text("paused")  # by the stream of events
    assert server.organizer().post(f"/api/organize/{STUDY}/open").status_code == 200
    expect(page.locator("#state")).to_have_text("open")
    release(page)
    page.wait_for_timeout(500)
    assert page.inner_text("#state") == "open"


def test_a_number_that_is_being_typed_is_not_written_over_by_the_next_status(serve: Serve, somebody: Somebody) -> None:
    server = serve()
    page = organizers_page(server, somebody())
    before = page.input_value("#retention")
    page.locator("#retention").evaluate("(field) => { field.closest('details')?.setAttribute('open', ''); }")
    page.fill("#retention", "33")
    page.locator("#retention").evaluate("(field) => field.blur()")
    server.person().answer("left")
    expect(page.locator("#answers")).to_have_text(re.compile("[1-9]"))
    assert (before, page.input_value("#retention")) == ("90", "33")
    page.locator("#retaining").evaluate("(form) => form.requestSubmit()")
    expect(page.locator("#retention")).to_have_value("33")
    await_so(page, lambda: server.registry.studies[STUDY].retention_days == 33)


def test_nothing_is_registered_before_it_is_known_whether_that_is_late(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(), somebody()
    server.person().answer("left")
    page = organizers_page(server, context)
    context.route("**/events", lambda route: route.abort())
    page.reload()
    expect(page.locator("#preregister")).to_be_disabled()
    context.unroute("**/events")
    page.click("#preregister")
    expect(page.locator("#registering")).to_contain_text("It has 1 answer already")

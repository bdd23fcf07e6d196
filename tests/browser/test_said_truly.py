"""The pages say what is so: that something cannot be stored, that the study is paused, and what they need."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import BrowserContext, expect

from tests.browser.pages import STUDY, WorkersPage, organizers_page
from tests.crowd.clients import Started

Serve = Callable[..., Started]
Somebody = Callable[..., BrowserContext]
UNSTORED = {"error": "storage", "message": "Answers cannot be stored right now."}


def test_what_cannot_be_stored_is_not_called_a_lost_connection(serve: Serve, somebody: Somebody) -> None:
    server = serve()
    page = organizers_page(server, somebody())
    page.route("**/pause", lambda route: route.fulfill(status=503, json=UNSTORED))
    page.click("#pause")
    expect(page.locator("#connection")).to_have_text("This cannot be stored right now. Trying again.")
    page.unroute("**/pause")
    expect(page.locator("#state")).to_have_text("paused")
    worker = WorkersPage.at(server, somebody()).page
    expect(worker.locator("#paused")).to_be_visible()  # before the welcome is answered
    worker.route("**/join", lambda route: route.fulfill(status=503, json=UNSTORED))
    WorkersPage(worker).join()
    expect(worker.locator("#connection")).to_contain_text("cannot be stored right now")


def test_without_javascript_the_page_says_what_it_needs_and_does_not_seem_to_load(
    serve: Serve, somebody: Somebody
) -> None:
    page = somebody(java_script_enabled=False).new_page()
    page.goto(f"{serve().url}/s/{STUDY}")
    assert "needs JavaScript" in page.inner_text("main")
    expect(page.locator(".dots").first).to_be_hidden()

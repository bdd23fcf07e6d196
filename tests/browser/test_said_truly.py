"""The pages say what is so: that something cannot be stored, that the study is paused, and what they need."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from handful.crowd.hosting.startup import StudyPlan
from handful.crowd.languages import language
from handful.crowd.settings import Settings
from handful.study.rules import Admission, Rule
from tests.browser.pages import STUDY, WorkersPage, organizers_page
from tests.crowd.clients import Started
from tests.crowd.test_drawn_checks import Visitor

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
    assert worker.evaluate("document.querySelector('#welcome').firstElementChild.id") == "paused"
    expect(worker.locator("#welcome-title")).to_have_accessible_description(re.compile("paused"))
    worker.route("**/join", lambda route: route.fulfill(status=503, json=UNSTORED))
    WorkersPage(worker).join()
    expect(worker.locator("#connection")).to_contain_text("cannot be stored right now")


def test_who_is_not_admitted_is_told_nothing_of_others_and_then_thanked(serve: Serve, somebody: Somebody) -> None:
    rule = Rule(Admission(practice=0, checks=2, right_at_least=2), checks=None, exclude_if=())
    server = serve(StudyPlan(k=2, options=2, budget=60, rule=rule), Settings(undo_s=6, redo_s=6))
    person = Visitor(server)
    for _ in range(2):
        person.go_on(right=False)
    assert (person.work["state"], person.work["questions"]) == ("waiting", [])
    context = somebody()
    context.add_cookies(
        [
            {"name": one.name, "value": one.value or "", "url": f"{server.url}{one.path}"}
            for one in person.http.cookies.jar
        ]
    )
    page = WorkersPage.at(server, context).page
    expect(page.locator("#quiet-title")).to_have_text("One moment, please")
    expect(page.locator("#quiet-text")).to_contain_text("There is nothing for you to answer just now.")
    assert "Others" not in page.inner_text("#quiet")
    expect(page.locator("#quiet-title")).to_have_text("Thank you", timeout=60_000)
    expect(page.locator("#quiet-text")).to_contain_text("No more answers are needed from you.")
    assert server.registry.studies[STUDY].state == "open"


def test_without_javascript_the_page_says_what_it_needs_and_does_not_seem_to_load(
    serve: Serve, somebody: Somebody
) -> None:
    page = somebody(java_script_enabled=False).new_page()
    page.goto(f"{serve().url}/s/{STUDY}")
    assert "needs JavaScript" in page.inner_text("main")
    expect(page.locator(".dots").first).to_be_hidden()


@pytest.mark.parametrize("code", ["en", "ar"])
def test_who_is_excluded_meanwhile_is_told_in_their_language_that_the_answer_is_not_needed(
    serve: Serve, somebody: Somebody, code: str
) -> None:
    server = serve(settings=Settings(language=code).in_its_language())
    desk = WorkersPage.joined(server, somebody()).ready()
    study = server.registry.studies[STUDY].study
    desk.press("ArrowLeft")
    study.exclude(study.fold.workers.names[0])
    desk.page.keyboard.press("ArrowLeft")
    expect(desk.page.locator("#connection")).to_have_text(language(code).said("refused.not_needed"))
    expect(desk.page.locator("#quiet-title")).to_have_text(language(code).said("finished.title"))

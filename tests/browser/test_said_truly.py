"""The pages say what is so: that something cannot be stored, that the study is paused, and what they need."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from handful.crowd.languages import language
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import Settings
from handful.rules import Admission, Rule
from tests.browser.pages import STUDY, WorkersPage, answers, organizers_page
from tests.crowd.clients import Started
from tests.crowd.test_drawn_checks import Visitor

Serve = Callable[..., Started]
Somebody = Callable[..., BrowserContext]
UNSTORED = {"error": "storage", "message": "Answers cannot be stored right now."}
FAILED = {"error": "internal", "message": "Something went wrong here. It was noted."}
REFUSED = {"error": "not_possible", "message": "This study cannot do that any more."}
REMEMBER_WORDS = """() => {
  const line = document.querySelector("#connection");
  window.said = [];
  const remember = () => line.hidden || said.push(line.textContent);
  new MutationObserver(remember).observe(line, { childList: true, attributes: true });
}"""


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
    study.exclude(study.state.workers.names[0])
    desk.page.keyboard.press("ArrowLeft")
    expect(desk.page.locator("#connection")).to_have_text(language(code).said("refused.not_needed"))
    expect(desk.page.locator("#quiet-title")).to_have_text(language(code).said("finished.title"))


def test_an_answer_that_is_refused_after_a_lost_connection_is_not_said_to_be_sent(
    serve: Serve, somebody: Somebody
) -> None:
    server, context = serve(), somebody()
    page = WorkersPage.joined(server, context).ready().page
    page.evaluate(REMEMBER_WORDS)
    context.set_offline(True)
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#connection")).to_have_text("No connection. Your answer is kept and will be sent.")
    server.organizer().post(f"/api/organize/{STUDY}/close").raise_for_status()
    context.set_offline(False)
    expect(page.locator("#connection")).to_have_text("The study has ended and takes no more answers. Thank you.")
    expect(page.locator("#quiet-title")).to_have_text("Thank you")
    assert not [words for words in page.evaluate("said") if "sent." in words and "will be" not in words]
    assert answers(server) == []


def test_a_server_that_fails_is_not_called_a_lost_connection(serve: Serve, somebody: Somebody) -> None:
    server = serve(settings=Settings(language="de").in_its_language())
    said = language("de").said
    desk = WorkersPage.joined(server, somebody()).ready()
    desk.page.evaluate(REMEMBER_WORDS)
    desk.page.route("**/answer", lambda route: route.fulfill(status=500, json=FAILED))
    desk.page.keyboard.press("ArrowLeft")
    expect(desk.page.locator("#connection")).to_have_text(said("failed.server"))
    desk.page.unroute("**/answer")
    expect(desk.page.locator("#connection")).to_have_text(said("taken"))
    assert not {said("lost"), said("lost.answer"), said("back.answer")} & set(desk.page.evaluate("said"))
    assert len(answers(server)) == 1
    page = organizers_page(server, somebody())
    page.route("**/pause", lambda route: route.fulfill(status=500, json=FAILED))
    page.click("#pause")
    expect(page.locator("#connection")).to_have_text("Something went wrong on the server. Trying again.")
    page.unroute("**/pause")
    expect(page.locator("#state")).to_have_text("paused")
    expect(page.locator("#connection")).to_be_hidden()


def test_the_result_is_shown_also_where_the_page_was_open_before_the_organizer_allowed_it(
    serve: Serve, somebody: Somebody
) -> None:
    server = serve()
    desk = WorkersPage.joined(server, somebody()).ready().press("ArrowLeft")
    organizer = server.organizer()
    organizer.post(f"/api/organize/{STUDY}/words", json={"show_result": True}).raise_for_status()
    organizer.post(f"/api/organize/{STUDY}/close").raise_for_status()
    expect(desk.page.locator("#summary-title")).to_have_text("Thank you. This is what was chosen")
    expect(desk.page.locator("#picks li")).to_have_count(3)


def test_the_organizer_is_told_what_is_refused(serve: Serve, somebody: Somebody) -> None:
    page = organizers_page(serve(), somebody())
    toast = page.locator("#connection")
    page.route("**/pause", lambda route: route.fulfill(status=403, json=REFUSED))
    page.click("#pause")
    expect(toast).to_have_text(REFUSED["message"])
    page.evaluate("document.querySelector('#connection').textContent = ''")
    page.click("#words-part summary")
    expect(page.locator("#consent")).not_to_have_value("")
    page.route("**/words?*", lambda route: route.fulfill(status=403, json=REFUSED))
    page.select_option("#language", "de")
    expect(toast).to_have_text(REFUSED["message"])


def test_what_a_link_to_the_result_shows_is_named(serve: Serve, somebody: Somebody) -> None:
    page = organizers_page(serve(), somebody())
    said = page.locator("section[aria-labelledby=publish-title]")
    for named in ("what was chosen", "the runners-up", "how often each pick won", "the certificate"):
        expect(said).to_contain_text(named)
    expect(said).not_to_contain_text("nothing else")

"""Somebody from Prolific with a real browser, and the organizer who pays them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Route, expect

from handful.crowd.collection import Collection
from handful.crowd.registry import StudyPlan
from handful.recruit.ledger import Store
from handful.rules import Rule
from tests.browser.pages import LOOKED_AT_BY_AXE, SCREENSHOTS, WorkersPage, changed_script, look, organizers_page
from tests.crowd.clients import STUDY, started
from tests.fakes.prolific import Fault
from tests.recruit.arrivals import Paid, paid_study

Somebody = Callable[..., BrowserContext]
THREE = StudyPlan(k=3, options=2, budget=60, in_flight=20)


@pytest.fixture
def paid(postcards: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Paid]:
    """A study of postcards that is paid through a fake Prolific, and served."""
    with paid_study(postcards, tmp_path / "a.db", monkeypatch, study=THREE) as running:
        yield running


def test_somebody_from_prolific_comes_answers_goes_back_and_the_organizer_sees_it(
    paid: Paid, somebody: Somebody
) -> None:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    _, there = paid.come()
    query = paid.fake.platform.address(there).split("?")[1]
    context = somebody()
    changed_script(context, "panel.js", "BACK_MS = 4000;", "BACK_MS = 600_000;")  # time to look at the page
    page = context.new_page()
    page.goto(f"{paid.server.url}/s/{STUDY}?{query}")
    page.wait_for_selector("#begin")
    assert page.url == f"{paid.server.url}/s/{STUDY}"  # the ids are gone from the address bar
    expect(page.locator("#decline")).to_be_visible()
    page.screenshot(path=SCREENSHOTS / "panel-welcome.png")
    desk = WorkersPage(page).join()
    for _ in range(3):
        desk.ready().press("ArrowLeft")
    desk.ready()
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("#ending:not([hidden])")
    desk.says("Go back now, so that you are paid.")
    page.screenshot(path=SCREENSHOTS / "panel-ending.png")
    page.close()
    paid.fake.platform.come_back(there, paid.loop.desk.recruitment.codes["finished"])
    other, elsewhere = paid.come()
    other.arrive()
    other.join()
    other.answer()
    paid.fake.platform.come_back(elsewhere, None)
    paid.settle()
    assert there.status == "APPROVED"
    organizer = organizers_page(paid.server, somebody())
    expect(organizer.locator("#recruiting-people")).to_contain_text("paid")
    expect(organizer.locator("#share-words")).to_contain_text("People come from the panel")
    expect(organizer.locator("#recruiting-waiting")).to_contain_text("came back to Prolific before the end")
    organizer.locator("#recruiting-title").scroll_into_view_if_needed()
    section = organizer.locator("section[aria-labelledby=recruiting-title]")
    section.screenshot(path=SCREENSHOTS / "panel-organizer.png")
    organizer.click("#recruiting-bonus summary")
    look(organizer, "recruiting-people", whole=True, widths=LOOKED_AT_BY_AXE)
    organizer.get_by_role("button", name="Pay", exact=True).click()
    expect(organizer.locator("#recruiting-waits")).to_be_hidden()
    paid.settle()
    paid.settle()
    assert elsewhere.status == "APPROVED"


def test_who_is_still_to_be_paid_is_told_that_they_are_forgotten_after_that(paid: Paid, somebody: Somebody) -> None:
    _, there = paid.come()
    page = somebody().new_page()
    page.goto(f"{paid.server.url}/s/{STUDY}?{paid.fake.platform.address(there).split('?')[1]}")
    page.wait_for_selector("#begin")
    WorkersPage(page).join().ready().press("ArrowLeft")
    page.click("#help")
    page.click("#mine summary")
    expect(page.locator("#my-code")).not_to_have_value("")
    for _ in range(2):
        page.click("button[value=withdraw]")
    expect(page.locator("#quiet-title")).to_have_text("You will be forgotten once you are paid")
    look(page, "forgotten-once-paid", widths=LOOKED_AT_BY_AXE)


def test_the_reply_to_an_order_tells_of_recruiting_too(paid: Paid) -> None:
    organizer = paid.server.organizer()
    for order in ("pause", "open"):
        assert organizer.post(f"/api/organize/{STUDY}/{order}").json()["recruiting"]["panel"] == "prolific"


def test_a_bonus_whose_reply_was_lost_is_sent_again_and_paid_once(paid: Paid, somebody: Somebody) -> None:
    visitor, there = paid.come()
    visitor.arrive()
    visitor.join()
    visitor.answer()
    (person,) = paid.store.people(STUDY)
    page = organizers_page(paid.server, somebody())
    expect(page.locator("#people tr")).to_have_count(1)
    sent: list[str | None] = []

    def lose_the_first_reply(route: Route) -> None:
        sent.append(route.request.post_data)
        reply = route.fetch()
        if len(sent) > 1:
            route.fulfill(response=reply)
        else:
            route.abort()

    page.route("**/recruiting/bonus", lose_the_first_reply)
    page.click("#recruiting-bonus summary")
    for name in (person.pseudonym, person.pseudonym[:6]):  # as the table shows it
        page.fill("#bonus-who", name)
        page.fill("#bonus-amount", "1.50")
        page.click("text=Promise the bonus")
        expect(page.locator("#bonus-who")).to_have_value("")
        paid.settle()
    assert there.bonuses == [150, 150]
    assert (len(sent), len(set(sent))) == (3, 2)


def test_the_organizer_is_told_step_by_step_what_to_paste_on_prolific(
    postcards: Collection, tmp_path: Path, somebody: Somebody, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROLIFIC_TOKEN", raising=False)
    study = StudyPlan(k=3, options=2, budget=600, in_flight=20, rule=Rule())
    with started(postcards, study, storage=tmp_path / "a.db") as server:
        page = organizers_page(server, somebody())
        page.click("#recruiting-none > summary")
        page.fill("#recruit-address", "https://photos.example.org/s/venice")
        page.fill("#recruit-people", "30")
        look(page, "recruiting-plan", whole=True, widths=LOOKED_AT_BY_AXE)
        page.click("text=Show me the steps")
        expect(page.locator("#recruiting-plan")).to_contain_text("30 people × 30 answers = 900 answers")
        expect(page.locator("#recruiting-trouble")).to_contain_text("PROLIFIC_TOKEN is not set")
        steps = page.locator("#recruiting-steps li")
        expect(steps.first).to_contain_text("make a new study with an external link")
        kept = Store(tmp_path / "a.db").recruitment(STUDY)
        assert kept is not None
        fields = page.locator("#recruiting-steps input")
        pasted = [field.input_value() for field in fields.all()]
        assert pasted == [step.paste for step in kept.steps() if step.paste is not None]
        look(page, "recruiting-steps", whole=True, widths=LOOKED_AT_BY_AXE)
        section = page.locator("section[aria-labelledby=recruiting-title]")
        section.screenshot(path=SCREENSHOTS / "panel-plan.png")


def test_somebody_whom_prolific_cannot_confirm_yet_is_told_so_after_the_practice(
    paid: Paid, somebody: Somebody
) -> None:
    _, there = paid.come()
    paid.fake.faults.append(Fault("GET .*/submissions/", 503, times=1000))
    page = somebody().new_page()
    page.goto(f"{paid.server.url}/s/{STUDY}?{paid.fake.platform.address(there).split('?')[1]}")
    page.wait_for_selector("#begin")
    desk = WorkersPage(page).join()
    desk.says("confirm your place")
    look(page, "panel-verifying", widths=LOOKED_AT_BY_AXE)
    paid.fake.faults.clear()
    paid.settle()
    desk.ready()


def test_without_ids_the_page_is_a_preview_that_counts_nothing(paid: Paid, somebody: Somebody) -> None:
    desk = WorkersPage.at(paid.server, somebody(), STUDY)
    desk.page.wait_for_selector("#begin")
    desk.join()
    desk.says("Nothing you do here is counted")
    assert paid.store.people(STUDY) == []

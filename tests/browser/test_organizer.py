"""What the organizer's page promises, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from handful.crowd.collection.items import Collection
from handful.crowd.hosting.startup import StudyPlan
from handful.crowd.settings import Settings
from handful.study.doors import Door
from handful.study.preregistration import read_record
from tests.browser.pages import STUDY, crowd, organizers_page
from tests.crowd.clients import Person, Started

Serve = Callable[..., Started]
Somebody = Callable[..., BrowserContext]


def give(person: Person, answers: int) -> None:
    for _ in range(answers):
        person.answer(ms=1500)


def test_the_key_opens_and_a_wrong_one_does_not(serve: Serve, somebody: Somebody) -> None:
    server, page = serve(), somebody().new_page()
    page.goto(f"{server.url}/organize/{STUDY}")
    expect(page).to_have_url(re.compile("/organize/login$"))
    page.fill("#key", "not the key")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("That is no key of this server, or it was revoked.")
    page.fill("#key", server.registry.keys.terminal)
    page.click("text=Log in")
    expect(page).to_have_url(re.compile(f"/organize/{STUDY}$"))
    expect(page.locator("#state")).to_have_text("open")  # the page's script is there
    page.click("text=Log out")
    expect(page).to_have_url(re.compile("/organize/login$"))
    page.goto(f"{server.url}/organize/{STUDY}")
    expect(page).to_have_url(re.compile("/organize/login$"))


def test_the_key_in_the_printed_link_does_not_stay_in_the_address(serve: Serve, somebody: Somebody) -> None:
    server = serve(themes=("Cathedrals", "Boats"))
    page = organizers_page(server, somebody())
    expect(page.locator(".studies a")).to_have_text([re.compile("Cathedrals"), re.compile("Boats")])
    page.go_back()
    assert server.registry.keys.terminal not in page.url


def test_a_preregistration_is_saved_to_the_letter_and_its_digest_fits_the_page(
    serve: Serve, somebody: Somebody
) -> None:
    server = serve()
    page = organizers_page(server, somebody())
    with page.expect_download(lambda download: download.suggested_filename.endswith(".json")) as expected:
        page.click("#preregister")
    record = read_record(expected.value.path().read_text())
    registered = server.registry.studies[STUDY].study.fold.registered
    assert registered is not None
    assert record["hash"] == registered.hash
    expect(page.locator("#settings")).to_contain_text(registered.hash)
    for width in (360, 1000, 1366):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width


def test_what_happens_is_seen_without_reloading(serve: Serve, somebody: Somebody) -> None:
    server = serve(StudyPlan(k=3, options=2, budget=30, in_flight=20))
    page = organizers_page(server, somebody())
    expect(page.locator("#nobody")).to_be_visible()
    expect(page.locator("#race li")).to_have_count(12)
    expect(page.locator("#summary .room")).to_have_count(3)
    give(server.person(), 14)
    expect(page.locator("#answers")).to_have_text("14")
    expect(page.locator("#budget")).to_have_text("of 30")
    expect(page.locator("#pace")).to_have_text("14")
    expect(page.locator("#active")).to_have_text("1")
    expect(page.locator("#people tr")).to_have_count(1)
    expect(page.locator("#people tr")).to_contain_text("1.5 s")
    expect(page.locator("#people tr")).to_contain_text("100 / 0")
    expect(page.locator("#summary .place")).to_have_text("1")
    expect(page.locator("#race li")).to_have_count(11)
    expect(page.locator("#race-title")).to_have_text("Round 2: who is next?")
    expect(page.locator("#certificate")).not_to_be_empty()


def test_bars_lie_where_the_numbers_say(serve: Serve, somebody: Somebody) -> None:
    server = serve(StudyPlan(k=2, options=2, budget=80, in_flight=20))
    give(server.person(), 25)
    page = organizers_page(server, somebody(reduced_motion="reduce"))
    status = server.organizer().get(f"/api/organize/{STUDY}").json()
    lines = [line for line in status["items"] if line["mean"] is not None]
    low = min(line["lower"] for line in lines)
    span = max(line["upper"] for line in lines) - low
    for line in lines[:4]:
        bar = page.locator(f"#race li[data-key='{line['id']}'] .interval")
        box, inner = bar.bounding_box(), bar.locator(".bar").bounding_box()
        assert box is not None
        assert inner is not None
        assert (inner["x"] - box["x"]) / box["width"] == pytest.approx((line["lower"] - low) / span, abs=0.02)
        assert inner["width"] / box["width"] == pytest.approx((line["upper"] - line["lower"]) / span, abs=0.02)


def test_a_study_is_paused_opened_and_closed_for_good(serve: Serve, somebody: Somebody) -> None:
    server = serve()
    give(server.person(), 3)
    page = organizers_page(server, somebody())
    page.click("#pause")
    expect(page.locator("#state")).to_have_text("paused")
    assert server.person().work["state"] == "paused"
    page.click("#open")
    expect(page.locator("#state")).to_have_text("open")
    page.click("#close")
    page.click("text=Leave it open")
    expect(page.locator("#state")).to_have_text("open")
    page.click("#close")
    page.click("text=Close for good")
    expect(page.locator("#state")).to_contain_text("finished")
    expect(page.locator(".orders button:visible")).to_have_count(0)
    expect(page.locator("#share-words")).to_have_text("Nobody can answer any more; the link says so.")
    expect(page.locator("#summary .room")).to_have_count(0)
    expect(page.locator("#flight")).to_have_text("–")


def test_a_network_is_excluded_after_the_page_has_said_what_that_means(serve: Serve, somebody: Somebody) -> None:
    server = serve(StudyPlan(k=2, options=2, budget=40, in_flight=20, door=Door()), Settings(undo_s=0, redo_s=0))
    crowd(server, people=2, turns=4)
    page = organizers_page(server, somebody())
    page.click("text=Exclude many at once")
    network = page.locator("#group-network")
    expect(network.locator("option")).to_have_count(2)
    network.select_option(index=1)
    page.get_by_role("button", name="See what it would mean").click()
    expect(page.locator("#group-words")).to_contain_text("2 people gave 8 answers")
    page.get_by_label("Why, for the journal").fill("one stranger")
    page.click("#group-yes")
    expect(page.locator("#people tr.excluded")).to_have_count(2)
    assert "one stranger" in server.organizer().get(f"/api/organize/{STUDY}/export.jsonl").text


def test_a_worker_is_excluded_with_a_reason_and_restored(serve: Serve, somebody: Somebody) -> None:
    server = serve(StudyPlan(k=2, options=2, budget=12, in_flight=20), Settings(undo_s=0, redo_s=0))
    crowd(server, people=2, turns=4)
    page = organizers_page(server, somebody())
    row = page.locator("#people tr").first
    expect(row).to_be_visible()
    row.get_by_role("button").click()
    page.get_by_label("Reason").fill("answers without looking")
    page.keyboard.press("Enter")
    gone = page.locator("#people tr.excluded")
    expect(gone).to_have_count(1)
    expect(page.locator("#certificate")).to_contain_text("exclud")
    assert "answers without looking" in server.organizer().get(f"/api/organize/{STUDY}/export.jsonl").text
    gone.get_by_role("button", name="Restore").click()
    expect(gone).to_have_count(0)


def test_everything_can_be_kept(serve: Serve, somebody: Somebody) -> None:
    server = serve(StudyPlan(k=2, options=2, budget=20, in_flight=20))
    give(server.person(), 12)
    page = organizers_page(server, somebody(accept_downloads=True))
    beginnings = {"Contact sheet": b"\x89PNG", "Answers, CSV": b"question,", "Journal, JSONL": b"{", "Backup": b"PK"}
    for link, beginning in beginnings.items():
        assert kept(page, link).read_bytes().startswith(beginning)


def kept(page: Page, link: str) -> Path:
    with page.expect_download() as download:
        page.click(f"text={link}")
    return Path(download.value.path())


def test_the_link_is_copied(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(), somebody(permissions=["clipboard-read", "clipboard-write"])
    page = organizers_page(server, context)
    page.click("#copy")
    expect(page.locator("#copy")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == f"{server.url}/s/{STUDY}"
    server.organizer().post(f"/api/organize/{STUDY}/close")
    expect(page.locator("#copy")).to_be_hidden()
    expect(page.locator("#flight")).to_have_text("–")
    expect(page.locator("body")).to_contain_text("Nobody can answer any more")


def test_a_lost_connection_is_said_and_mended(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(), somebody()
    page = organizers_page(server, context)
    context.route("**/events", lambda route: route.abort())
    page.evaluate("document.querySelector('#pause').click()")  # something to be told of
    page.reload()
    expect(page.locator("#connection")).to_have_text("No connection. Trying again.")
    context.unroute("**/events")
    expect(page.locator("#connection")).to_be_hidden()
    expect(page.locator("#state")).to_have_text("paused")


def test_texts_are_shown_by_their_first_words(serve: Serve, somebody: Somebody, sayings: Collection) -> None:
    page = organizers_page(serve(StudyPlan(k=2, options=2, budget=20), themes=("Sayings",), items=sayings), somebody())
    expect(page.locator("#race .name")).to_have_text([re.compile("Saying")] * 6)
    expect(page.locator("#race .face .excerpt")).to_have_count(6)

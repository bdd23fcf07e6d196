"""What the organizer's page promises, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from handful.crowd.collection import Collection
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import Settings
from handful.preregistration import read_record
from handful.rules import Door, Rule
from tests.browser.pages import STUDY, changed_script, crowd, look, organizers_page
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
    expect(page.get_by_role("alert")).to_have_text("That is no key of this server, or it was renewed.")
    page.fill("#key", server.registry.keys.organizer)
    page.click("text=Log in")
    expect(page).to_have_url(re.compile(f"/organize/{STUDY}$"))
    expect(page.locator("#state")).to_have_text("open")  # the page's script is there
    page.click("text=Log out")
    expect(page).to_have_url(re.compile("/organize/login$"))
    page.goto(f"{server.url}/organize/{STUDY}")
    expect(page).to_have_url(re.compile("/organize/login$"))
    page.fill("#key", f"{server.url}/organize/login#{server.registry.keys.organizer}")  # the link instead of its key
    page.click("text=Log in")
    expect(page.locator("#state")).to_have_text("open")


def test_the_printed_link_opens_where_the_page_for_the_key_is_open_already(serve: Serve, somebody: Somebody) -> None:
    server, page = serve(), somebody().new_page()
    page.goto(f"{server.url}/organize/login")
    page.goto(f"{server.url}/organize/login#{server.registry.keys.organizer}")
    expect(page).to_have_url(re.compile(f"/organize/{STUDY}$"))


def test_the_key_in_the_printed_link_does_not_stay_in_the_address(serve: Serve, somebody: Somebody) -> None:
    server = serve(themes=("Cathedrals", "Boats"))
    page = organizers_page(server, somebody())
    expect(page.locator(".studies a")).to_have_text([re.compile("Cathedrals"), re.compile("Boats")])
    page.go_back()
    assert server.registry.keys.organizer not in page.url


def test_a_late_preregistration_says_so_before_and_after_and_there_is_none_at_the_end(
    serve: Serve, somebody: Somebody
) -> None:
    server, late = serve(themes=("Cathedrals in Venice", "Boats")), STUDY
    for study in (late, "boats"):
        server.person(study).answer("left")
    page = somebody().new_page()
    page.goto(f"{server.url}/organize/login#{server.registry.keys.organizer}")
    page.wait_for_selector(".studies")
    page.goto(f"{server.url}/organize/{late}")
    expect(page.locator("#answers")).to_have_text("1")
    page.click("#preregister")
    expect(page.locator("#registering")).to_contain_text("It has 1 answer already, so this is late")
    page.click("#registering button[value='']")
    assert server.registry.studies[late].study.state.registered is None
    page.click("#preregister")
    page.click("#registering button[value=yes]")
    expect(page.locator("#registered")).to_contain_text("Registered late, after 1 answer.")
    expect(page.locator("#registered")).not_to_contain_text("before the first answer")
    page.goto(f"{server.url}/organize/boats")
    expect(page.locator("#answers")).to_have_text("1")
    page.click("#close")
    expect(page.locator("#closing")).to_contain_text("2 of the picks were not asked about yet: they are filled in")
    page.click("#closing button[value=yes]")
    expect(page.locator("#register-words")).to_have_text("This study was not preregistered.")
    expect(page.locator("#preregister")).to_be_hidden()
    refused = server.organizer().post("/api/organize/boats/preregister")
    assert (refused.status_code, refused.json()["error"]) == (409, "not_possible")


def test_a_preregistration_is_saved_to_the_letter_and_its_digest_fits_the_page(
    serve: Serve, somebody: Somebody
) -> None:
    server = serve()
    page = organizers_page(server, somebody())
    with page.expect_download(lambda download: download.suggested_filename.endswith(".json")) as expected:
        page.click("#preregister")
    record = read_record(expected.value.path().read_text())
    registered = server.registry.studies[STUDY].study.state.registered
    assert registered is not None
    assert record["hash"] == registered.hash
    expect(page.locator("#settings")).to_contain_text(f"as {registered.hash[:12]}….")
    expect(page.locator("#settings .hash")).to_have_attribute("title", f"{registered.hash}: press to copy")
    expect(page.locator("#registered-hash input")).to_have_value(registered.hash)
    expect(page.locator("#registered")).to_contain_text(f"handful replay {STUDY}")
    for link, ending in (("to read", "html"), ("to check the study by", "json")):
        with page.expect_download() as again:
            page.locator("#registered li", has_text=link).get_by_role("link").click()
        assert again.value.suggested_filename == f"{STUDY}-preregistration.{ending}"
        assert registered.hash in again.value.path().read_text()
    look(page, "organizer-registered", whole=True, widths=(360, 1280))
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
    expect(page.locator("#state")).to_have_text(re.compile("^finished early: 2 of 3 items were"))
    for tile in ("#pace", "#active", "#flight"):
        expect(page.locator(tile)).to_have_text("–")  # nobody is at it any more
    expect(page.locator(".orders button:visible")).to_have_count(0)
    expect(page.locator("#share-words")).to_have_text("Nobody can answer any more; the link says so.")
    expect(page.locator("#summary .room")).to_have_count(0)
    expect(page.locator(".picks .early").first).to_have_text("cut short")
    expect(page.locator("#flight")).to_have_text("–")


def test_a_preregistration_can_be_read_on_a_phone_and_in_the_dark(serve: Serve, somebody: Somebody) -> None:
    server = serve(StudyPlan(k=2, options=2, budget=12, rule=Rule(), door=Door("room")))
    organizer = server.organizer()
    organizer.post(f"/api/organize/{STUDY}/preregister")
    page = somebody().new_page()
    page.set_content(organizer.get(f"/api/organize/{STUDY}/preregistration.html").text)
    look(page, "preregistration", whole=True, widths=(360, 1280))
    page.set_viewport_size({"width": 360, "height": 740})
    narrowest = "Math.min(...[...document.querySelectorAll('.record > div > dd')].map((one) => one.offsetWidth))"
    assert page.evaluate(narrowest) > 300
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 23, 27)"


def test_the_organizer_changes_how_people_come(serve: Serve, somebody: Somebody) -> None:
    server = serve(StudyPlan(k=2, options=2, budget=40, in_flight=20, door=Door()))
    page = organizers_page(server, somebody())
    page.click("text=Change how people come")
    expect(page.locator("#door-share")).to_be_enabled()
    page.select_option("#door-kind", "invitations")
    expect(page.locator("#door-share")).to_be_disabled()
    page.click("text=Let them come so")
    expect(page.locator("#share-words")).to_have_text("Only people with an invitation get in.")
    expect(page.locator("#settings")).to_contain_text("Then the organizer changed how people come")
    assert server.registry.studies[STUDY].comes_by("invitations")


def test_a_worker_is_excluded_with_a_reason_and_restored(serve: Serve, somebody: Somebody) -> None:
    server = serve(StudyPlan(k=2, options=2, budget=12, in_flight=20), Settings(undo_s=0, redo_s=0))
    crowd(server, people=2, turns=4)
    page = organizers_page(server, somebody())
    row = page.locator("#people tr").first
    expect(row).to_be_visible()
    short = row.locator(".who").inner_text()
    row.get_by_role("button").click()
    expect(page.locator("#excluding-title")).to_have_text(f"Exclude {short}?")
    expect(page.locator("#excluding-words")).to_contain_text(
        re.compile(rf"^{short}\w+ gave 4 answers; \d of them would no longer count in the open round\..*claim nothing")
    )
    page.get_by_label("Reason").fill("answers without looking")
    page.keyboard.press("Enter")
    gone = page.locator("#people tr.excluded")
    expect(gone).to_have_count(1)
    expect(page.locator("#certificate")).to_contain_text("exclud")
    assert "answers without looking" in server.organizer().get(f"/api/organize/{STUDY}/export.jsonl").text
    gone.get_by_role("button", name="Restore").click()
    expect(gone).to_have_count(0)
    server.registry.studies[STUDY].study.finish("enough")
    row.get_by_role("button").click()
    over = "The study is over: its picks stand; only the certificate changes."
    expect(page.locator("#excluding-words")).to_contain_text(over)


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


def copied_for_long(context: BrowserContext) -> None:
    """Let the page say for minutes that the link was copied, so that it is seen on a slow machine too."""
    changed_script(context, "organizer.js", '"Copy"; }, 2000);', '"Copy"; }, 600_000);')


def test_the_link_is_copied(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(), somebody(permissions=["clipboard-read", "clipboard-write"])
    copied_for_long(context)
    page = organizers_page(server, context)
    page.click("#copy")
    expect(page.locator("#copy")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == f"{server.url}/s/{STUDY}"
    server.organizer().post(f"/api/organize/{STUDY}/close")
    expect(page.locator("#copy")).to_be_hidden()
    expect(page.locator("#flight")).to_have_text("–")
    expect(page.locator("body")).to_contain_text("Nobody can answer any more")


CLOSED = """
window.opened = navigator.clipboard;
Object.defineProperty(Navigator.prototype, "clipboard", { get: () => undefined });
"""
"""The clipboard as it is over plain http; what is in it can be looked at as `opened`."""
REFUSED = "document.execCommand = () => false; navigator.clipboard.writeText = () => Promise.reject(new Error());"


@pytest.mark.parametrize("how", [CLOSED, REFUSED, CLOSED + "document.execCommand = () => false;"])
def test_copied_is_said_only_of_what_was_copied(serve: Serve, somebody: Somebody, how: str) -> None:
    server, context = serve(), somebody(permissions=["clipboard-read", "clipboard-write"])
    copied_for_long(context)
    page = organizers_page(server, context)
    page.click("#preregister")
    expect(page.locator("#settings .hash")).to_be_visible()
    page.add_init_script(how)
    page.reload()
    page.click("#share-result")
    selected = "[getSelection().toString(), document.activeElement.value].includes({0!r})".format
    registered = server.registry.studies[STUDY].study.state.registered
    assert registered is not None
    shared = page.locator("#shared input").input_value()
    for button, text in (("#copy", f"{server.url}/s/{STUDY}"), ("#shared button", shared), (".hash", registered.hash)):
        page.locator(button).first.click()
        if how == CLOSED:
            expect(page.locator("#copy" if button == "#copy" else "#connection")).to_contain_text("Copied")
            assert page.evaluate("opened.readText()") == text
        else:
            expect(page.locator("#connection")).to_contain_text("did not let the page copy. The text is selected")
            assert page.evaluate(selected(text))
        page.evaluate("document.querySelector('#connection').textContent = ''")


SLOW_LISTS = """
const quick = window.fetch;
window.fetch = async (path, how) => {
  const reply = quick(path, how);
  if (/[/]share$/.test(path) && how.method === "GET") await new Promise((done) => setTimeout(done, 1500));
  return reply;
};
"""
"""Replies that say what there was when they were asked for, and come late."""


def test_a_link_made_at_once_stays_on_the_page(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(), somebody()
    page = organizers_page(server, context)
    page.add_init_script(SLOW_LISTS)
    page.reload()
    page.click("#share-result")
    expect(page.locator("#shared input")).to_have_count(1)
    page.wait_for_timeout(2000)
    expect(page.locator("#shared input")).to_have_count(1)


def test_a_lost_connection_is_said_and_mended(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(), somebody()
    page = organizers_page(server, context)
    context.route("**/events", lambda route: route.abort())
    with page.expect_response("**/pause"):
        page.evaluate("document.querySelector('#pause').click()")  # something to be told of
    page.reload()
    expect(page.locator("#connection")).to_have_text("No connection. Trying again.")
    context.unroute("**/events")
    expect(page.locator("#connection")).to_be_hidden()
    expect(page.locator("#state")).to_have_text("paused")


def test_texts_are_shown_by_their_first_words(serve: Serve, somebody: Somebody, sayings: Collection) -> None:
    page = organizers_page(serve(StudyPlan(k=2, options=2, budget=20), themes=("Sayings",), items=sayings), somebody())
    expect(page.locator("#race .name")).to_have_text([re.compile("Saying")] * 6)
    expect(page.locator("#race .face")).to_have_count(0)  # a face would show the same words once more

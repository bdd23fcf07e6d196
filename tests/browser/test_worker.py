"""What the worker's page promises, one thing at a time, in a real browser."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from handful.crowd.collection import Collection
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import Settings
from tests.browser.pages import AT, STUDY, WorkersPage, answers, becomes, changed_script, look
from tests.crowd.clients import Started
from tests.crowd.test_presence import SOON, noticed
from tests.crowd.test_worker_routes import Clock

Serve = Callable[..., Started]
Somebody = Callable[..., BrowserContext]
GLANCE_MS = 400
LONG_GLANCE_MS = 3000


def test_keys_clicks_and_taps_answer_for_the_side_they_are_on(serve: Serve, somebody: Somebody) -> None:
    server = serve()
    desk = WorkersPage.joined(server, somebody(has_touch=True)).ready()
    for key in ("ArrowLeft", "ArrowRight", "1", "2"):
        desk.press(key)
    for side in ("left", "right"):
        before = desk.question
        desk.page.click(f"{AT[side]} .shown", force=True)
        desk.after(before)
    for side in ("left", "right"):
        before = desk.question
        desk.page.tap(f"{AT[side]} .choose")
        desk.after(before)
    expect(desk.page.locator("#count")).to_have_text("8 of 30")
    sides = [line["side"] for line in sorted(answers(server), key=lambda line: line["told"])]
    assert sides == ["left", "right"] * 4


def test_the_practice_is_noted_and_never_counted(serve: Serve, somebody: Somebody) -> None:
    server = serve()
    desk = WorkersPage.at(server, somebody())
    desk.page.click("#begin")
    desk.ready().page.keyboard.press("ArrowRight")
    desk.says("Most people would choose the other one")
    desk.page.click("#onward")
    desk.ready().page.keyboard.press("ArrowRight")
    desk.says("the pear adds more")
    desk.page.click("#onward")
    desk.ready()
    assert answers(server) == []
    journal = server.organizer().get(f"/api/organize/{STUDY}/export.jsonl").text
    assert re.search(r'"practice":\s*\{"correct":\s*1,\s*"of":\s*2\}', journal)


def test_keys_alone_lead_from_the_first_page_to_an_answer(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(), somebody()
    # On a slow machine two keys of one person would be too far apart to be one mistake: here they are not.
    changed_script(context, "sections.js", "GLANCE_MS = 350;", f"GLANCE_MS = {LONG_GLANCE_MS};")
    desk = WorkersPage.at(server, context)
    page = desk.page
    page.wait_for_selector("#begin")
    page.wait_for_timeout(LONG_GLANCE_MS)
    page.keyboard.press("ArrowRight")  # does not agree to anything
    expect(page.locator("#welcome")).to_be_visible()
    page.keyboard.press("Enter")
    for answer, onward in (("ArrowLeft", "Enter"), ("2", "ArrowRight")):
        desk.ready().page.keyboard.press(answer)
        page.wait_for_selector("#onward:visible")
        page.keyboard.press(onward)  # too soon to have been meant
        expect(page.locator("#lesson")).to_be_visible()
        page.wait_for_timeout(LONG_GLANCE_MS)
        page.keyboard.press(onward)
    desk.ready().press("ArrowLeft")
    assert len(answers(server)) == 1


def test_alone_keys_begin_at_once(serve: Serve, somebody: Somebody) -> None:
    desk = WorkersPage.at(serve(settings=Settings(goal=None, consent=None, solo=True)), somebody())
    desk.page.wait_for_selector("#begin")
    desk.page.wait_for_timeout(GLANCE_MS)
    desk.page.keyboard.press("Enter")
    desk.ready().press("ArrowRight")


def test_a_held_key_and_a_double_click_answer_once(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(), somebody()
    # On a slow machine the halves of a double click would be too far apart to be one: here they are not.
    changed_script(context, "choice_view.js", "GLANCE_MS = 250;", "GLANCE_MS = 600_000;")
    desk = WorkersPage.joined(server, context).ready()
    before = desk.question
    desk.page.keyboard.down("ArrowLeft")
    for _ in range(10):
        desk.page.keyboard.down("ArrowLeft")  # the same key again, without letting go, is what a held key sends
        time.sleep(0.05)
    desk.page.keyboard.up("ArrowLeft")
    before = desk.after(before).question
    desk.page.dblclick("#option-2 .choose")
    desk.after(before)
    time.sleep(0.3)
    assert len(answers(server)) == 2


UNHURRIED = Settings(undo_s=60.0, redo_s=60.0)


def test_the_other_answer_can_be_given_within_a_few_seconds(serve: Serve, somebody: Somebody) -> None:
    server = serve(settings=UNHURRIED)
    desk = WorkersPage.joined(server, somebody()).ready()
    first = desk.question
    second = desk.press("ArrowLeft").question
    desk.page.keyboard.press("u")
    desk.after(second)
    assert desk.question == first
    desk.says("Choose again, or keep your answer. Which one would improve the selection more?")
    expect(desk.page.locator("#skip")).to_be_disabled()
    expect(desk.page.locator("#option-1")).to_have_class(re.compile("before"))
    desk.page.keyboard.press("ArrowRight")
    desk.after(first)
    assert desk.question == second
    expect(desk.page.locator("#undo")).to_be_enabled()
    (line,) = answers(server)
    chosen_item = line["answer"] == "1"
    assert (line["item_side"] == "right") == chosen_item


def test_an_undo_can_be_thought_better_of_and_is_over_after_its_time(serve: Serve, somebody: Somebody) -> None:
    clock = Clock()
    server = serve(settings=UNHURRIED, clock=clock)
    desk = WorkersPage.joined(server, somebody()).ready()
    first = desk.question
    second = desk.press("ArrowLeft").question
    desk.page.click("#undo")
    desk.after(second)
    desk.page.click("text=Keep it")
    desk.after(first)
    assert desk.question == second
    third = desk.press("ArrowLeft").question
    desk.page.click("#undo")
    desk.after(third)
    clock.now += 200
    desk.page.keyboard.press("ArrowRight")
    desk.says("Too late: that answer has been counted.")
    desk.after(second)
    assert desk.question == third
    assert len(answers(server)) == 2


SOON_OVER = """
const whole = Response.prototype.json;
Response.prototype.json = async function () {
  const told = await whole.call(this);
  if (told.undo) told.undo[%r] = 1;
  return told;
};
"""


def test_an_undo_is_offered_for_a_few_seconds(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(settings=UNHURRIED), somebody()
    context.add_init_script(SOON_OVER % "seconds")
    desk = WorkersPage.joined(server, context).ready()
    expect(desk.press("ArrowLeft").page.locator("#undo")).to_be_disabled()


def test_who_thinks_for_too_long_whether_to_undo_goes_on_where_they_were(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(settings=UNHURRIED), somebody()
    context.add_init_script(SOON_OVER % "choose_s")
    desk = WorkersPage.joined(server, context).ready()
    second = desk.press("ArrowLeft").question
    desk.page.click("#undo")
    desk.says("Too late: that answer has been counted.")
    expect(desk.page.locator(f"#cards[data-question='{second}']")).to_be_visible()
    expect(desk.page.locator("#skip")).to_be_enabled()
    desk.ready().press("ArrowRight")
    assert len(answers(server)) == 2


@pytest.mark.parametrize("key", ["u", "Backspace"])
def test_the_keys_for_undo_do_nothing_where_there_is_nothing_to_undo(
    serve: Serve, somebody: Somebody, key: str
) -> None:
    server = serve(settings=replace(UNHURRIED, goal=1))
    organizer = server.organizer()
    organizer.post(f"/api/organize/{STUDY}/pause").raise_for_status()
    desk = WorkersPage.joined(server, somebody())
    page = desk.page
    desk.says("A short break")
    page.keyboard.press(key)
    organizer.post(f"/api/organize/{STUDY}/open").raise_for_status()
    desk.ready().page.keyboard.press("ArrowLeft")
    page.click("#enough-for-me")
    expect(page.locator("#quiet-text")).to_contain_text("You can close this page now.")
    page.keyboard.press(key)
    page.wait_for_timeout(300)
    expect(page.locator("#quiet")).to_be_visible()
    page.reload()
    desk.says("That is all we asked for.")
    page.click("#go-on")
    desk.ready()
    organizer.post(f"/api/organize/{STUDY}/close").raise_for_status()
    expect(page.locator("#quiet-text")).to_contain_text("No more answers are needed from you.")
    page.keyboard.press(key)
    page.wait_for_timeout(300)
    expect(page.locator("#quiet")).to_be_visible()


def test_an_answer_can_be_undone_by_key_while_the_page_waits(serve: Serve, somebody: Somebody) -> None:
    server = serve(settings=UNHURRIED)
    desk = WorkersPage.joined(server, somebody()).ready()
    first = desk.question
    desk.press("ArrowLeft")
    server.organizer().post(f"/api/organize/{STUDY}/pause").raise_for_status()
    expect(desk.page.locator("#undo-late")).to_be_visible()
    desk.page.keyboard.press("u")
    desk.ready()
    assert desk.question == first


HEARD = """
window.heard = [];
new MutationObserver(() => {
  const said = document.querySelector("#spoken")?.textContent;
  if (said && said !== window.heard.at(-1)) window.heard.push(said);
}).observe(document, { childList: true, characterData: true, subtree: true });
"""
"""All that is read out, also what is followed by the next words before anybody looks."""


def test_what_is_read_out_is_what_is_seen(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(settings=UNHURRIED), somebody()
    context.add_init_script(SOON_OVER % "choose_s")
    context.add_init_script(HEARD)
    desk = WorkersPage.joined(server, context).ready()
    spoken = desk.press("ArrowLeft").page.locator("#spoken")
    expect(spoken).to_contain_text("1 of 30. Option 1: ")
    desk.page.click("#undo")
    desk.says("Too late: that answer has been counted.")
    becomes(desk.page, "heard.length", 4)
    assert desk.page.evaluate("heard[2]") == "Choose again. Your answer was option 1."
    assert desk.page.evaluate("heard[3] === heard[1]")
    expect(spoken).to_contain_text("1 of 30. Option 1: ")
    server.organizer().post(f"/api/organize/{STUDY}/close").raise_for_status()
    desk.says("No more answers are needed from you.")
    expect(spoken).to_have_text("")


def test_a_question_can_be_skipped_with_a_reason(serve: Serve, somebody: Somebody) -> None:
    server = serve()
    desk = WorkersPage.joined(server, somebody()).ready()
    before = desk.question
    desk.page.keyboard.press("s")
    desk.page.keyboard.press("Escape")
    assert desk.question == before
    desk.page.click("#skip")
    desk.page.click("text=It should not be shown")
    desk.after(before)
    assert answers(server) == []
    assert '"unsuitable"' in server.organizer().get(f"/api/organize/{STUDY}/export.jsonl").text


def test_a_reload_goes_on_with_the_same_question_and_can_still_undo(serve: Serve, somebody: Somebody) -> None:
    desk = WorkersPage.joined(serve(settings=Settings(undo_s=30)), somebody()).ready()
    first = desk.question
    second = desk.press("2").question
    desk.page.reload()
    desk.ready()
    assert desk.question == second
    expect(desk.page.locator("#count")).to_have_text("1 of 30")
    desk.page.keyboard.press("Backspace")
    desk.after(second)
    assert desk.question == first


LOSE_REPLIES = """() => {
  const { fetch } = window;
  window.fetch = async (address, how) => {
    const reply = await fetch(address, how);
    if (!address.endsWith("/answer")) return reply;
    document.body.dataset.lost = reply.status;
    return new Promise(() => {});
  };
}"""  # of answers, until the page is loaded again


def test_an_answer_that_a_reload_cut_off_is_shown_as_taken(serve: Serve, somebody: Somebody) -> None:
    server = serve()
    desk = WorkersPage.joined(server, somebody()).ready()
    desk.page.evaluate(LOSE_REPLIES)
    desk.page.keyboard.press("1")
    desk.page.wait_for_selector("body[data-lost='200']")
    desk.page.reload(wait_until="commit")  # the words stand for some seconds only
    expect(desk.page.locator("#connection")).to_have_text("Your answer was taken.")
    desk.ready()
    assert len(answers(server)) == 1


def test_a_second_tab_shows_the_same_question_and_follows(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(), somebody()
    one = WorkersPage.joined(server, context).ready()
    two = WorkersPage.at(server, context).ready()
    assert two.question == one.question
    before = one.question
    one.press("ArrowLeft")
    two.after(before)
    assert two.question == one.question
    expect(two.page.locator("#count")).to_have_text("1 of 30")


def test_two_tabs_that_answer_the_same_question_count_once(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(), somebody()
    # Without the channel between tabs the second one does not know, as in a browser that has put it to sleep.
    context.add_init_script("BroadcastChannel.prototype.postMessage = () => {}")
    one = WorkersPage.joined(server, context).ready()
    two = WorkersPage.at(server, context).ready()
    before = one.question
    one.press("ArrowLeft")
    assert two.question == before
    two.press("ArrowRight")
    two.says("Nothing was counted twice")
    (line,) = answers(server)
    assert line["side"] == "left"
    assert two.question == one.question


def test_without_a_connection_the_answer_is_kept_and_sent_later(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(), somebody()
    desk = WorkersPage.joined(server, context).ready()
    before = desk.question
    context.set_offline(True)
    desk.page.keyboard.press("ArrowRight")
    desk.says("No connection. Your answer is kept and will be sent.")
    assert answers(server) == []
    desk.page.keyboard.press("ArrowLeft")
    context.set_offline(False)
    desk.says("Connected again. Your answer was sent.")
    desk.after(before)
    (line,) = answers(server)
    assert line["side"] == "right"


def test_an_answer_whose_reply_was_lost_counts_once(serve: Serve, somebody: Somebody) -> None:
    server = serve()
    desk = WorkersPage.joined(server, somebody()).ready()
    lost: list[int] = []

    def lose_the_reply(route: Route) -> None:
        if lost:
            route.continue_()
        else:
            lost.append(route.fetch().status)
            route.abort()

    desk.page.route("**/answer", lose_the_reply)
    desk.press("ArrowLeft")
    assert lost == [200]
    assert len(answers(server)) == 1
    expect(desk.page.locator("#count")).to_have_text("1 of 30")


def test_a_pair_can_be_answered_only_once_both_pictures_are_there(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(), somebody()
    held: list[Route] = []
    context.route("**/items/*", lambda route: held.append(route))
    desk = WorkersPage.joined(server, context)
    while len(held) < 2:
        desk.page.wait_for_timeout(50)
    held.pop(0).continue_()
    desk.page.wait_for_timeout(400)
    desk.page.keyboard.press("ArrowLeft")
    desk.page.wait_for_timeout(100)
    assert answers(server) == []
    for route in held:
        route.continue_()
    desk.ready().page.keyboard.press("ArrowLeft")
    expect(desk.page.locator("#count")).to_have_text("1 of 30")


def test_a_picture_that_cannot_be_loaded_is_said_and_can_be_tried_again(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(), somebody()
    context.route("**/items/*", lambda route: route.abort())
    desk = WorkersPage.joined(server, context)
    desk.says("This picture could not be loaded.")
    context.unroute("**/items/*")
    desk.page.click("text=Try again >> nth=0")
    desk.ready()


def test_the_next_pair_is_loaded_before_it_is_shown(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(), somebody()
    loaded: set[str] = set()
    context.on("requestfinished", lambda request: loaded.add(request.url.removeprefix(server.url)))
    desk = WorkersPage.joined(server, context).ready()
    ahead = context.request.get(f"{server.url}/api/s/{STUDY}/next").json()["questions"][1]
    for side in AT:
        sizes = {ahead[side][size] for size in ("thumbnail", "medium", "image")}
        while not sizes & loaded:
            desk.page.wait_for_timeout(20)
    asked: list[str] = []
    desk.page.on("request", lambda request: asked.append(request.url))
    before = desk.question
    desk.page.keyboard.press("ArrowLeft")
    desk.after(before)
    shown = [address for address in desk.pictures if any(url.endswith(address) for url in asked)]
    assert shown == []


def test_nothing_to_answer_is_said_and_goes_on_by_itself(serve: Serve, somebody: Somebody) -> None:
    server = serve(StudyPlan(k=2, options=2, budget=40, in_flight=2))
    busy = server.person()
    assert len(busy.work["questions"]) == 2
    desk = WorkersPage.joined(server, somebody())
    desk.says("There is nothing for you to answer just now.")
    busy.post("skip", {"token": busy.token, "reason": "unsure"})
    desk.ready()


def test_a_pause_is_said_and_goes_on_by_itself(serve: Serve, somebody: Somebody) -> None:
    server = serve()
    organizer = server.organizer()
    desk = WorkersPage.joined(server, somebody()).ready()
    organizer.post(f"/api/organize/{STUDY}/pause")
    desk.page.keyboard.press("ArrowLeft")
    desk.says("A short break")
    organizer.post(f"/api/organize/{STUDY}/open")
    desk.ready()
    organizer.post(f"/api/organize/{STUDY}/close")
    desk.page.keyboard.press("ArrowLeft")
    desk.says("Thank you")


def test_the_keyboard_alone_is_enough(serve: Serve, somebody: Somebody) -> None:
    server = serve()
    page = WorkersPage.at(server, somebody()).page
    page.wait_for_selector("#begin")
    tab_to(page, "#begin").press("Enter")
    for side in ("left", "right"):
        WorkersPage(page).ready()
        tab_to(page, f"{AT[side]} .choose").press("Enter")
        page.wait_for_selector("#onward:visible")
        tab_to(page, "#onward").press("Enter")
    desk = WorkersPage(page).ready()
    before = desk.question
    tab_to(page, "#option-2 .choose").press("Space")
    expect(page.locator("#enlarged")).to_be_visible()
    expect(page.locator("#enlarged")).to_contain_text("Option 2")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#enlarged")).to_contain_text("Option 1")
    page.keyboard.press("Space")
    expect(page.locator("#enlarged")).to_be_hidden()
    expect(page.locator("#option-2 .choose")).to_be_focused()
    assert answers(server) == []
    page.keyboard.press("Enter")
    desk.after(before)
    expect(page.locator("#option-2 .choose")).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="How it works")).to_be_visible()
    page.keyboard.press("Escape")
    assert [line["side"] for line in answers(server)] == ["right"]


DECODE_WHEN_TOLD = """() => {
  const decode = HTMLImageElement.prototype.decode;
  const told = [];
  const count = () => { document.body.dataset.decoding = told.length; };
  HTMLImageElement.prototype.decode = async function () {
    await new Promise((go) => { told.push(go); count(); });
    count();
    return decode.call(this);
  };
  window.decodeFirst = () => told.shift()();
  window.decodeLast = () => told.pop()();
  window.decodeAsEver = () => {
    HTMLImageElement.prototype.decode = decode;
    for (const go of told.splice(0)) go();
  };
}"""


def slowly_decoding(server: Started, somebody: Somebody) -> tuple[WorkersPage, Locator]:
    """Somebody who answers, with pictures that appear when they are told to; and the enlarged view."""
    desk = WorkersPage.joined(server, somebody()).ready()
    desk.page.evaluate(DECODE_WHEN_TOLD)
    return desk, desk.page.locator("#enlarged")


def decoding(page: Page, number: int) -> None:
    page.wait_for_selector(f"body[data-decoding='{number}']")


def enlarged(page: Page, side: str) -> None:
    page.locator(f"{AT[side]} .magnify").click()
    decoding(page, 1)
    page.evaluate("() => window.decodeFirst()")
    expect(page.locator("#enlarged")).to_contain_text("Option 1" if side == "left" else "Option 2")


def test_a_late_picture_does_not_open_the_enlarged_view_again(serve: Serve, somebody: Somebody) -> None:
    desk, view = slowly_decoding(serve(), somebody)
    enlarged(desk.page, "right")
    desk.page.keyboard.press("ArrowLeft")
    decoding(desk.page, 1)
    desk.page.keyboard.press("Space")
    expect(view).to_be_hidden()
    desk.page.evaluate("() => window.decodeFirst()")
    desk.page.wait_for_timeout(300)
    expect(view).to_be_hidden()


def test_what_is_chosen_is_what_is_seen_enlarged(serve: Serve, somebody: Somebody) -> None:
    server = serve()
    desk, view = slowly_decoding(server, somebody)
    before = desk.question
    enlarged(desk.page, "right")
    desk.page.keyboard.press("ArrowLeft")
    decoding(desk.page, 1)
    expect(view).to_contain_text("Option 2")
    desk.page.evaluate("() => { document.querySelector('#choose-enlarged').click(); window.decodeAsEver(); }")
    desk.after(before)
    assert [line["side"] for line in answers(server)] == ["right"]


def test_of_two_that_are_enlarged_the_last_one_stays(serve: Serve, somebody: Somebody) -> None:
    desk, view = slowly_decoding(serve(), somebody)
    for number, side in enumerate(("right", "left"), start=1):
        desk.page.locator(f"{AT[side]} .magnify").click()
        decoding(desk.page, number)
    desk.page.evaluate("() => window.decodeLast()")
    expect(view).to_contain_text("Option 1")
    desk.page.evaluate("() => window.decodeFirst()")
    desk.page.wait_for_timeout(300)
    expect(view).to_contain_text("Option 1")


def test_an_answer_calls_off_what_was_to_be_enlarged(serve: Serve, somebody: Somebody) -> None:
    desk, view = slowly_decoding(serve(), somebody)
    before = desk.question
    desk.page.locator("#option-2 .magnify").click()
    decoding(desk.page, 1)
    desk.page.keyboard.press("1")
    desk.page.evaluate("() => window.decodeAsEver()")
    desk.after(before)
    desk.page.wait_for_timeout(300)
    expect(view).to_be_hidden()


def tab_to(page: Page, selector: str) -> Locator:
    """Press Tab until the focus is there."""
    for _ in range(20):
        if page.evaluate("selector => document.activeElement?.matches(selector)", selector):
            return page.locator(selector)
        page.keyboard.press("Tab")
    raise AssertionError(f"the Tab key does not lead to {selector}")


def test_somebody_who_listens_is_told_what_there_is_to_choose(serve: Serve, somebody: Somebody) -> None:
    desk = WorkersPage.joined(serve(), somebody()).ready()
    left, right = (desk.page.get_attribute(f"{AT[side]} .shown img", "alt") or "" for side in ("left", "right"))
    assert left.startswith("A postcard: ")
    expect(desk.page.locator("#spoken")).to_have_text(f"0 of 30. Option 1: {left}. Option 2: {right}.")
    group = desk.page.get_by_role("group", name="Option 1")
    expect(group.get_by_role("button", name="Choose option 1")).to_be_visible()
    expect(group.get_by_role("button", name="Enlarge option 1")).to_be_visible()
    expect(desk.page.get_by_role("progressbar", name="Your answers")).to_be_visible()


def test_a_browser_without_cookies_is_told_what_is_missing(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(), somebody()
    desk = WorkersPage.at(server, context).join().ready()
    context.clear_cookies()
    desk.page.keyboard.press("ArrowLeft")
    desk.says("This page needs a cookie")


def test_texts_are_chosen_like_pictures(serve: Serve, somebody: Somebody, sayings: Collection) -> None:
    server = serve(StudyPlan(k=2, options=2, budget=20), themes=("Sayings",), items=sayings)
    desk = WorkersPage.joined(server, somebody(viewport={"width": 320, "height": 568}), "sayings").ready()
    expect(desk.page.locator("#option-1 .text")).to_contain_text("A city is read by walking")
    desk.page.click("#option-1 .choose")
    expect(desk.page.locator("#count")).to_have_text("1 of 30")
    assert desk.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_where_all_items_are_texts_the_practice_has_texts_too(
    serve: Serve, somebody: Somebody, sayings: Collection
) -> None:
    server = serve(StudyPlan(k=2, options=2, budget=20), themes=("Sayings",), items=sayings)
    desk = WorkersPage.at(server, somebody(), "sayings")
    desk.page.click("#begin")
    expect(desk.ready().page.locator("#option-1 .text")).to_have_text("A red apple with a green leaf")
    expect(desk.page.locator("#option-2 .text")).to_have_text("An old bicycle")
    desk.page.keyboard.press("ArrowLeft")
    desk.says("The apple is fruit, the bicycle is not.")
    desk.page.click("#onward")
    expect(desk.ready().page.locator("#option-2 .text")).to_have_text("A green pear")
    expect(desk.page.locator("#cards img")).to_have_count(0)
    look(desk.page, "practice-texts", widths=(1280, 360))
    desk.page.keyboard.press("ArrowRight")
    desk.says("the pear adds more")
    desk.page.click("#onward")
    expect(desk.ready().page.locator("#option-1 .text")).to_contain_text("A city is read by walking")
    journal = server.organizer().get("/api/organize/sayings/export.jsonl").text
    assert re.search(r'"practice":\s*\{"correct":\s*2,\s*"of":\s*2\}', journal)


CLIPPED_OR_SMALL = """all => all
  .map((one) => [one.textContent, one.scrollHeight - one.clientHeight, parseFloat(getComputedStyle(one).fontSize)])
  .filter(([, hidden, size]) => hidden > 1 || size < 12)"""


def test_texts_that_are_chosen_can_be_read_above_the_question(
    serve: Serve, somebody: Somebody, sayings: Collection
) -> None:
    server = serve(StudyPlan(k=5, options=2, budget=10, in_flight=1), themes=("Sayings",), items=sayings)
    desk = WorkersPage.joined(server, somebody(viewport={"width": 360, "height": 640}), "sayings").ready()
    chosen = desk.page.locator("#strip .excerpt")
    while chosen.count() < 3:
        before = desk.question
        desk.page.click("#option-1 .choose")
        desk.after(before)
    look(desk.page, "chosen-texts", widths=(1280, 360))
    for width in (1280, 360):
        desk.page.set_viewport_size({"width": width, "height": 640})
        assert chosen.evaluate_all(CLIPPED_OR_SMALL) == [], width
        assert desk.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_alone_one_chooses_at_once_and_ends_with_the_picks_and_the_sheet(serve: Serve, somebody: Somebody) -> None:
    server = serve(StudyPlan(k=2, options=2, budget=8, in_flight=6), Settings(goal=None, consent=None, solo=True))
    desk = WorkersPage.at(server, somebody(accept_downloads=True))
    desk.says("12 to choose from, 2 to keep.")
    desk.page.click("#begin")
    deadline = time.monotonic() + 120
    while desk.page.locator("#summary").is_hidden() and time.monotonic() < deadline:
        desk.page.keyboard.press("ArrowLeft")
        desk.page.wait_for_timeout(60)
    expect(desk.page.locator("#picks li")).to_have_count(2)
    with desk.page.expect_download() as download:
        desk.page.click("text=Download the contact sheet")
    assert download.value.path().read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("theme", ["<img src=x onerror=alert(1)>", '"><script>alert(1)</script>'])
def test_words_from_outside_stay_words(serve: Serve, somebody: Somebody, theme: str) -> None:
    server = serve(themes=(theme,))
    (study,) = server.registry.studies
    desk = WorkersPage.at(server, somebody(), study)
    desk.page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    expect(desk.page.locator("h1")).to_have_text(theme)
    desk.page.click("#begin")
    desk.ready()


def test_a_question_of_a_closed_tab_goes_to_whoever_waits_and_a_reload_keeps_it(
    serve: Serve, somebody: Somebody
) -> None:
    clock = Clock()
    server = serve(StudyPlan(k=2, options=2, budget=40, in_flight=1, lease_s=600), clock=clock)
    first = WorkersPage.joined(server, somebody()).ready()
    question = first.question
    waiting = WorkersPage.joined(server, somebody())
    waiting.says("it may take a minute")
    first.page.reload()
    first.ready()
    for _ in range(14):  # by the server's clock the reload took no time, however slow the machine is
        first.page.wait_for_timeout(500)
        clock.now += 0.5
    assert first.question == question
    expect(waiting.page.locator("#quiet")).to_be_visible()
    first.page.close()
    noticed(server, 1)
    clock.now += SOON
    waiting.page.wait_for_selector("#question:not([hidden])", timeout=60_000)
    waiting.ready()


def test_an_open_question_makes_way_by_itself_when_the_study_is_paused_and_when_it_is_closed(
    serve: Serve, somebody: Somebody
) -> None:
    server = serve()
    desk = WorkersPage.joined(server, somebody()).ready()
    organizer = server.organizer()
    organizer.post(f"/api/organize/{STUDY}/pause", json={}).raise_for_status()
    desk.says("The study is paused.")
    organizer.post(f"/api/organize/{STUDY}/open", json={}).raise_for_status()
    desk.ready()
    organizer.post(f"/api/organize/{STUDY}/close", json={}).raise_for_status()
    expect(desk.page.locator("#question")).to_be_hidden()
    desk.says("Thank you")


def test_how_long_it_takes_is_said_first_and_nobody_is_asked_to_go_on_at_the_end(
    serve: Serve, somebody: Somebody
) -> None:
    server = serve(StudyPlan(k=1, options=2, budget=12), Settings(goal=12, undo_s=0, redo_s=0))
    desk = WorkersPage.at(server, somebody(viewport={"width": 320, "height": 568}))
    desk.says("We ask for about 12 answers, which takes about 3 minutes.")
    assert desk.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    desk.join()
    for _ in range(12):
        desk.ready()
        before = desk.question
        desk.page.keyboard.press("ArrowLeft")
        desk.page.wait_for_selector(f"#quiet:not([hidden]), #cards:not([data-question='{before}'])")
    desk.says("No more answers are needed from you.")
    expect(desk.page.locator("#connection")).to_be_hidden()


def test_a_page_whose_script_was_refused_tries_again(serve: Serve, somebody: Somebody) -> None:
    server, context = serve(), somebody()
    page = context.new_page()
    refused = []

    def refuse_once(route: Route) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.fulfill(status=429, body="")

    page.route("**/choice_view.js", refuse_once)
    page.goto(f"{server.url}/s/{STUDY}")
    expect(page.locator("#begin")).to_be_visible(timeout=60_000)
    assert len(refused) == 1

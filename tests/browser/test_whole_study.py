"""One study from the first visitor to the last download, by two people with browsers and an organizer who watches."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import BrowserContext, expect

from handful.crowd.registry import StudyPlan
from handful.crowd.settings import Settings
from tests.browser.pages import AT, STUDY, WorkersPage, answers, organizers_page
from tests.crowd.clients import Started

Serve = Callable[..., Started]
Somebody = Callable[..., BrowserContext]


A_GLANCE_MS = 300  # a second tap on the same place that comes sooner is taken for the second half of a double tap


def test_two_people_and_an_organizer_bring_a_study_to_its_end(serve: Serve, somebody: Somebody) -> None:
    server = serve(StudyPlan(k=2, options=2, budget=60, in_flight=20), Settings(undo_s=60.0, redo_s=60.0))
    watching = organizers_page(server, somebody(accept_downloads=True))
    given = watching.locator("#answers")

    desktop = somebody()
    ann = WorkersPage.at(server, desktop).join().ready()
    ann.press("ArrowLeft").press("2")
    before = ann.question
    ann.page.click("#option-1 .choose")
    ann.after(before)
    expect(given).to_have_text("3")

    phone = somebody(viewport={"width": 360, "height": 640}, has_touch=True, is_mobile=True)
    bob = WorkersPage.at(server, phone)
    bob.page.tap("#begin")
    for side in ("left", "right"):
        bob.ready().page.tap(f"{AT[side]} .shown", force=True)
        bob.page.tap("#onward")
    for side in ("left", "right", "right"):
        before = bob.ready().question
        bob.page.wait_for_timeout(A_GLANCE_MS)
        bob.page.tap(f"{AT[side]} .shown", force=True)
        bob.after(before)
    expect(watching.locator("#people tr")).to_have_count(2)

    before = bob.question
    bob.page.tap("#undo")
    bob.after(before).page.tap("#option-1 .choose")
    bob.ready().page.tap("#skip")
    bob.page.tap("text=I cannot decide")
    bob.ready()

    ann.page.reload()
    second_tab = WorkersPage.at(server, desktop).ready()
    assert second_tab.question == ann.ready().question
    desktop.set_offline(True)
    ann.page.keyboard.press("ArrowRight")
    ann.says("Your answer is kept and will be sent.")
    desktop.set_offline(False)
    ann.says("Connected again. Your answer was sent.")
    expect(given).to_have_text("7")
    assert len(answers(server)) == 7

    row = watching.locator("#people tr", has=watching.get_by_role("button", name="Exclude")).first
    row.get_by_role("button").click()
    watching.click("#excluding >> text=Exclude >> nth=-1")
    expect(watching.locator("#people tr.excluded")).to_have_count(1)
    watching.get_by_role("button", name="Restore").click()
    expect(watching.locator("#people tr.excluded")).to_have_count(0)

    ann.ready().press("ArrowLeft")
    expect(given).to_have_text("8")
    watching.click("#close")
    watching.click("text=Close for good")
    expect(watching.locator("#summary .place")).to_have_text(["1", "2"])
    ann.page.keyboard.press("ArrowLeft")
    ann.says("Thank you")
    with watching.expect_download() as download:
        watching.click("text=Answers, CSV")
    lines = download.value.path().read_text().splitlines()
    assert len(lines) == 1 + 8
    assert {line["worker"] for line in answers(server, STUDY)} == {line.split(",")[6] for line in lines[1:]}

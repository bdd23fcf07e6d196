"""Every page: nothing scrolls at any width, axe finds nothing in light and dark, and pictures are kept."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import BrowserContext, expect

from handful.crowd.collection import Collection
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import Settings
from tests.browser.pages import STUDY, WorkersPage, crowd, look, organizers_page
from tests.crowd.clients import Started

Serve = Callable[..., Started]
Somebody = Callable[..., BrowserContext]


def test_the_workers_page(serve: Serve, somebody: Somebody) -> None:
    server = serve(StudyPlan(k=3, options=2, budget=36, in_flight=20), Settings(undo_s=60))
    crowd(server, people=1, turns=13)
    desk = WorkersPage.at(server, somebody())
    page = desk.page
    page.wait_for_selector("#begin")
    look(page, "worker-1-welcome")
    page.click("#begin")
    look(desk.ready().page, "worker-2-practice")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("#onward")
    look(page, "worker-3-lesson")
    page.click("#onward")
    desk.ready().page.keyboard.press("ArrowRight")
    page.click("#onward")
    look(desk.ready().page, "worker-4-question")
    before = desk.press("ArrowLeft").question
    page.keyboard.press("u")
    look(desk.after(before).page, "worker-5-undo")
    page.click("text=Keep it")
    desk.ready()
    for name, key, dialog in (
        ("6-skip", "s", "skipping"),
        ("7-enlarged", "Space", "enlarged"),
        ("8-help", "?", "instructions"),
    ):
        page.keyboard.press(key)
        page.wait_for_selector(f"#{dialog}[open]")
        look(page, f"worker-{name}")
        page.keyboard.press("Escape")
    organizer = server.organizer()
    organizer.post(f"/api/organize/{STUDY}/pause")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("#quiet:visible")
    look(page, "worker-9-paused")
    organizer.post(f"/api/organize/{STUDY}/close")
    page.wait_for_selector("#quiet-title >> text=Thank you")
    look(page, "worker-10-thanks")


def test_a_page_of_texts(serve: Serve, somebody: Somebody, sayings: Collection) -> None:
    server = serve(StudyPlan(k=2, options=2, budget=8, in_flight=6), themes=("Sayings",), items=sayings)
    crowd(server, people=1, turns=5, study="sayings")
    desk = WorkersPage.joined(server, somebody(), "sayings").ready()
    look(desk.page, "worker-texts", whole=True)


def test_the_pages_of_somebody_who_has_given_enough(serve: Serve, somebody: Somebody) -> None:
    server = serve(StudyPlan(k=2, budget=40, in_flight=20), Settings(goal=2, show_result=True, undo_s=0, redo_s=0))
    desk = WorkersPage.joined(server, somebody()).ready()
    desk.press("1").page.keyboard.press("2")
    desk.page.wait_for_selector("#enough:not([hidden])")
    look(desk.page, "worker-11-enough")
    desk.page.click("#go-on")
    desk.ready().press("3")
    desk.page.click("#option-1 .choose")
    server.organizer().post(f"/api/organize/{STUDY}/close")
    desk.page.reload()
    desk.page.wait_for_selector("#picks li")
    desk.page.wait_for_load_state("networkidle")
    look(desk.page, "worker-12-result", whole=True)


def test_who_is_done_leaves_and_holds_nothing(serve: Serve, somebody: Somebody) -> None:
    thanks = "Tell the desk the word marble, and thank you."
    settings = Settings(goal=1, undo_s=0, redo_s=0, thanks=thanks)
    server = serve(StudyPlan(k=2, options=2, budget=40, in_flight=20), settings)
    desk = WorkersPage.joined(server, somebody()).ready()
    desk.page.keyboard.press("1")
    desk.page.click("#enough-for-me")
    desk.says("You can close this page now.")
    expect(desk.page.locator("#quiet")).to_contain_text(thanks)
    look(desk.page, "worker-13-left", widths=(360, 1280))
    assert len(server.registry.studies[STUDY].study.state.leases) == 0
    desk.page.reload()  # to see whether the study has ended
    desk.page.wait_for_selector("#enough:not([hidden])")
    assert len(server.registry.studies[STUDY].study.state.leases) == 0
    desk.page.click("#go-on")
    assert desk.ready().question


def test_the_page_of_somebody_alone(serve: Serve, somebody: Somebody) -> None:
    server = serve(StudyPlan(k=3, options=2, budget=6, in_flight=6), Settings(goal=None, consent=None, solo=True))
    desk = WorkersPage.at(server, somebody())
    desk.page.wait_for_selector("#begin")
    look(desk.page, "solo-1-welcome")
    desk.page.click("#begin")
    while desk.page.locator("#summary").is_hidden():
        desk.page.keyboard.press("ArrowLeft")
        desk.page.wait_for_timeout(50)
    desk.page.wait_for_selector("#sheet")
    desk.page.wait_for_load_state("networkidle")
    look(desk.page, "solo-2-summary", whole=True)


def test_the_organizers_pages(serve: Serve, somebody: Somebody) -> None:
    themes = ("Cathedrals in Venice", "Boats")
    server = serve(StudyPlan(k=4, options=2, budget=160, in_flight=40), Settings(undo_s=0, redo_s=0), themes)
    crowd(server, people=4, turns=24)
    context = somebody()
    page = context.new_page()
    page.goto(f"{server.url}/nothing/here")
    look(page, "nothing-here")
    page.goto(f"{server.url}/")
    look(page, "front")
    page.goto(f"{server.url}/organize/login")
    look(page, "organizer-1-login")
    page = organizers_page(server, context)
    look(page, "organizer-2-studies")
    page.click("text=Cathedrals in Venice")
    page.wait_for_selector("#people tr")
    page.wait_for_load_state("load")
    page.click("#agreement summary")
    page.wait_for_selector("#agreement-said p")
    look(page, "organizer-3-study", whole=True)
    page.click("#people tr button")
    look(page, "organizer-4-exclude")
    page.keyboard.press("Escape")
    page.click("#close")
    look(page, "organizer-5-close")
    page.click("text=Close for good")
    page.wait_for_selector("#state[data-state=finished]")
    look(page, "organizer-6-finished", whole=True)

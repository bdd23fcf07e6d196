"""A study is set up, opened, answered, closed and its result shared, all in real browsers and from nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.pages import WorkersPage, look
from tests.crowd.clients import Started
from tests.crowd.pictures import drawn, encoded
from tests.crowd.test_setup_routes import empty_server

Somebody = Callable[..., BrowserContext]
MINUTES_MS = 120_000


def photos(folder: Path, number: int) -> list[str]:
    folder.mkdir()
    for n in range(number):
        (folder / f"photo {n}.jpg").write_bytes(encoded(drawn(n)))
    (folder / "drawing.svg").write_text("<svg/>")
    return [str(path) for path in sorted(folder.iterdir())]


def test_from_dropped_photos_to_a_shared_result(somebody: Somebody, tmp_path: Path) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = _set_up_page(server, somebody)
        expect(page.locator("#consent")).not_to_have_value("")
        look(page, "setup-1-empty", whole=True)
        page.set_input_files("#files", photos(tmp_path / "photos", 6))
        page.wait_for_selector("#prepared:visible", timeout=MINUTES_MS)
        assert page.inner_text("#items-count") == "6 items are ready."
        page.click("text=What was left out")
        assert "drawing.svg is SVG" in page.inner_text("#left-list")
        for field, value in (("theme", "大聖堂"), ("k", "2"), ("options", "2"), ("people", "5"), ("goal", "8")):
            page.fill(f"#{field}", value)
        page.fill("#question", "どちらを選びますか？")
        page.fill("#thanks", "ありがとうございました")
        page.wait_for_selector("text=All changes are kept.")
        assert "40 answers in all" in page.inner_text("#plan")
        look(page, "setup-2-ready", whole=True)
        page.press("#dry-run", "Enter")
        page.wait_for_selector("#dry-picks li", timeout=MINUTES_MS)
        assert page.locator("#dry-picks li").count() == 2
        assert "5 simulated people" in page.inner_text("#dry-said")
        look(page, "setup-3-dry-run", whole=True)
        page.fill("#people", "6")
        page.wait_for_selector("#dry-result", state="hidden")  # it was of other settings
        page.fill("#people", "5")
        page.wait_for_selector("text=All changes are kept.")
        page.reload()
        page.wait_for_selector("#prepared:visible")
        assert page.input_value("#question") == "どちらを選びますか？", "everything is kept as it is typed"
        page.click("#open")
        page.wait_for_url("**/organize/study", timeout=MINUTES_MS)
        visitor = somebody()
        visitor.set_default_timeout(MINUTES_MS)
        worker = WorkersPage.joined(server, visitor, "study").ready()
        assert worker.page.inner_text("#prompt") == "どちらを選びますか？"
        worker.press("ArrowLeft")
        _close(page)
        worker.page.keyboard.press("ArrowLeft")  # nobody's question is taken away; its answer comes too late
        worker.page.wait_for_selector("text=ありがとうございました")
        page.click("#from-here button")
        page.wait_for_url("**/setup/*")
        page.wait_for_selector("#cards .place")
        assert page.inner_text("#chosen-words").startswith("2 are chosen from the start.")
        assert page.input_value("#question") == "どちらを選びますか？"
        look(page, "setup-5-from-here", whole=True, widths=(360, 1280))
        page.go_back()
        stranger = somebody().new_page()
        page.click("#share-result")
        stranger.goto(page.input_value("#shared input"))
        stranger.wait_for_selector("ol.picks li")
        assert stranger.locator("ol.picks li").count() == 2
        look(stranger, "setup-4-shared")


def _set_up_page(server: Started, somebody: Somebody) -> Page:
    """The page that an organizer sees first, where nothing is set up yet."""
    page = somebody().new_page()
    page.goto(f"{server.url}/organize/login#{server.registry.keys.terminal}")
    page.wait_for_url("**/setup")
    return page


def _close(page: Page) -> None:
    page.click("#close")
    page.click("#closing button[value=yes]")
    page.wait_for_selector("#state[data-state=finished]")


def test_somebody_who_does_not_agree_leaves_politely_and_nothing_is_stored(somebody: Somebody, tmp_path: Path) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = _set_up_page(server, somebody)
        page.click("#paste")
        page.fill("#texts", "one\ntwo\nthree")
        page.click("text=Use these")
        page.wait_for_selector("#prepared:visible", timeout=MINUTES_MS)
        page.fill("#theme", "Words")
        page.fill("#k", "1")
        page.wait_for_selector("text=All changes are kept.")
        page.click("#open")
        page.wait_for_url("**/organize/words", timeout=MINUTES_MS)
        reader = somebody().new_page()
        reader.goto(f"{server.url}/s/words")
        reader.click("#decline")
        reader.wait_for_selector("text=nothing about you was stored")
        assert server.registry.studies["words"].study.fold.workers.names == []

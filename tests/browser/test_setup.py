"""A study is set up, opened, answered, closed and its result shared, all in real browsers and from nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, Route, expect

from handful.crowd.languages import language
from handful.crowd.sources import PASTED
from tests.browser.pages import WorkersPage, drop, look
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
        drop(page, "#drop", photos(tmp_path / "photos", 6))
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


def test_items_beyond_the_first_can_be_shown_and_left_out(somebody: Somebody, tmp_path: Path) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = _set_up_page(server, somebody)
        _paste(page, *(f"text {n}" for n in range(78)))
        expect(page.locator("#more-count")).to_have_text("and 18 more")
        expect(page.locator("#cards li")).to_have_count(60)
        page.click("text=Show them all")
        expect(page.locator("#cards li")).to_have_count(78)
        expect(page.locator("#more-items")).to_be_hidden()
        page.click("[aria-label='Leave out text 70']", force=True)
        expect(page.locator("#cards li")).to_have_count(77)
        expect(page.locator("#cards")).not_to_contain_text("text 70")
        page.fill("#theme", "Texts")
        page.wait_for_selector("text=All changes are kept.")
        expect(page.locator("#cards li")).to_have_count(77)


def test_a_number_that_cannot_be_is_explained_beside_it_and_keeps_the_study_closed(
    somebody: Somebody, tmp_path: Path
) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = _set_up_page(server, somebody)
        _paste(page, "one", "two", "three", "four")
        page.fill("#theme", "Numbers")
        expect(page.locator("#k-fault")).to_have_text("Give a whole number from 1 to 3. There are 4 items.")
        for field, wrong, right in (
            ("k", ("0", "2.5", "", "4"), "2"),
            ("options", ("1", "10", "2.5"), ""),
            ("people", ("0", "", "1.5"), "5"),
            ("goal", ("-1", ""), "8"),
        ):
            for value in wrong:
                page.fill(f"#{field}", value)
                expect(page.locator(f"#{field}-fault")).to_contain_text("Give a whole number from")
                expect(page.locator("#open-words")).to_contain_text("Give a whole number from")
                expect(page.locator("#open")).to_be_disabled()
            expect(page.locator("#kept")).to_have_text("Everything else is kept.")
            if field == "people":
                look(page, "setup-7-wrong", whole=True, widths=(360, 1280))
            page.fill(f"#{field}", right)
            expect(page.locator(f"#{field}-fault")).to_have_text("")
        page.select_option("#practising", "own")
        expect(page.locator("#lessons .half")).to_have_text("Each pair needs both: fill them in, or remove the pair.")
        expect(page.locator("#open")).to_be_disabled()
        page.fill("#lessons [name=right]", "a church")
        page.fill("#lessons [name=wrong]", "a church ")
        expect(page.locator("#lessons .half")).to_have_text(
            "Both are the same: change one of them, or remove the pair."
        )
        expect(page.locator("#open-words")).to_contain_text("Practice: Both are the same")
        expect(page.locator("#open")).to_be_disabled()
        expect(page.locator("#kept")).to_have_text("Everything else is kept.")
        page.fill("#lessons [name=wrong]", "a spoon")
        expect(page.locator("#kept")).to_have_text("All changes are kept.")
        expect(page.locator("#open-fault")).to_have_text("")
        expect(page.locator("#open")).to_be_enabled()


def test_an_explorer_that_does_not_go_is_explained_beside_it_and_the_rest_is_kept(
    somebody: Somebody, tmp_path: Path
) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = _set_up_page(server, somebody)
        page.click("summary:has-text('For experts')")
        page.fill("#explorer", "duel")  # before there is a draft
        _paste(page, "one", "two", "three", "four")
        fault, kept = page.locator("#explorer-fault"), page.locator("#kept")
        expect(fault).to_contain_text("There is no explorer named 'duel'; there are")
        for field, value in (("theme", "Numbers"), ("k", "2")):
            page.fill(f"#{field}", value)
        expect(kept).to_have_text("Everything else is kept.")
        expect(page.locator("#open-words")).to_contain_text("Explorer: There is no explorer named 'duel'")
        expect(page.locator("#open")).to_be_disabled()
        look(page, "setup-11-explorer", whole=True, widths=(360, 1280))
        (draft,) = server.registry.drafts
        assert (draft.settings.theme, draft.settings.explorer) == ("Numbers", None)
        page.fill("#explorer", "topx")
        expect(kept).to_have_text("All changes are kept.", timeout=MINUTES_MS)
        expect(fault).to_have_text("")
        assert draft.settings.explorer == "topx"
        page.fill("#options", "4")
        expect(page.locator("#options-fault")).to_contain_text("Topx compares two items at a time, not 4")
        expect(kept).to_have_text("Everything else is kept.")
        expect(page.locator("#open")).to_be_disabled()
        page.fill("#explorer", "")
        expect(kept).to_have_text("All changes are kept.")
        expect(page.locator("#options-fault")).to_have_text("")
        assert (draft.settings.explorer, draft.settings.options) == (None, 4)
        expect(page.locator("#open")).to_be_enabled()


def test_a_file_that_was_changed_replaces_the_one_of_its_name_and_size(somebody: Somebody, tmp_path: Path) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = _set_up_page(server, somebody)
        for name, text in (("a.txt", "The cat sat"), ("b.txt", "Two birds"), ("c.txt", "Three dogs")):
            (tmp_path / name).write_text(text)
        page.set_input_files("#files", [tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "c.txt"])
        expect(page.locator("#items-count")).to_have_text("3 items are ready.", timeout=MINUTES_MS)
        (tmp_path / "a.txt").write_text("The dog sat")
        os.utime(tmp_path / "a.txt", (1_000_000_000, 1_000_000_000))  # as a copy may be that was corrected before
        page.set_input_files("#files", tmp_path / "a.txt")
        expect(page.locator("#cards")).to_contain_text("The dog sat", timeout=MINUTES_MS)
        expect(page.locator("#cards")).not_to_contain_text("The cat sat")


def test_of_an_upload_that_was_cut_off_only_the_rest_and_what_was_changed_is_sent(
    somebody: Somebody, tmp_path: Path
) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = _set_up_page(server, somebody)
        texts = {"a.txt": "The cat sat", "b.txt": "Two birds", "c.txt": "Three dogs"}
        for name, text in texts.items():
            (tmp_path / name).write_text(text)
        files = [tmp_path / name for name in texts]
        page.route("**/files/c.txt", lambda route: None)  # never comes to an end
        page.set_input_files("#files", files)
        while [len(draft.uploads.files) for draft in server.registry.drafts] != [2]:
            page.wait_for_timeout(50)
        (draft,) = server.registry.drafts
        page.goto(f"{server.url}/setup/{draft.id}")
        expect(page.locator("#items-count")).to_contain_text("2 files have arrived.")
        page.unroute("**/files/c.txt")
        sent: list[str] = []
        page.on("request", lambda one: sent.append(one.url.split("/")[-1]) if one.method == "PUT" else None)
        (tmp_path / "a.txt").write_text("The dog sat")
        page.set_input_files("#files", files)
        expect(page.locator("#items-count")).to_have_text("3 items are ready.", timeout=MINUTES_MS)
        assert sorted(sent) == ["a.txt", "c.txt"]
        expect(page.locator("#cards")).to_contain_text("The dog sat")


def test_a_file_that_has_no_place_keeps_no_other_from_coming(somebody: Somebody, tmp_path: Path) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = _set_up_page(server, somebody)
        page.set_input_files("#files", photos(tmp_path / "photos", 3))
        expect(page.locator("#items-count")).to_have_text("3 items are ready.", timeout=MINUTES_MS)
        folder = tmp_path / "photo 0.jpg"
        folder.mkdir()
        (folder / "below.jpg").write_bytes(encoded(drawn(7)))
        more = tmp_path / "more.jpg"
        more.write_bytes(encoded(drawn(8)))
        drop(page, "#drop", [str(folder), str(more)])
        expect(page.locator("#items-fault")).to_contain_text("'photo 0.jpg' is a file already")
        page.click("text=Go on without the rest")
        expect(page.locator("#items-count")).to_have_text("4 items are ready.", timeout=MINUTES_MS)


def test_more_is_put_in_and_single_ones_are_taken_out_before_the_study_is_opened(
    somebody: Somebody, tmp_path: Path
) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = _set_up_page(server, somebody)
        count = page.locator("#items-count")
        _paste(page, "one", "two", "three")
        page.click("text=Add texts")
        page.fill("#texts", "four")
        page.click("text=Use these")
        expect(count).to_have_text("4 items are ready.")
        page.press("[aria-label='Leave out two']", "Enter")
        expect(count).to_have_text("3 items are ready.")
        page.click("text=Start over")
        expect(page.locator("#prepared")).to_be_hidden()
        first, *more = photos(tmp_path / "photos", 4)[1:]
        page.set_input_files("#files", [first, more[0]])
        expect(count).to_have_text("2 items are ready.", timeout=MINUTES_MS)
        page.set_input_files("#files", {"name": "all.zip", "mimeType": "application/zip", "buffer": b""})
        expect(page.locator("#items-fault")).to_contain_text("all.zip is a collection of its own")
        page.set_input_files("#files", more[1:])
        expect(count).to_have_text("4 items are ready.")
        expect(page.locator("#items-fault")).to_have_text("")
        look(page, "setup-8-more", whole=True, widths=(360, 1280))


def test_what_is_said_of_the_way_people_come_is_true_of_the_chosen_one(somebody: Somebody, tmp_path: Path) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = _set_up_page(server, somebody)
        expect(page.locator("#consent")).not_to_have_value("")
        for door, words in (
            ("open", "one internet connection"),
            ("room", "several browsers"),
            ("invitations", "Each link lets one person in."),
            ("panel", "pays them"),
        ):
            page.select_option("#door", door)
            expect(page.locator("[data-door]:visible")).to_have_count(1)
            expect(page.locator("[data-door]:visible")).to_contain_text(words)
        page.select_option("#language", "ar")
        expect(page.locator("#question")).to_have_attribute("placeholder", language("ar").said("prompt.more"))
        expect(page.locator("#of-panel")).to_contain_text(language("ar").said("consent.panel"))


def test_without_the_files_that_failed_one_can_go_on(somebody: Somebody, tmp_path: Path) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = _set_up_page(server, somebody)
        page.set_input_files("#files", photos(tmp_path / "photos", 2))
        expect(page.locator("#items-count")).to_have_text("2 items are ready.", timeout=MINUTES_MS)
        picture = encoded(drawn(2))
        page.route("**/files/third.jpg", lambda route: route.fulfill(status=422, json={"message": "It is no file."}))
        for name in ("third.jpg", "fourth.jpg"):
            (tmp_path / name).write_bytes(picture)
        page.set_input_files("#files", [tmp_path / "third.jpg", tmp_path / "fourth.jpg"])
        expect(page.locator("#items-fault")).to_have_text("third.jpg could not be sent: It is no file.")
        expect(page.locator("#send-again")).to_be_visible()
        expect(page.locator("#start-over")).to_be_visible()
        page.click("text=Go on without the rest")
        expect(page.locator("#items-count")).to_have_text("3 items are ready.", timeout=MINUTES_MS)
        expect(page.locator("#send-again")).to_be_hidden()
        expect(page.locator("#go-on")).to_be_hidden()


def test_hidden_files_are_named_and_what_an_upload_left_behind_is_said(somebody: Somebody, tmp_path: Path) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = _set_up_page(server, somebody)
        folder = tmp_path / "holiday"
        photos(folder, 3)
        (folder / "__MACOSX").mkdir()
        for name in (".hidden.jpg", "Thumbs.db", "__MACOSX/one.jpg"):
            (folder / name).write_bytes(encoded(drawn(1)))
        page.route("**/prepare", lambda route: route.abort())
        page.set_input_files("#folder", folder)
        while [len(draft.uploads.files) for draft in server.registry.drafts] != [4]:
            page.wait_for_timeout(50)
        (draft,) = server.registry.drafts
        page.goto(f"{server.url}/setup/{draft.id}")
        more = "Drop the same ones again to send the rest, or prepare what is here."
        expect(page.locator("#items-count")).to_have_text(f"4 files have arrived. {more}")
        expect(page.locator("#go-on")).to_have_text("Prepare what is here")
        look(page, "setup-10-half-way", whole=True, widths=(360, 1280))
        page.unroute("**/prepare")
        page.set_input_files("#folder", folder)
        expect(page.locator("#items-count")).to_have_text("3 items are ready.", timeout=MINUTES_MS)
        expect(page.locator("#left-count")).to_have_text("4 left out.")
        page.click("text=What was left out")
        hidden = "3 hidden or system files were passed over: "
        expect(page.locator("#left-list")).to_contain_text(hidden)
        for name in ("holiday/.hidden.jpg", "holiday/Thumbs.db", "holiday/__MACOSX/ (1 file)"):
            expect(page.locator("#left-list")).to_contain_text(name)


def test_a_number_that_could_not_be_kept_is_kept_once_it_can_be(somebody: Somebody, tmp_path: Path) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = _set_up_page(server, somebody)
        _paste(page, "one", "two")
        page.fill("#theme", "Numbers")
        page.fill("#k", "3")
        page.check("#checks")
        expect(page.locator("#kept")).to_have_text("Everything else is kept.")
        page.click("text=Start over")
        expect(page.locator("#prepared")).to_be_hidden()
        _paste(page, *(f"text {n}" for n in range(13)))
        expect(page.locator("#kept")).to_have_text("All changes are kept.")
        (draft,) = server.registry.drafts
        assert page.input_value("#k") == str(draft.settings.k) == "3"


def test_texts_are_neither_doubled_nor_lost_with_a_reply(somebody: Somebody, tmp_path: Path) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = _set_up_page(server, somebody)
        sent: list[int] = []

        def lose_the_first_reply(route: Route) -> None:
            reply = route.fetch()
            sent.append(reply.status)
            if len(sent) == 1:
                route.abort("connectionreset")
            else:
                route.fulfill(response=reply)

        page.route("**/texts", lose_the_first_reply)
        _paste(page, "one", "two", "three")
        assert sent == [200, 200]
        expect(page.locator("#left-out")).to_be_hidden()
        (draft,) = server.registry.drafts
        lines = (draft.uploads.folder / PASTED).read_text(encoding="utf-8").splitlines()
        assert [line.split(",")[1] for line in lines[1:]] == ['"one"', '"two"', '"three"']


def test_two_windows_on_one_draft_overwrite_nothing_of_each_other(somebody: Somebody, tmp_path: Path) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = _set_up_page(server, somebody)
        _paste(page, "one", "two", "three")
        for field, value in (("theme", "Numbers"), ("k", "1")):
            page.fill(f"#{field}", value)
        expect(page.locator("#kept")).to_have_text("All changes are kept.")
        other = page.context.new_page()
        other.goto(page.url)
        expect(other.locator("#theme")).to_have_value("Numbers")
        other.fill("#theme", "Small numbers")
        expect(other.locator("#kept")).to_have_text("All changes are kept.")
        page.fill("#thanks", "Thank you")
        expect(page.locator("#kept")).to_contain_text("Changed in another window, and shown here as it is now: Theme.")
        look(page, "setup-9-elsewhere", whole=True, widths=(360, 1280))
        assert page.input_value("#theme") == "Small numbers"
        (draft,) = server.registry.drafts
        assert (draft.settings.theme, draft.settings.words.thanks) == ("Small numbers", "Thank you")
        other.click("#open")
        expect(other.locator("#open-fault")).to_contain_text("Look at it, then open.")
        assert other.input_value("#thanks") == "Thank you"


def _paste(page: Page, *texts: str) -> None:
    page.click("#paste")
    page.fill("#texts", "\n".join(texts))
    page.click("text=Use these")
    page.wait_for_selector("#prepared:visible", timeout=MINUTES_MS)


def _set_up_page(server: Started, somebody: Somebody) -> Page:
    """The page that an organizer sees first, where nothing is set up yet."""
    page = somebody().new_page()
    page.goto(f"{server.url}/organize/login#{server.registry.keys.organizer}")
    page.wait_for_url("**/setup")
    return page


def _close(page: Page) -> None:
    page.click("#close")
    page.click("#closing button[value=yes]")
    page.wait_for_selector("#state[data-state=finished]")


def test_somebody_who_does_not_agree_leaves_politely_and_nothing_is_stored(somebody: Somebody, tmp_path: Path) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = _set_up_page(server, somebody)
        _paste(page, "one", "two", "three")
        page.fill("#theme", "Words")
        page.fill("#k", "1")
        page.wait_for_selector("text=All changes are kept.")
        page.click("#open")
        page.wait_for_url("**/organize/words", timeout=MINUTES_MS)
        reader = somebody().new_page()
        reader.goto(f"{server.url}/s/words")
        reader.click("#decline")
        reader.wait_for_selector("text=nothing about you was stored")
        assert server.registry.studies["words"].study.state.workers.names == []

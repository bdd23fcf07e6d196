"""The whole play in a real browser: 300 photos, words in Japanese, ten people, and a stranger who sees the result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from handful.crowd.host import Host
from handful.crowd.identity import known_worker
from handful.crowd.messages import Answer
from tests.browser.pages import WorkersPage, drop, look
from tests.browser.test_setup import _close, _set_up_page
from tests.crowd.clients import Started
from tests.crowd.pictures import drawn, encoded
from tests.crowd.test_setup_routes import empty_server

Somebody = Callable[..., BrowserContext]
MINUTES_MS = 240_000
PEOPLE, CARELESS = 10, 2
WIDTHS = (360, 1280)


def photos(folder: Path, number: int) -> list[str]:
    folder.mkdir()
    for n in range(number):
        (folder / f"photo {n}.jpg").write_bytes(encoded(drawn(n)))
    return [str(path) for path in sorted(folder.iterdir())]


class BrowsingPerson:
    """Somebody in front of a browser, who looks or does not."""

    def __init__(self, server: Started, context: BrowserContext, study: str, careless: bool) -> None:
        self.server, self.context, self.careless = server, context, careless
        self.hosted: Host = server.registry.studies[study]
        self.tab = WorkersPage.at(server, context, study)
        self.tab.page.wait_for_selector("#begin:visible")
        self.tab.join()
        self.turns = 0

    @property
    def name(self) -> str:
        (cookie,) = [one["value"] for one in self.context.cookies() if one.get("name") == "handful"]
        worker = known_worker(self.server.registry.secret, self.hosted, cookie)
        assert worker is not None
        self.worker = worker
        return worker.id

    def go_on(self) -> bool:
        """Answer what is shown, if there is anything."""
        if self.tab.page.locator("#enough:not([hidden])").count():
            self.tab.page.click("#go-on")
        if not self.tab.page.locator("#question:not([hidden])").count():
            return False
        self.tab.ready()
        self.turns += 1
        question = self.tab.question
        self.tab.page.keyboard.press("ArrowRight" if self._chooses_right() else "ArrowLeft")
        self.tab.page.wait_for_selector(
            f"#question[hidden], #cards:not([data-question='{question}'])", state="attached"
        )
        return True

    def _chooses_right(self) -> bool:
        """Who looks sees in a check the plain one, and among drawn photos prefers the one of the higher number.

        Who does not look takes the left one; so that no luck gets them through, never what a check asks for.
        """
        assert self.name
        question = self.worker.question(self.tab.question)
        assert question is not None
        if self.hosted.checks.is_check(question):
            right = self.hosted.checks.judge(self.worker, question, Answer(token="x", side="right")).right
            return right != self.careless
        if self.careless:
            return False
        item, rival = self.hosted.study.state.questions.options(int(question[1:]))
        return (item < rival) == self.worker.item_is_left(question)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore::handful.errors.SmallBudget")  # the page says so in its own words
def test_from_three_hundred_photos_to_a_result_that_a_stranger_sees(somebody: Somebody, tmp_path: Path) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        page = _set_up_page(server, somebody)
        page.set_default_timeout(MINUTES_MS)
        expect(page.locator("#consent")).not_to_have_value("")
        photos(tmp_path / "photos", 300)
        drop(page, "#drop", [str(tmp_path / "photos")])
        page.wait_for_selector("#prepared:visible")
        assert page.inner_text("#items-count") == "300 items are ready."
        told = {"theme": "大聖堂", "k": "3", "options": "2", "people": str(PEOPLE), "goal": "20"}
        for field, value in told.items():
            page.fill(f"#{field}", value)
        page.select_option("#language", "ja")
        page.check("#checks")
        page.check("#show_result")
        page.fill("#question", "どちらが大聖堂の写真集をより良くしますか？")
        page.fill("#welcome", "大聖堂の写真を三枚選びます。ご協力をお願いします。")
        page.fill("#thanks", "ご協力ありがとうございました。")
        page.wait_for_selector("text=All changes are kept.")
        page.press("#dry-run", "Enter")
        page.wait_for_selector("#dry-result:visible")
        look(page, "play-1-setup", whole=True, widths=WIDTHS)
        page.click("#open")
        page.wait_for_url("**/organize/study")
        page.wait_for_selector("#state[data-state=open]")
        hosted = server.registry.studies["study"]
        first = somebody().new_page()
        first.goto(f"{server.url}/s/study")
        first.wait_for_selector("text=大聖堂の写真を三枚選びます。")
        look(first, "play-2-welcome", widths=WIDTHS)
        people = [BrowsingPerson(server, somebody(), "study", n < CARELESS) for n in range(PEOPLE)]
        look(people[5].tab.ready().page, "play-3-question", widths=WIDTHS)
        names = [person.name for person in people]
        for turn in range(16):
            for person in people:
                person.go_on()
            if turn == 8:
                _withdraw(people[-1])
                people.pop()
                page.bring_to_front()
                look(page, "play-4-organizer", whole=True, widths=WIDTHS)
        workers = hosted.study.state.workers
        assert {name for name in names if workers.excludes(name)} == {*names[:CARELESS], names[-1]}
        assert workers.withdrew == 1
        assert workers.any_excluded_by_hand is False
        _close(page)
        look(page, "play-5-finished", whole=True, widths=WIDTHS)
        certificate = hosted.study.result().certificate
        assert "2 were excluded by it" in str(certificate), str(certificate)
        assert "1 withdrew" in str(certificate), str(certificate)
        people[4].tab.page.reload()
        people[4].tab.page.wait_for_selector("#picks li")
        look(people[4].tab.page, "play-6-summary", whole=True, widths=WIDTHS)
        page.click("#share-result")
        stranger = somebody().new_page()
        stranger.goto(page.input_value("#shared input"))
        stranger.wait_for_selector("ol.picks li")
        assert stranger.locator("ol.picks li").count() == 3
        assert stranger.locator("html").get_attribute("lang") == "ja"
        look(stranger, "play-7-shared", whole=True, widths=WIDTHS)


def _withdraw(person: BrowsingPerson) -> None:
    page = person.tab.page
    page.click("#help")
    page.click("#mine summary")
    expect(page.locator("#my-code")).not_to_have_value("")
    for _ in range(2):
        page.click("button[value=withdraw]")
    page.wait_for_selector("text=情報を削除しました")

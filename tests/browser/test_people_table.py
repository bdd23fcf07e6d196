"""The organizer's table of people: every column is there on a phone too, and sorts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from handful import Study
from handful.crowd.registry import StudyPlan
from handful.rules import GOLD, Checks, Rule
from tests.browser.pages import STUDY, look, organizers_page
from tests.crowd.clients import Started

Serve = Callable[..., Started]
Somebody = Callable[..., BrowserContext]
CHECKED = Rule(None, Checks(), (), share=1.0)
PEOPLE = 7


def many_answer(study: Study, checked: bool) -> None:
    """Seven people, who differ in everything that the table shows; the last has no time and no check."""
    for number in range(PEOPLE):
        worker, known = f"person-{number}", number < PEOPLE - 1
        for turn in range(4 + (5 * number) % 7):
            (question,) = study.ask(1, worker=worker)
            side = {"side": "left" if turn % 4 < number % 4 else "right"}
            took = 400 + 137 * ((3 * number) % 7)
            told = {**side, "ms": took} if known and not checked else side if known else None
            study.tell(question.id, True, worker, told, duration=took if known and checked else None)
        for _ in range(number % 3):
            (question,) = study.ask(1, worker=worker)
            study.skip(question.id, worker=worker)
        for turn in range(5 if checked and known else 0):
            study.check(worker, GOLD, turn < (2 * number) % 6)


def told_of(server: Started) -> list[dict[str, Any]]:
    workers: list[dict[str, Any]] = server.organizer().get(f"/api/organize/{STUDY}").json()["workers"]
    return workers


MEANT: dict[str, tuple[Callable[[dict[str, Any]], float | None], bool]] = {
    "answers": (lambda line: line["answers"], False),
    "skips": (lambda line: line["skips"], False),
    "pace": (lambda line: line["median_ms"], True),
    "checks": (lambda line: line["right"] / line["checks"] if line["checks"] else None, True),
    "sides": (lambda line: None if line["left_share"] is None else abs(line["left_share"] - 1 / 2), False),
}


def answered_by_many(serve: Serve, checked: bool) -> tuple[Started, list[dict[str, Any]]]:
    """A study that many people have answered, and what is told of each of them."""
    server = serve(StudyPlan(k=3, options=2, budget=300, in_flight=20, rule=CHECKED if checked else None))
    many_answer(server.registry.studies[STUDY].study, checked)
    return server, told_of(server)


def order_of(page: Page) -> list[str]:
    keys: list[str] = page.locator("#people tr").evaluate_all("rows => rows.map((row) => row.dataset.key)")
    return keys


@pytest.mark.parametrize("checked", [True, False])
def test_every_column_sorts_both_ways_and_what_is_unknown_comes_last(
    serve: Serve, somebody: Somebody, checked: bool
) -> None:
    server, lines = answered_by_many(serve, checked)
    page = organizers_page(server, somebody())
    expect(page.locator("#people tr")).to_have_count(PEOPLE)
    for column, (key, least) in MEANT.items():
        heading = page.locator(f"#people-table [data-sort={column}]")
        if not heading.is_visible():
            assert column == ("skips" if checked else "checks")
            continue
        values = {line["worker"]: key(line) for line in lines}
        assert len(set(values.values())) >= 3
        for up in (least, not least):
            heading.click()
            known = [values[name] for name in order_of(page) if values[name] is not None]
            assert known == sorted(known, reverse=not up), column  # type: ignore[type-var]
            assert all(values[name] is None for name in order_of(page)[len(known) :]), column
            expect(page.locator(f"th:has([data-sort={column}])")).to_have_attribute(
                "aria-sort", "ascending" if up else "descending"
            )


@pytest.mark.parametrize("checked", [True, False])
def test_on_a_phone_the_share_of_the_round_and_the_sides_are_on_a_second_line(
    serve: Serve, somebody: Somebody, checked: bool
) -> None:
    server, lines = answered_by_many(serve, checked)
    in_round = sum(line["round_answers"] for line in lines)
    page = organizers_page(server, somebody(viewport={"width": 360, "height": 640}))
    expect(page.locator("#people tr")).to_have_count(PEOPLE)
    for line in lines[:3]:
        row = page.locator(f"#people tr[data-key='{line['worker']}']")
        share = row.locator(".share-of-round")
        expect(share).to_have_text(f" {round(100 * line['round_answers'] / in_round)}%")
        places = [one.bounding_box() for one in (row.locator(".who"), share, row.locator(".sides"))]
        assert all(places)
        who, below, sides = (place or {} for place in places)
        assert below["y"] >= who["y"] + 10
        assert abs(below["y"] - sides["y"]) < 8
        for part in (".who", ".share-of-round", ".sides", "button", ".checks" if checked else ".skips"):
            expect(row.locator(part)).to_be_visible()
    expect(page.locator("th:has([data-sort=answers])")).to_have_attribute(
        "title", "In all; in small, the share of the answers for pick 1"
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    look(page, f"organizer-people-{'checked' if checked else 'unchecked'}", whole=True, widths=(360, 1280))

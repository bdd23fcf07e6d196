"""The organizer is told before the start what the people who come will buy, and while it runs where it leads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from handful.cli.crowd import print_plan
from handful.crowd.collection import Collection
from handful.crowd.plan import ExpectedPeople, expected_in, quality_of
from handful.crowd.registry import StudyPlan, open_registry
from handful.crowd.settings import ServerLimits, Settings
from handful.crowd.statistics import MOST_STEPS, AnswerTimeline
from handful.pricing import Bought, bought
from tests.crowd.clients import STUDY, Started
from tests.study.worlds import Clock

Serve = Callable[..., Started]
HERE = f"/api/organize/{STUDY}"
QUICK = Settings(undo_s=0, redo_s=0, limits=ServerLimits.none())


def test_the_budget_is_what_the_people_who_come_give_together() -> None:
    expected = ExpectedPeople(100, 30)
    assert StudyPlan(expected=expected).answers(200, solo=False) == 3000
    assert StudyPlan(expected=expected, budget=500).answers(200, solo=False) == 500


def test_who_will_come_is_kept_in_the_journal(collection: Collection, tmp_path: Path) -> None:
    plan = StudyPlan(k=2, options=2, expected=ExpectedPeople(7, 5))
    open_registry(tmp_path / "a.db", collection, ("Cathedrals in Venice",), plan).close()
    registry = open_registry(tmp_path / "a.db", collection, ())
    hosted = registry.studies[STUDY]
    assert hosted.expected == ExpectedPeople(7, 5)
    assert hosted.progress().budget == 35
    registry.close()
    assert expected_in({"people": 0, "answers_each": 3}) is None
    assert expected_in("many") is None


def test_more_answers_buy_more_and_few_say_how_many_more_people_it_takes() -> None:
    few, many = bought(20, 3, 40, 4), bought(20, 3, 600, 4)
    assert few.quality < many.quality
    assert many.suffices
    assert not few.suffices
    assert few.enough is not None
    more = -(-few.enough * 4 // 40) - 4
    assert f"{more} more people." in few.words(4)
    assert "more people" not in many.words(4)
    planned_otherwise = Bought(80, 6, 1_000, 0.9, 0.8, 0.95, 2_472, 32)  # by --budget, where 8 people give 30 each
    assert "2,472 answers: 75 more people." in planned_otherwise.words(8, 30)


def test_what_is_said_to_be_enough_is_enough_or_nearly() -> None:
    few = bought(20, 3, 60, 4)
    assert few.enough is not None
    assert bought(20, 3, few.enough, 4).quality == pytest.approx(0.95, abs=0.035)


def test_where_far_more_are_needed_it_says_more_than_how_many() -> None:
    far = Bought(200, 6, 400, 0.7, 0.6, 0.8, None, 32)
    assert "95% takes more than 3,200 answers: more than 140 more people. Or choose from fewer" in far.words(20)
    assert "95% takes more than 3,200 answers. Or choose from fewer" in far.words()


def test_the_terminal_says_what_a_plan_buys_on_one_line(
    collection: Collection, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    print_plan(StudyPlan(k=2, options=2, expected=ExpectedPeople(3, 2)), collection)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("In simulation, ")
    assert len(lines[1]) > 160


def test_shares_are_rounded_away_from_what_they_would_promise() -> None:
    said = Bought(200, 6, 3000, 0.9599, 0.9399, 0.9701, 3000, 12).words(100)
    assert "about 95% as well" in said
    assert "93% to 98%" in said


def test_more_answers_than_can_be_simulated_are_not(collection: Collection) -> None:
    assert quality_of(StudyPlan(k=2, budget=10_000_000), collection) is None


def person_who_gives(server: Started, answers: int) -> None:
    person = server.person()
    for _ in range(answers):
        person.answer()


def test_the_page_says_whether_the_study_is_on_course(serve: Serve) -> None:
    clock = Clock()
    plan = StudyPlan(k=3, options=2, in_flight=20, expected=ExpectedPeople(30, 8))
    server = serve(plan, QUICK, clock=clock)
    organizer = server.organizer()
    course = organizer.get(HERE).json()["course"]
    assert course["on_course"] is None
    assert course["words"].startswith("Nobody has answered yet: 30 people with 8 answers each")
    for _ in range(3):
        person_who_gives(server, 8)
    clock.now += 60
    course = organizer.get(HERE).json()["course"]
    assert course["on_course"] is True
    assert course["words"] == "On course: 3 of 30 expected came, 8 answers each. That leads to all 240 answers."
    assert course["leads_to"] == 240
    assert course["ends"] is not None
    assert course["timeline"][-1][1] == 24


def test_the_page_says_how_many_more_people_would_make_up_for_those_who_left_early(serve: Serve) -> None:
    clock = Clock()
    server = serve(StudyPlan(k=3, options=2, in_flight=20, expected=ExpectedPeople(10, 8)), QUICK, clock=clock)
    organizer = server.organizer()
    for _ in range(4):
        person_who_gives(server, 4)
    assert organizer.get(HERE).json()["course"]["on_course"] is True, "they may go on"
    clock.now += 3600
    course = organizer.get(HERE).json()["course"]
    assert course["on_course"] is False
    assert course["words"] == (
        "Behind: 4 of 10 expected came, 4 answers each. At this rate it ends with 40 of 80 answers; "
        "10 more people would make up for it."
    )
    assert course["ends"] is None, "nobody answered of late"


def test_nothing_is_foretold_where_nobody_is_left_to_answer(serve: Serve) -> None:
    clock = Clock()
    server = serve(StudyPlan(k=3, options=2, in_flight=20, budget=60), replace(QUICK, goal=8), clock=clock)
    organizer = server.organizer()
    person_who_gives(server, 7)
    clock.now += 10
    assert organizer.get(HERE).json()["course"]["ends"] is not None
    person_who_gives(server, 8)
    assert organizer.get(HERE).json()["course"]["words"] == "45 answers to go."
    server = serve(StudyPlan(k=3, options=2, in_flight=20, budget=60), replace(QUICK, goal=8), clock=clock)
    person_who_gives(server, 8)
    clock.now += 10
    course = server.organizer().get(HERE).json()["course"]
    assert course["ends"] is None
    assert course["words"] == (
        "52 answers to go. Everybody who came has given what they were asked for: more people are needed."
    )


def test_nothing_is_foretold_from_the_first_answers_nor_expected_of_those_who_withdrew(serve: Serve) -> None:
    clock = Clock()
    server = serve(StudyPlan(k=3, options=2, in_flight=20, expected=ExpectedPeople(4, 30)), QUICK, clock=clock)
    organizer = server.organizer()
    person_who_gives(server, 3)
    course = organizer.get(HERE).json()["course"]
    assert (course["on_course"], course["ends"]) == (None, None)
    assert course["words"] == "1 of 4 expected came, 3 answers so far. It is too early to tell where that leads."
    for answers in (5, 3, 6, 6):
        person_who_gives(server, answers)
    clock.now += 1
    course = organizer.get(HERE).json()["course"]
    assert course["words"] == "On course: 5 people came, 23 answers so far. That leads to all 120 answers."
    assert course["ends"] is not None
    for name in server.registry.studies[STUDY].study.state.workers.names[1:3]:
        organizer.post(f"{HERE}/leave", json={"worker": name})
    course = organizer.get(HERE).json()["course"]
    assert course["words"].startswith("Behind: 5 people came, 23 answers so far. At this rate it ends with 98 of 120")
    clock.now += 300
    assert organizer.get(HERE).json()["course"]["ends"] is None, "nobody is here"


def test_people_who_are_excluded_at_once_say_nothing_of_the_others(serve: Serve) -> None:
    server = serve(StudyPlan(k=3, options=2, in_flight=20, expected=ExpectedPeople(20, 6)), QUICK, clock=Clock())
    organizer = server.organizer()
    for answers in (1, 1, 1, 6, 6):
        person_who_gives(server, answers)
    for name in server.registry.studies[STUDY].study.state.workers.names[:3]:
        organizer.post(f"{HERE}/exclude", json={"worker": name, "reason": "a bot"})
    course = organizer.get(HERE).json()["course"]
    assert course["words"].startswith("Behind: 5 of 20 expected came, 15 answers so far. ")
    assert course["leads_to"] == 105, "all others give what is expected"


def test_without_a_plan_the_page_says_what_is_left(serve: Serve) -> None:
    server = serve(StudyPlan(k=3, options=2, budget=60, in_flight=20), QUICK)
    person_who_gives(server, 2)
    course = server.organizer().get(HERE).json()["course"]
    assert course["on_course"] is None
    assert course["words"] == "58 answers to go."


def test_a_long_study_has_few_steps_and_no_answer_is_lost() -> None:
    timeline = AnswerTimeline()
    for second in range(0, 100_000, 7):
        timeline.note(float(second))
    points = timeline.points()
    assert len(points) <= MOST_STEPS + 3
    assert points[-1] == (99_995.0, 14_286)
    assert points == sorted(points)
    assert timeline.since(0.0) == 14_286

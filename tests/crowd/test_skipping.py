"""Skipping costs nobody anything; who skips one question after another waits a little for the next."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from handful.crowd.registry import StudyPlan
from handful.crowd.session import pause_after
from handful.events import Skipped
from handful.rules import Admission, Rule
from tests.crowd.clients import STUDY, Person, Started
from tests.crowd.test_people import OFTEN
from tests.crowd.test_worker_routes import Clock

Serve = Callable[..., Started]
MANY = StudyPlan(k=3, explorer="topx", budget=400, in_flight=100)


def skip(person: Person, reason: str = "unsure") -> dict[str, object]:
    """Skip the question at hand; what comes then."""
    person.work = person.post("skip", {"token": person.token, "reason": reason}).json()
    return person.work


def skip_patiently(person: Person, clock: Clock, times: int) -> list[float]:
    """Skip so often and wait as long as is asked each time; gives these times."""
    waits = []
    for _ in range(times):
        skip(person)
        waits.append(person.work["wait_s"])
        clock.now += person.work["wait_s"] + 0.01
        person.next()
    return waits


def test_after_ten_skips_in_a_row_the_next_question_comes_after_a_pause_that_grows(serve: Serve) -> None:
    clock = Clock()
    person = serve(MANY, OFTEN, clock=clock).person()
    waits = skip_patiently(person, clock, 16)
    assert waits == pytest.approx([0] * 9 + [1, 2, 4, 8, 10, 10, 10])


def test_nothing_is_shown_during_the_pause_whoever_asks_and_all_of_it_after(serve: Serve) -> None:
    clock = Clock()
    person = serve(MANY, OFTEN, clock=clock).person()
    for _ in range(10):
        held = [question["token"] for question in person.work["questions"]]
        skip(person)
    assert (person.work["state"], person.work["questions"]) == ("waiting", [])
    assert person.next()["questions"] == []
    clock.now += 0.5
    assert person.next()["wait_s"] == pytest.approx(0.5)
    clock.now += 0.6
    assert person.next()["state"] == "questions"
    assert person.work["wait_s"] == 0
    assert held[0] != person.token


def test_an_answer_ends_the_row(serve: Serve) -> None:
    clock = Clock()
    person = serve(MANY, OFTEN, clock=clock).person()
    skip_patiently(person, clock, 12)
    person.answer()
    assert skip_patiently(person, clock, 9) == [0] * 9


def test_who_does_not_want_to_see_something_never_waits(serve: Serve) -> None:
    person = serve(MANY, OFTEN).person()
    for _ in range(25):
        skip(person, "unsuitable")
        assert person.work["wait_s"] == 0
        assert person.next()["questions"]


def test_skipping_the_same_question_again_counts_once(serve: Serve) -> None:
    person = serve(MANY, OFTEN).person()
    token = person.token
    for _ in range(15):
        person.work = person.post("skip", {"token": token, "reason": "unsure"}).json()
    assert person.work["state"] == "questions"


def test_skipping_lowers_nobodys_standing(serve: Serve) -> None:
    clock = Clock()
    server = serve(
        StudyPlan(k=3, explorer="topx", budget=400, in_flight=100, rule=Rule(None, None, ())), OFTEN, clock=clock
    )
    person, study = server.person(), server.registry.studies[STUDY].study
    skip_patiently(person, clock, 30)
    assert sum(isinstance(event, Skipped) for _, event in study.journal()) == 30
    assert person.answer()["progress"]["answered"] == 1
    assert study.state.workers.excluded == []
    assert study.status().answers == 1


def test_checks_that_are_skipped_pause_like_questions(serve: Serve) -> None:
    clock = Clock()
    rule = Rule(admission=Admission(practice=0, checks=4, right_at_least=3))
    person = serve(StudyPlan(k=3, explorer="topx", budget=400, in_flight=100, rule=rule), OFTEN, clock=clock).person()
    assert skip_patiently(person, clock, 12) == pytest.approx([0] * 9 + [1, 2, 4])


def test_the_pause_is_none_before_ten_skips_and_ten_seconds_at_most() -> None:
    assert [pause_after(skips) for skips in (0, 9, 10, 13, 14, 10_000)] == [0, 0, 1, 8, 10, 10]

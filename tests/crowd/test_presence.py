"""Somebody closes the page with a question in hand."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from handful import Study
from handful.crowd.registry import StudyPlan
from handful.crowd.session import BACK_WITHIN_S, Sessions
from handful.crowd.settings import Settings
from handful.events import Expired, Skipped
from tests.crowd.clients import PATIENCE_S, STUDY, Person, Started
from tests.crowd.test_worker_routes import Clock, told

Serve = Callable[..., Started]
ONE = StudyPlan(k=3, explorer="topx", budget=60, in_flight=1, lease_s=60)
SOON = BACK_WITHIN_S + 0.1


@contextmanager
def page_of(person: Person, *, present: bool = True) -> Iterator[None]:
    """The stream of an open page."""
    with person.http.stream("GET", f"/api/s/{STUDY}/events", params={"present": present}) as stream:
        lines = stream.iter_lines()  # without this name the stream is closed as soon as the first event is read
        assert any(line.startswith("event:") for line in lines)
        yield


def noticed(server: Started, still_open: int = 0) -> None:
    """Wait until the server knows that so many streams are open, and no more."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if len(server.limits.streams) == still_open:
            return
        time.sleep(0.02)
    raise AssertionError(f"{len(server.limits.streams)} streams are open, not {still_open}")


def closed_page(server: Started, person: Person, **options: bool) -> None:
    with page_of(person, **options):
        noticed(server, 1)
    noticed(server)


def held(server: Started) -> int:
    """How many questions somebody holds, once the server has looked."""
    hosted = server.registry.studies[STUDY]
    hosted.tick()
    leases = hosted.study.state.leases
    return sum(leases.holder(question)[0] for question in leases.numbers())


def test_what_somebody_held_who_left_goes_to_whoever_waits(serve: Serve, tmp_path: Path) -> None:
    clock, storage = Clock(), tmp_path / "a.db"
    server = serve(ONE, clock=clock, storage=storage)
    gone, waiting = server.person(), server.person()
    assert waiting.work["state"] == "waiting"
    closed_page(server, gone)
    assert held(server) == 1
    with waiting.http.stream("GET", f"/api/s/{STUDY}/events", timeout=30) as stream:
        names = (line for line in stream.iter_lines() if line.startswith("event:"))
        assert next(names) == "event: work"
        time.sleep(1)  # whatever else has happened is told by now
        clock.now += SOON
        assert next(names) == "event: work"
    assert waiting.next()["state"] == "questions"
    organizer = server.organizer()
    assert sum(line["skips"] for line in organizer.get(f"/api/organize/{STUDY}").json()["workers"]) == 0
    waiting.answer("left")
    late = gone.post("answer", {"token": gone.token, "side": "left"}).json()
    assert late["answer"]["repeated"]
    assert len(told(server)) == 1
    journal = [event for _, event in server.registry.studies[STUDY].study.journal()]
    assert [event for event in journal if isinstance(event, Expired | Skipped)] == [Expired((0,))]
    with Study.open(storage, STUDY, read_only=True) as again:
        assert again.mismatches.count == 0
        assert again.state.leases.numbers() == server.registry.studies[STUDY].study.state.leases.numbers()


def test_an_answer_of_somebody_who_left_counts_when_nobody_was_faster(serve: Serve) -> None:
    clock = Clock()
    server = serve(ONE, clock=clock)
    person = server.person()
    closed_page(server, person)
    clock.now += SOON
    assert held(server) == 0
    assert not person.answer()["answer"]["repeated"]


def test_a_reload_a_second_tab_and_a_last_request_keep_the_question(serve: Serve) -> None:
    clock = Clock()
    server = serve(ONE, clock=clock)
    person, question = server.person(), None
    with page_of(person), ExitStack() as reloaded:
        with page_of(person):
            question = person.token
            noticed(server, 2)
        noticed(server, 1)
        clock.now += SOON  # the other tab is still open
        assert held(server) == 1
        reloaded.enter_context(page_of(person))
        noticed(server, 2)
    noticed(server)
    clock.now += BACK_WITHIN_S - 1
    person.next()
    clock.now += BACK_WITHIN_S - 1
    assert held(server) == 1
    assert person.next()["questions"][0]["token"] == question
    clock.now += SOON
    assert held(server) == 0


@pytest.mark.parametrize("present", [None, False])
def test_whoever_never_said_that_a_page_is_open_keeps_questions_as_long_as_ever(
    serve: Serve, present: bool | None
) -> None:
    clock = Clock()
    server = serve(ONE, clock=clock)
    person = server.person()
    if present is not None:
        closed_page(server, person, present=present)
    clock.now += 50
    assert held(server) == 1


def test_alone_there_is_nobody_to_pass_a_question_to(serve: Serve) -> None:
    clock = Clock()
    server = serve(ONE, Settings(goal=None, consent=None, solo=True), clock=clock)
    person = server.person()
    before = held(server)
    closed_page(server, person)
    clock.now += SOON
    assert held(server) == before > 0


def test_alone_in_another_browser_one_gets_what_the_first_still_holds(serve: Serve) -> None:
    plan = StudyPlan(k=3, options=2, budget=60, in_flight=2)
    server = serve(plan, Settings(goal=None, consent=None, solo=True), clock=Clock())
    first = server.person()
    assert held(server) == len(first.work["questions"]) == 2
    second = server.person()
    assert second.next()["state"] == "questions", "no lease has to run out"
    second.answer()


def test_a_stream_without_a_cookie_says_nothing_of_anybody(serve: Serve) -> None:
    clock = Clock()
    server = serve(ONE, clock=clock)
    server.person()
    closed_page(server, Person(server.browser(), joined=False))
    clock.now += SOON
    assert held(server) == 1


def test_three_who_leave_do_not_void_a_question() -> None:
    from handful import Preferences

    study = Study(range(4), 1, feedback=Preferences(), explorer="topx", budget=20)
    (first,) = study.ask(1, "w0")
    for number in range(4):
        assert study.let_go(f"w{number}") == 1
        assert study.ask(1, f"w{number + 1}") == [first]
    assert study.let_go("w0") == 0


def test_pages_are_counted_and_everybody_is_gone_once() -> None:
    pages = Sessions()
    pages.opened("a")
    pages.opened("a")
    pages.closed("a", 0.0)
    assert pages.gone(100.0) == []
    pages.closed("a", 100.0)
    pages.seen("a", 103.0)
    pages.seen("b", 103.0)
    assert pages.gone(107.9) == []
    assert pages.gone(108.0) == ["a"]
    assert pages.gone(200.0) == []

"""A server on a machine whose clock jumps."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from handful.crowd.registry import StudyPlan
from handful.crowd.settings import Settings
from handful.journal import SteadyClock
from tests.crowd.clients import STUDY, Started
from tests.study.test_clock import DAY, HOUR, Machine

Serve = Callable[..., Started]
ONE = StudyPlan(k=3, explorer="topx", budget=60, in_flight=1, lease_s=60)


@pytest.mark.parametrize("jump", [-HOUR, DAY])
def test_nobody_notices_that_the_clock_jumped(serve: Serve, jump: float) -> None:
    machine = Machine()
    clock = SteadyClock(machine.wall, machine.elapsed)
    server = serve(ONE, clock=clock)
    organizer, ann, bob = server.organizer(), server.person(), server.person()
    ann.answer()
    held = ann.token
    machine.set_by += jump
    server.registry.studies[STUDY].tick()
    ann.next()
    assert ann.token == held
    assert bob.next()["questions"] == []
    assert organizer.get(f"/api/organize/{STUDY}").json()["active_workers"] == 1
    machine.passed += 61
    server.registry.studies[STUDY].tick()
    assert bob.next()["questions"] != []
    assert organizer.get(f"/api/organize/{STUDY}").status_code == 200


@pytest.mark.parametrize("jump", [-HOUR, DAY])
def test_an_answer_can_be_undone_for_as_long_as_was_said(serve: Serve, jump: float) -> None:
    machine = Machine()
    server = serve(settings=Settings(undo_s=5, redo_s=5), clock=SteadyClock(machine.wall, machine.elapsed))
    ann = server.person()
    ann.answer()
    machine.set_by += jump
    assert ann.next()["undo"]["seconds"] == 5.0
    machine.passed += 6
    assert ann.next()["undo"] is None

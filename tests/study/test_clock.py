"""The machine's clock may jump; who holds which question, and for how long, does not change by it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from handful import Preferences, Study
from handful.journal import SteadyClock

HOUR, DAY = 3600.0, 86_400.0


class Machine:
    """A clock on the wall that can be set, and the seconds that pass."""

    def __init__(self) -> None:
        self.passed = 0.0
        self.set_by = 1_700_000_000.0

    def wall(self) -> float:
        return self.set_by + self.passed

    def elapsed(self) -> float:
        return self.passed


def begun(clock: Callable[[], float], storage: Path | None = None) -> Study[str]:
    study = Study(["a", "b", "c", "d"], 2, feedback=Preferences(), budget=60, lease_s=60, storage=storage, clock=clock)
    study.ask(1, "ann")
    return study


def free_after_a_minute(study: Study[str], machine: Machine) -> tuple[bool, bool]:
    """Whether the question that ann holds goes to bob at once, and whether it does after a minute."""
    early = study.ask(1, "bob")
    machine.passed += 61
    late = study.ask(1, "bob")
    return bool(early), bool(late)


@pytest.mark.parametrize("jump", [-HOUR, DAY, 0.0])
def test_a_jump_of_the_clock_neither_ends_nor_prolongs_a_lease(jump: float) -> None:
    machine = Machine()
    study = begun(SteadyClock(machine.wall, machine.elapsed))
    machine.set_by += jump
    assert free_after_a_minute(study, machine) == (False, True)


@pytest.mark.parametrize(("jump", "wrong"), [(-HOUR, (False, False)), (DAY, (True, True))])
def test_a_clock_that_jumps_would_do_both(jump: float, wrong: tuple[bool, bool]) -> None:
    machine = Machine()
    study = begun(machine.wall)
    machine.set_by += jump
    assert free_after_a_minute(study, machine) == wrong


@pytest.mark.parametrize("jump", [-HOUR, -DAY])
def test_a_clock_set_back_between_two_starts_prolongs_no_lease(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: float
) -> None:
    machine = Machine()
    file = tmp_path / "study.db"
    begun(machine.wall, file).close()
    machine.set_by += jump
    monkeypatch.setattr(SteadyClock.__init__, "__defaults__", (machine.wall, machine.elapsed, float("-inf")))
    with Study.open(file) as study:
        assert free_after_a_minute(study, machine) == (False, True)
        times = [time for time, _ in study.journal()]
    assert times == sorted(times)


def test_a_pause_between_two_starts_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine()
    file = tmp_path / "study.db"
    begun(machine.wall, file).close()
    machine.passed += 61
    monkeypatch.setattr(SteadyClock.__init__, "__defaults__", (machine.wall, machine.elapsed, float("-inf")))
    with Study.open(file) as study:
        assert study.ask(1, "bob")


def test_a_jump_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    machine = Machine()
    clock = SteadyClock(machine.wall, machine.elapsed)
    with caplog.at_level(logging.WARNING, logger="handful.study"):
        machine.set_by += DAY
        assert [clock() for _ in range(3)] == [1_700_000_000.0] * 3
        assert len(caplog.records) == 1
        machine.set_by += 1.0  # a clock that is kept right
        clock()
        assert len(caplog.records) == 1

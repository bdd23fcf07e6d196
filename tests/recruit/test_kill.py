"""Kill -9 between every two calls and writes: everybody is paid once, and the ledger equals the platform's books."""

from __future__ import annotations

import multiprocessing
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handful import Preferences, Study
from handful.recruit.ledger import Store
from handful.recruit.payroll import BONUS_GRACE_S, Payroll, begin_on_prolific
from handful.recruit.prolific import ProlificClient
from tests.fakes.prolific import FakePlatform, FakeProlific
from tests.recruit import killing
from tests.recruit.arrivals import pasted
from tests.recruit.conftest import ADDRESS, PLAN
from tests.recruit.killing import BONUS, STUDY

context = multiprocessing.get_context("forkserver")
context.set_forkserver_preload(["tests.recruit.killing"])

EVERY = 13
"""In the quick run, one point in so many; the slow run takes all."""


class World:
    """A fake Prolific, a database, and a clock that both read."""

    def __init__(self, folder: Path, empty: Path) -> None:
        self.later = 0.0
        self.storage = folder / "venice.db"
        shutil.copy(empty, self.storage)
        self.fake = FakeProlific(FakePlatform(clock=lambda: time.time() + self.later))

    def attempt(self, kill_at: int | None = None) -> int | None:
        """Pay everybody in a process of its own; how many points it passed, or None if it was killed."""
        told: dict[str, Any] = {
            "storage": str(self.storage),
            "url": self.fake.url,
            "token": self.fake.token,
            "later": self.later,
            "sessions": [(s.participant, s.id) for s in self.fake.platform.submissions.values()],
        }
        here, there = context.Pipe()
        process = context.Process(target=killing.run, args=(told, kill_at, there))
        process.start()
        there.close()
        process.join()
        assert process.exitcode == (0 if kill_at is None else -9)
        return here.recv() if kill_at is None else None

    @property
    def payroll(self) -> Payroll:
        store = Store(self.storage, lambda: time.time() + self.later)
        return Payroll(store, STUDY, ProlificClient(self.fake.token, self.fake.url))

    def people_come(self) -> None:
        """Four take a place over there and are back, with a code or without."""
        store = Store(self.storage)
        made = begin_on_prolific(store, STUDY, ADDRESS, PLAN)
        study = self.fake.platform.publish(pasted(made, places=4))
        store.keep(replace(made, platform_id=study.id))
        for _ in range(4):
            there = self.fake.platform.take_place(study.id)
            assert there is not None
            self.fake.platform.come_back(there, None)

    def finish(self) -> None:
        """Come back after the crash, and wait until what is unknown is known; the organizer decides what must be."""
        self.later += 2 * BONUS_GRACE_S
        self.payroll.reconcile()
        for entry in self.payroll.open_entries("bonus"):
            shown = any(one.bonuses for one in self.fake.platform.submissions.values())
            self.payroll.decide_bonus(entry.number, paid=shown)
        self.attempt()
        self.later += 2 * BONUS_GRACE_S
        self.payroll.reconcile(decided=True)

    def check_paid(self) -> None:
        """Everybody approved once, at most one bonus each, and the ledger as the platform's books."""
        platform, entries = self.fake.platform, self.payroll.store.entries(STUDY)
        assert [entry for entry in entries if entry.unknown] == []
        books = {kind: [p.cents for p in platform.books if p.kind == kind] for kind in ("approve", "bonus")}
        ledger = {kind: [e.cents for e in entries if e.kind == kind and e.outcome == "done"] for kind in books}
        assert books == ledger
        assert books["approve"] == 4 * [PLAN.reward]
        assert books["bonus"] in ([], 2 * [BONUS])
        assert all(len(one.bonuses) <= 1 for one in platform.submissions.values())
        assert {one.status for one in platform.submissions.values()} == {"APPROVED"}
        (study,) = platform.studies.values()
        assert study.status == "COMPLETED"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("empty") / "venice.db"
    Study(range(6), 2, feedback=Preferences(), budget=200, storage=path, name=STUDY).close()
    return path


def killed_everywhere(tmp_path: Path, empty: Path, every: int) -> int:
    """Kill at every point, or at one in so many; how many points there were."""
    points, number = None, -1
    while points is None or number < points:
        folder = tmp_path / str(number)
        folder.mkdir()
        world = World(folder, empty)
        with world.fake:
            world.people_come()
            if points is None:
                points = world.attempt()
                assert points is not None
                assert points > 20
            else:
                world.attempt(number)
            world.finish()
            world.check_paid()
        number += 1 if every == 1 or number < 0 else every
    return points


def test_a_process_killed_here_and_there_pays_everybody_once(tmp_path: Path, empty: Path) -> None:
    killed_everywhere(tmp_path, empty, EVERY)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_process_killed_between_any_two_calls_pays_everybody_once(tmp_path: Path, empty: Path) -> None:
    print(f"killed at {killed_everywhere(tmp_path, empty, 1)} points")

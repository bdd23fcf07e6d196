"""Kill -9 between every two calls and writes: everybody is paid once, and the ledger equals the platform's books."""

from __future__ import annotations

import multiprocessing
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from handful import Preferences, Study
from handful.recruit.fake import FakePlatform, FakeProlific
from handful.recruit.prolific import paying
from handful.recruit.prolific.client import ProlificClient
from handful.recruit.prolific.reconciling import BONUS_GRACE_S, reconcile
from handful.recruit.prolific.recruiter import Recruiter
from handful.recruit.store import Store
from tests.recruit import killing
from tests.recruit.killing import BONUS, PLAN, STUDY

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

    def attempt(self, part: str, kill_at: int | None = None) -> int | None:
        """Run a part in a process of its own; how many points it passed, or None if it was killed."""
        told: dict[str, Any] = {
            "storage": str(self.storage),
            "url": self.fake.url,
            "token": self.fake.token,
            "later": self.later,
            "part": part,
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
    def recruiter(self) -> Recruiter:
        store = Store(self.storage, lambda: time.time() + self.later)
        return Recruiter(store, STUDY, ProlificClient(self.fake.token, self.fake.url))

    def finish(self, part: str) -> None:
        """Come back after the crash, and wait until what is unknown is known; the organizer decides what must be."""
        self.later += 2 * BONUS_GRACE_S
        for entry in self.recruiter.open_entries("bonus"):
            reconcile(self.recruiter)
            if self.recruiter.open_entries("bonus"):
                shown = any(one.bonuses for one in self.fake.platform.submissions.values())
                paying.decide_bonus(self.recruiter, entry.number, paid=shown)
        self.attempt(part)
        self.later += 2 * BONUS_GRACE_S
        reconcile(self.recruiter, decided=part == "go on")

    def people_come(self) -> None:
        (study,) = self.fake.platform.studies
        for _ in range(PLAN.start_with):
            assert self.fake.platform.take_place(study) is not None

    def check_begun(self) -> None:
        """One draft, published once, with the money locked once."""
        (study,) = self.fake.platform.studies.values()
        assert study.status == "ACTIVE"
        entries = self.recruiter.store.entries(STUDY)
        done = [entry.cents for entry in entries if entry.outcome == "done"]
        assert [entry for entry in entries if entry.unknown] == []
        assert sum(done) == 1_000_000 - self.fake.platform.workspace.balance == self.recruiter.cost().first

    def check_paid(self) -> None:
        """Each finisher approved once, one screen-out, at most one bonus, and the ledger as the platform's books."""
        platform, entries = self.fake.platform, self.recruiter.store.entries(STUDY)
        assert [entry for entry in entries if entry.unknown] == []
        books = {
            kind: [p.cents for p in platform.books if p.kind == kind] for kind in ("approve", "screen_out", "bonus")
        }
        ledger = {kind: [e.cents for e in entries if e.kind == kind and e.outcome == "done"] for kind in books}
        assert books == ledger
        assert books["approve"] == 3 * [PLAN.reward]
        assert books["screen_out"] == [30]
        assert books["bonus"] in ([], [BONUS])
        assert sorted(one.status for one in platform.submissions.values()) == [*3 * ["APPROVED"], "SCREENED OUT"]
        (study,) = platform.studies.values()
        assert study.status == "COMPLETED"
        locked = sum(e.cents for e in entries if e.kind in ("publish", "places") and e.outcome == "done")
        assert locked == 1_000_000 - platform.workspace.balance


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("empty") / "venice.db"
    Study(range(6), 2, feedback=Preferences(), budget=200, storage=path, name=STUDY).close()
    return path


def killed_everywhere(tmp_path: Path, empty: Path, every: int) -> tuple[int, int]:
    """Kill at every point of both parts; how many points there were."""
    counted = []
    for part in ("begin", "go on"):
        points = None
        number = -1
        while points is None or number < points:
            folder = tmp_path / f"{part} {number}"
            folder.mkdir()
            world = World(folder, empty)
            with world.fake:
                if part == "go on":
                    world.attempt("begin")
                    world.people_come()
                if points is None:
                    points = world.attempt(part)
                    assert points is not None
                    counted.append(points)
                    assert points > 20
                else:
                    world.attempt(part, number)
                world.finish(part)
                world.check_begun() if part == "begin" else world.check_paid()
            number += 1 if every == 1 or number < 0 else every
    return counted[0], counted[1]


def test_a_process_killed_here_and_there_pays_everybody_once(tmp_path: Path, empty: Path) -> None:
    killed_everywhere(tmp_path, empty, EVERY)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_process_killed_between_any_two_calls_pays_everybody_once(tmp_path: Path, empty: Path) -> None:
    begin, paying = killed_everywhere(tmp_path, empty, 1)
    print(f"killed at {begin} + {paying} points")

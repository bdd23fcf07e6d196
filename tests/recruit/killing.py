"""A process that recruits and kills itself at a given point: between any two calls and writes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection

from handful.recruit.outcomes import Identity, Outcome
from handful.recruit.plan import Plan
from handful.recruit.prolific import paying
from handful.recruit.prolific.client import ProlificClient
from handful.recruit.prolific.reconciling import reconcile
from handful.recruit.prolific.recruiter import Recruiter
from handful.recruit.store import Store

STUDY = "venice"
PLAN = Plan(people=8, answers_each=10, checks=2, first_places=4)
ADDRESS = "https://photos.example.org/s/venice"
BONUS = 150


class Points:
    """Counts the moments between two calls or writes, and ends the process at one of them as kill -9 would."""

    def __init__(self, kill_at: int | None) -> None:
        self.kill_at, self.passed = kill_at, 0

    def pass_one(self) -> None:
        if self.passed == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.passed += 1


def recruiter_at(storage: str, url: str, token: str, later: float, points: Points) -> Recruiter:
    """A recruiter whose every write and call is preceded by a point."""

    class WatchedStore(Store):
        @contextmanager
        def _writing(self) -> Iterator[Connection]:
            points.pass_one()
            with super()._writing() as connection:
                yield connection

    class WatchedClient(ProlificClient):
        def _exchange(self, what: str, method: str, path: str, said: object) -> tuple[int, bytes]:
            points.pass_one()
            found = super()._exchange(what, method, path, said)
            if method != "GET":
                points.pass_one()  # it was done, and whoever asked for it will not know
            return found

    return Recruiter(WatchedStore(storage, lambda: time.time() + later), STUDY, WatchedClient(token, url, 10.0))


def begin(recruiter: Recruiter) -> None:
    """From nothing to a study on Prolific."""
    found = recruiter.store.recruitment(STUDY)
    if found is None or found.platform_id is None:
        recruiter.create(ADDRESS, PLAN, name="Photos", description="?", screen_out=30)
    reconcile(recruiter)
    if not recruiter.open_entries("publish"):
        recruiter.publish(recruiter.cost().first)


def go_on(recruiter: Recruiter, sessions: list[tuple[str, str]]) -> None:
    """Three finish and one is not admitted; all are paid, one gets a bonus; the study is decided and stopped."""
    people = []
    for participant, session in sessions:
        person, _ = recruiter.store.arrive(STUDY, Identity(participant, session), True, status="ACTIVE")
        assert person is not None
        people.append(person)
    outcomes: list[Outcome] = ["finished", "finished", "finished", "not_admitted"]
    for person, outcome in zip(people, outcomes, strict=True):
        recruiter.store.change(STUDY, person.pseudonym, outcome=outcome)
    reconcile(recruiter)
    if not any(entry.kind == "bonus" for entry in recruiter.store.entries(STUDY)):
        paying.promise_bonus(recruiter, people[0].pseudonym, BONUS)
    reconcile(recruiter)
    reconcile(recruiter, decided=True)
    recruiter.stop()
    reconcile(recruiter, decided=True)


def run(told: dict[str, Any], kill_at: int | None, done: Any) -> None:
    """In a process of its own: do a part of the work, die at a point, or tell how many points there were."""
    points = Points(kill_at)
    recruiter = recruiter_at(told["storage"], told["url"], told["token"], told["later"], points)
    if told["part"] == "begin":
        begin(recruiter)
    else:
        go_on(recruiter, told["sessions"])
    done.send(points.passed)

"""A process that pays people and kills itself at a given point: between any two calls and writes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from sqlalchemy import Connection

from handful.recruit.ledger import Store
from handful.recruit.panel import Identity, Outcome
from handful.recruit.payroll import Payroll
from handful.recruit.prolific import ProlificClient

STUDY = "venice"
BONUS = 150


class Points:
    """Counts the moments between two calls or writes, and ends the process at one of them as kill -9 would."""

    def __init__(self, kill_at: int | None) -> None:
        self.kill_at, self.passed = kill_at, 0

    def pass_one(self) -> None:
        if self.passed == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.passed += 1


def payroll_at(storage: str, url: str, token: str, later: float, points: Points) -> Payroll:
    """A payroll whose every write and call is preceded by a point."""

    class WatchedStore(Store):
        @contextmanager
        def _writing(self) -> Iterator[Connection]:
            points.pass_one()
            with super()._writing() as connection:
                yield connection

    class WatchedClient(ProlificClient):
        def _exchange(self, what: str, method: str, path: str, said: object) -> httpx.Response:
            points.pass_one()
            found = super()._exchange(what, method, path, said)
            if method != "GET":
                points.pass_one()  # it was done, and whoever asked for it will not know
            return found

    return Payroll(WatchedStore(storage, lambda: time.time() + later), STUDY, WatchedClient(token, url, 10.0))


def pay_all(payroll: Payroll, sessions: list[tuple[str, str]]) -> None:
    """Three finish and one is not admitted; all are paid, two get a bonus; the study is decided and stopped."""
    people = []
    for participant, session in sessions:
        person, _ = payroll.store.arrive(STUDY, Identity(participant, session), True, status="ACTIVE")
        assert person is not None
        people.append(person)
    outcomes: list[Outcome] = ["finished", "finished", "finished", "not_admitted"]
    for person, outcome in zip(people, outcomes, strict=True):
        payroll.store.change(STUDY, person.pseudonym, outcome=outcome)
    payroll.reconcile()
    for number, person in enumerate(people[:2]):
        payroll.promise_bonus(person.pseudonym, BONUS, request=f"bonus {number}")
    payroll.reconcile()
    payroll.reconcile(decided=True)
    payroll.reconcile(decided=True)


def run(told: dict[str, Any], kill_at: int | None, done: Any) -> None:
    """In a process of its own: do the work, die at a point, or tell how many points there were."""
    points = Points(kill_at)
    pay_all(payroll_at(told["storage"], told["url"], told["token"], told["later"], points), told["sessions"])
    done.send(points.passed)

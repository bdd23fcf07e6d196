"""A rush from Prolific: the platform counts the places, so every submission that it confirms is admitted."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from handful.crowd.collection import Collection
from handful.crowd.registry import StudyPlan
from handful.recruit.plan import Plan
from tests.crowd.clients import STUDY
from tests.fakes.prolific import Fault
from tests.recruit.arrivals import Visitor, paid_study

EACH = 2


def visited(visitor: Visitor, at: float) -> str:
    """What became of somebody who comes at this time and waits until they are given something to do."""
    time.sleep(max(0.0, at - time.monotonic()))
    arrived = visitor.arrive()
    if arrived["state"] != "inside":
        return str(arrived["state"])
    visitor.join()
    while visitor.work["ending"] is None:
        if visitor.work["questions"]:
            visitor.answer()
        else:
            time.sleep(0.1)
            visitor.next()
    return str(visitor.work["ending"]["outcome"])


def rush(
    collection: Collection, storage: Path, environment: pytest.MonkeyPatch, people: int, seconds: float, refused: int
) -> None:
    """So many come within the seconds; the platform refuses so many of the calls that ask about one of them."""
    plan = Plan(people=people, answers_each=EACH)
    study = StudyPlan(k=3, explorer="topx", budget=2 * EACH * people, in_flight=200)
    with paid_study(collection, storage, environment, study=study, plan=plan) as paid:
        visitors = [paid.come() for _ in range(people)]
        paid.fake.faults.append(Fault("GET .*/submissions/[0-9a-f]{24}/", 429, times=refused))
        with ThreadPoolExecutor(48) as pool:
            times = [time.monotonic() + seconds * number / people for number in range(people)]
            found = Counter(pool.map(visited, [visitor for visitor, _ in visitors], times))
        assert found == {"finished": people}
        assert sum("/submissions/" in call.path for call in paid.fake.calls) >= people - refused
        paid.settle()
        assert Counter(there.status for _, there in visitors) == {"APPROVED": people}
        workers = paid.server.registry.studies[STUDY].study.state.workers
        assert [workers.answers_of(person.pseudonym) for person in paid.store.people(STUDY)] == people * [EACH]
        assert sum(one.cents for one in paid.fake.platform.books) == people * plan.reward


def test_every_verified_submission_is_admitted_in_a_rush_while_single_calls_are_refused(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rush(collection, tmp_path / "a.db", monkeypatch, people=40, seconds=1.0, refused=15)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_one_of_a_thousand_verified_submissions_is_admitted(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rush(collection, tmp_path / "a.db", monkeypatch, people=1000, seconds=60.0, refused=300)

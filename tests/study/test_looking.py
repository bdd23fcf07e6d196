"""Looking at a study takes nothing from those who answer."""

from __future__ import annotations

import csv
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from handful import Preferences, Study, claims, study
from handful.export import answer_lines
from handful.questions import ANSWERED, STANDINGS, UNANSWERED, VOID
from tests.study.worlds import Clock


def some_study() -> Study[int]:
    return Study(range(12), 3, feedback=Preferences(), budget=120, in_flight=4, seed=1)


@pytest.mark.parametrize("what", ["result", "status"])
def test_an_answer_does_not_wait_for_somebody_who_looks(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = some_study()
    (question,) = asked.ask()
    looked = getattr(study, f"{what}_of")
    told = threading.Event()

    def slow(*arguments: Any) -> Any:
        def tell() -> None:
            asked.tell(question.id, True)
            told.set()

        threading.Thread(target=tell, daemon=True).start()
        assert told.wait(20), "the answer waits for whoever looks"
        return looked(*arguments)

    monkeypatch.setattr(study, f"{what}_of", slow)
    seen = getattr(asked, what)()
    assert seen.answers == 0
    monkeypatch.undo()
    assert getattr(asked, what)().answers == 1


@pytest.fixture
def threads_that_take_turns_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("options", [2, 3])
@pytest.mark.usefixtures("threads_that_take_turns_often")
def test_answers_are_taken_while_others_are_exported(options: int) -> None:
    """Nothing can be appended to a column while somebody looks at it in place: answers were refused for that."""
    asked: Study[int] = Study(range(40), 2, feedback=Preferences(options=options), budget=20_000, in_flight=64)
    started = threading.Barrier(4)

    def take_part(worker: str) -> int:
        started.wait()
        for _ in range(600):
            for q in asked.ask(1, worker):
                asked.tell(q.id, q.item if options > 2 else True, worker)
        return asked.state.workers.answers_of(worker)

    with ThreadPoolExecutor(3) as pool:
        taking_part = [pool.submit(take_part, worker) for worker in ("ann", "bob", "cid")]
        started.wait()
        while not all(one.done() for one in taking_part):
            lines = list(csv.DictReader(answer_lines(asked)))
            assert {line["standing"] for line in lines} <= {"answered", "late"}
        assert all(one.result() for one in taking_part)
    assert len(list(answer_lines(asked))) == 1 + asked.state.answers


def test_an_answer_that_comes_after_the_first_line_of_an_export_is_not_in_it() -> None:
    asked = some_study()
    first, second = asked.ask(2, "w")
    asked.tell(first.id, True, "w")
    lines = answer_lines(asked)
    header = next(lines)
    asked.tell(second.id, True, "w")
    assert [row["question"] for row in csv.DictReader([header, *lines])] == [first.id]
    assert len(list(answer_lines(asked))) == 3


def test_what_was_seen_does_not_change_with_what_happens_later() -> None:
    asked = some_study()
    snapshots = []
    while questions := asked.ask(2, "w"):
        for q in questions:
            asked.tell(q.id, q.item > q.rival, "w")
        snapshots.append((asked.state.snapshot(), asked.status().to_dict(), asked.result().to_dict()))
    asked.exclude("w")
    items = asked.items
    for state, status, result in snapshots:
        assert study.result_of(state, items).to_dict() == result
        assert study.status_of(state, items, status["finished"]).to_dict() == status


def test_only_questions_before_the_first_gap_of_a_pair_enter_a_bound() -> None:
    draws = np.random.default_rng(5)
    for _ in range(50):
        item, rival = draws.integers(0, 4, (2, 40))
        standing = draws.choice(len(STANDINGS), 40, p=[0.1, 0.05, 0.75, 0.05, 0.05])
        broken: set[frozenset[int]] = set()
        expected = []
        for i, j, s in zip(item, rival, standing, strict=True):
            if s not in (ANSWERED, VOID):
                broken.add(frozenset((int(i), int(j))))
            expected.append(frozenset((int(i), int(j))) not in broken)
        assert claims._unbroken(item, rival, standing).tolist() == expected
    assert UNANSWERED not in (ANSWERED, VOID)


def test_an_export_tells_times_as_dates_that_sort_as_they_came() -> None:
    clock = Clock(1_790_000_000.0004)
    asked = Study(range(12), 3, feedback=Preferences(), budget=120, in_flight=4, clock=clock)
    first, second = asked.ask(2)
    asked.tell(second.id, True)
    clock.now += 3600.25
    asked.tell(first.id, True)
    rows = list(csv.DictReader(answer_lines(asked)))
    assert [row["asked"] for row in rows] == ["2026-09-21 14:13:20.000"] * 2
    assert [row["told"] for row in rows] == ["2026-09-21 14:13:20.000", "2026-09-21 15:13:20.250"]

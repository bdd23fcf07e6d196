"""Many processes: the result of one, whoever is killed, fails or takes too long; and nothing is asked twice."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handful import Preferences, Question, Study, Values
from handful.errors import EvaluationFailed, IdleWorkers, InvalidProblem
from handful.executors import Luggage, Positions, Processes, packed, unpacked
from tests.study.worlds import folded, live

SETTINGS: dict[str, Any] = {"feedback": Values(noise=1.0), "budget": 300, "in_flight": 16, "seed": 3}


def careful(q: Question) -> float:
    return int(q.item) + (q.seed % 1000) / 500


def noted(q: Question, folder: str) -> float:
    """Leave a line for each call."""
    with (Path(folder) / q.id).open("a") as file:
        file.write("x")
    return careful(q)


def deadly(q: Question, folder: str) -> float:
    """Now and then the process ends before the answer, as if it was killed: once at every fortieth question."""
    died = Path(f"{folder} died at {q.id}")
    if q.number % 40 == 7 and not died.exists():
        died.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return noted(q, folder)


def poisonous(q: Question) -> float:
    if q.id == "q37":
        os._exit(9)
    return careful(q)


def calls(folder: Path) -> Counter[int]:
    """How many questions were asked so many times."""
    return Counter(len(path.read_text()) for path in folder.iterdir())


def study(**options: Any) -> Study:
    return Study(range(12), 3, **(SETTINGS | options))


def test_processes_give_the_result_of_none(tmp_path: Path) -> None:
    alone = study()
    expected = alone.run(careful)
    other = study()
    assert other.run(partial(noted, folder=str(tmp_path)), n_jobs=2) == expected
    assert live(other) == live(alone) | {"leases": live(other)["leases"]}
    assert calls(tmp_path) == {1: expected.answers}


@pytest.mark.parametrize("jobs", [1, 2, 7])
def test_any_number_of_processes_gives_the_same_result_while_some_are_killed(jobs: int, tmp_path: Path) -> None:
    expected = study().run(careful)
    found = study().run(partial(deadly, folder=str(tmp_path)), n_jobs=jobs)
    assert found == expected
    assert len(list(tmp_path.parent.glob(f"{tmp_path.name} died at *"))) >= 5
    asked = calls(tmp_path)
    assert sum(asked.values()) == expected.answers
    assert set(asked) <= {1, 2}  # those that travelled with the one that ended the process


def test_what_is_slow_travels_alone_and_is_asked_once_though_workers_die(tmp_path: Path) -> None:
    def slow(q: Question) -> float:
        time.sleep(0.02)
        return deadly(q, str(tmp_path))

    found = study(budget=90).run(slow, n_jobs=2)
    assert list(tmp_path.parent.glob(f"{tmp_path.name} died at *"))
    assert calls(tmp_path) == {1: found.answers}


def test_a_worker_killed_from_outside_is_replaced(tmp_path: Path) -> None:
    question = Question("q1", 1, 0, 5, None, (), 7)
    held, begun, killed = (tmp_path / name for name in ("held", "begun", "killed"))

    def slow(q: Question) -> int:
        if held.exists():
            begun.touch()
            while not killed.exists():
                time.sleep(0.02)
        return os.getpid()

    with Processes(slow, (5,), 1) as pool:
        first = pool.submit(question).result()
        assert isinstance(first, int)
        held.touch()
        waiting = [pool.submit(question) for _ in range(2)]
        while not begun.exists():
            time.sleep(0.02)
        os.kill(first, signal.SIGKILL)
        killed.touch()
        second = {future.result() for future in waiting}
    assert len(second) == 1
    assert first not in second


def test_a_question_that_ends_its_process_three_times_is_named_and_the_rest_is_kept() -> None:
    poisoned = study()
    with pytest.raises(EvaluationFailed) as raised:
        poisoned.run(poisonous, n_jobs=2)
    assert str(raised.value).startswith("question q37, about ")
    assert "ended its worker process 3 times (exit code 9)" in str(raised.value)
    assert poisoned.status().answers == 37
    assert poisoned.run(careful, n_jobs=2) == study().run(careful)


def test_what_was_answered_out_of_turn_is_not_asked_again(tmp_path: Path) -> None:
    def failing(q: Question) -> float:
        if q.id == "q0":
            while len(list(tmp_path.iterdir())) < 11:
                time.sleep(0.05)
            time.sleep(1.0)  # the last answer is on its way
            raise RuntimeError("no electricity")
        time.sleep(0.02)  # worth a task of its own
        return noted(q, str(tmp_path))

    url = tmp_path.parent / f"{tmp_path.name}.db"
    with study(storage=url) as first:
        with pytest.raises(RuntimeError, match="no electricity"):
            first.run(failing, n_jobs=2)
        assert first.status().answers == 0
        assert len(list(tmp_path.iterdir())) == 11  # all others of the first pass over the 12 items
    with Study.open(url, items=range(12)) as again:
        assert again.run(partial(noted, folder=str(tmp_path)), n_jobs=1) == study().run(careful)
        assert live(again) == folded(again)
    assert set(calls(tmp_path)) == {1}


SCRIPT = """
import signal, sys, time
from handful import Study, Values

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it

def oracle(q):
    if int(q.id[1:]) > 40:
        time.sleep(900)  # longer than three presses of Ctrl-C are waited for
    return int(q.item) + (q.seed % 1000) / 500

study = Study(range(12), 3, feedback=Values(noise=1.0), budget=300, in_flight=16, seed=3, storage=sys.argv[1])
print("ready", flush=True)
study.run(oracle, n_jobs=2)
"""


def _interrupted(process: subprocess.Popen[str]) -> str:
    """Press Ctrl-C, and as a person would once more if nothing happens: Python drops one that comes in a callback."""
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=40)[1]
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    raise AssertionError(process.communicate()[1])


def test_control_c_ends_a_script_without_a_main_guard_and_keeps_what_was_answered(tmp_path: Path) -> None:
    expected = study().run(careful)  # first: the script need not wait for the compiler then
    url = tmp_path / "study.db"
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(url)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    with Study.open(url, read_only=True) as watched:
        pass
    for _ in range(600):
        with Study.open(url, read_only=True) as watched:
            if watched.status().answers >= 41:
                break
        time.sleep(0.1)
    errors = _interrupted(process)
    assert process.returncode == -signal.SIGINT or "KeyboardInterrupt" in errors
    with Study.open(url, items=range(12)) as stopped:
        assert stopped.status().answers == 41
        assert stopped.run(careful) == expected


def test_an_evaluation_that_takes_too_long_is_ended_and_tried_again(tmp_path: Path) -> None:
    def slow_at_first(q: Question, times: int) -> float:
        if q.id == "q5":
            with (tmp_path / "q5").open("a") as file:
                file.write("x")
            if (tmp_path / "q5").stat().st_size <= times:
                time.sleep(60)
        return careful(q)

    with pytest.raises(TimeoutError, match="question q5, about .* took longer than timeout=5 seconds"):
        study().run(partial(slow_at_first, times=99), n_jobs=2, timeout=5)
    (tmp_path / "q5").unlink()
    found = study().run(partial(slow_at_first, times=2), n_jobs=2, timeout=5, retries=2)
    assert found == study().run(careful)


def test_a_batch_that_takes_too_long_is_asked_again_one_by_one(tmp_path: Path) -> None:
    """Only the question that takes long by itself is late."""

    def slow_at_the_seventh(q: Question) -> float:
        if q.id == "q7":
            time.sleep(60)
        return noted(q, str(tmp_path))

    questions = [Question(f"q{n}", 1, n, 5, None, (), n) for n in range(20)]
    with Processes(careful, (5,), 1) as pool:
        pool.submit(questions[0]).result()
    with Processes(slow_at_the_seventh, (5,), 1, timeout=3) as pool:
        for n in range(5):  # until it is known that they are quick
            pool.submit(replace(questions[0], id=f"first {n}")).result()
        futures = [pool.submit(question) for question in questions]
        with pytest.raises(TimeoutError, match="question q7, about 5 with 0 chosen before it, took longer than"):
            futures[7].result()
        assert [futures[n].result() for n in (6, 8, 19)] == [careful(questions[n]) for n in (6, 8, 19)]


@pytest.mark.parametrize("jobs", [None, 2])
def test_a_failing_evaluation_is_tried_again_and_then_given_up(jobs: int | None, tmp_path: Path) -> None:
    def failing(q: Question) -> float:
        with (tmp_path / q.id).open("a") as file:
            file.write("x")
        if q.id == "q7":
            raise ValueError("this one never works")
        return careful(q)

    given_up = study()
    found = given_up.run(failing, n_jobs=jobs, retries=2, catch=(ValueError,))
    assert (tmp_path / "q7").read_text() == "xxx"
    assert given_up.tell("q7", 1.0).standing == "void"
    assert len(found.chosen) == 3
    with pytest.raises(ValueError, match="this one never works"):
        study().run(failing, n_jobs=jobs, retries=2, catch=(KeyError,))


def test_an_item_that_always_fails_does_not_go_on_for_ever() -> None:
    def failing(q: Question) -> float:
        if q.item == 4:
            raise ValueError("this one never works")
        return careful(q)

    with pytest.raises(EvaluationFailed, match=r"11 questions about 4 failed, .*study.withdraw"):
        study(budget=3000).run(failing, catch=(ValueError,))


def test_errors_come_home_with_the_place_where_they_happened() -> None:
    def failing(q: Question) -> float:
        return 1 / (q.number - 3)

    with pytest.raises(ZeroDivisionError) as raised:
        study(feedback=Values(noise=9.0)).run(failing, n_jobs=2)
    notes = "".join(raised.value.__notes__)
    assert "in a worker process" in notes
    assert "return 1 / (q.number - 3)" in notes
    assert "question q3 stays open and 3 answers kept" in notes


def test_comparisons_are_turned_alike_in_processes() -> None:
    settings: dict[str, Any] = {"feedback": Preferences(), "budget": 200, "in_flight": 8, "seed": 5}

    def better(q: Question) -> bool:
        return bool(q.item + (q.seed % 100) / 20 > q.rival)

    assert Study(range(9), 2, **settings).run(better, n_jobs=2) == Study(range(9), 2, **settings).run(better)


def test_questions_travel_by_the_positions_of_their_items() -> None:
    items = tuple(np.zeros(100_000) for _ in range(4))
    seen: list[Question] = []
    question = Question("q1", 2, 0, items[2], None, (items[0],), 7)
    content = Positions(items).packed([question])
    assert len(content) < 500
    Luggage(lambda q: seen.append(q) or 1.0, items, b"").answers(content, "here")
    (arrived,) = seen
    assert arrived.item is items[2]
    assert arrived.chosen[0] is items[0]


def test_oracle_and_items_travel_on_as_they_came() -> None:
    first = unpacked(packed(careful, (3, 4)))
    again = pickle.loads(pickle.dumps(first))
    assert again.items == (3, 4)
    question = Question("q1", 2, 0, 3, None, (), 7)
    content = Positions(first.items).packed([question])
    assert again.answers(content, "there")[0][:2] == (True, careful(question))


def test_no_process_outlives_a_script_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, signal\nfrom handful.executors import Processes\nfrom handful.study import Question\n"
        "with Processes(lambda q: os.getpid(), (5,), 1) as pool:\n"
        "    print(pool.submit(Question('q1', 1, 0, 5, None, (), 7)).result(), flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        worker = Path("/proc", process.stdout.readline().strip())
        assert process.wait() == -signal.SIGKILL
        while worker.exists():
            time.sleep(0.1)


def test_what_an_oracle_prints_goes_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    def talking(q: Question) -> float:
        print("hello", q.id, flush=True)
        return careful(q)

    study(budget=36).run(talking, n_jobs=1)
    said = capfd.readouterr()
    assert "hello q7" in said.err
    assert said.out == ""


def test_workers_that_cannot_be_kept_busy_are_named_once() -> None:
    with pytest.warns(
        IdleWorkers, match="2 of 3 workers will have nothing to do: .* at most 1 question in flight"
    ) as told:
        study(in_flight=1, budget=36).run(careful, n_jobs=3)
    assert len(told) == 1
    assert study(in_flight="processes").setup.problem.in_flight == 64
    assert study(in_flight="cluster").setup.problem.in_flight == 256


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n_jobs": 0}, "n_jobs must be a number of processes, or −1 for one per core, got 0"),
        ({"n_jobs": 2, "timeout": 0}, "timeout must be a positive number of seconds, got 0"),
        ({"timeout": 3}, "only those of n_jobs= can be ended from here: give n_jobs="),
        ({"timeout": 3, "dask": "tcp://x:1"}, "limit the time within the oracle"),
        ({"retries": -1}, "retries must be a whole number, 0 or more, got -1"),
        ({"catch": ("x",)}, "catch must be kinds of exceptions"),
        ({"n_jobs": 2, "dask": "tcp://x:1"}, "an oracle runs in one place"),
    ],
)
def test_a_way_of_running_that_makes_no_sense_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidProblem) as raised:
        study().run(careful, **options)
    assert says in str(raised.value)


def test_an_oracle_that_cannot_travel_is_refused_at_once() -> None:
    lock = threading.Lock()
    with pytest.raises(InvalidProblem, match="cannot be sent to another process"):
        study().run(lambda q: lock.locked() + 1.0, n_jobs=2)

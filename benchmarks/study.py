"""How much a study itself costs: asking and telling, reopening, durable answers, memory.

python -m benchmarks.study [--answers 100000] [--threads 64] [--seconds 3]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
import tracemalloc
import warnings

from rich.console import Console
from rich.table import Table

from handful import Study, TopX, Values
from handful.errors import SmallBudget


def study_of(size: int, **options: object) -> Study:
    settings = {"feedback": Values(noise=0.5), "epsilon": 1e-6, "budget": 10**9, "explorer": TopX(), "seed": 7}
    return Study(range(size), 6, **(settings | options))  # type: ignore[arg-type]


def answer_of(n: int) -> float:
    """Some number that looks like noise and costs nothing to make."""
    return (n * 0.618033988749895) % 1.0


def ask_and_tell(study: Study, answers: int, worker: str | None = "w17") -> float:
    """Seconds of processor time per answer: nothing is waited for, and others may use the machine too."""
    start = time.process_time()
    for n in range(answers):
        (question,) = study.ask(1, worker)
        study.tell(question.id, answer_of(n), worker)
    return (time.process_time() - start) / answers


def microseconds(size: int, answers: int) -> float:
    study = study_of(size)
    ask_and_tell(study, size + 500)
    return 1e6 * min(ask_and_tell(study, answers) for _ in range(3))


def bytes_per_answer(answers: int) -> float:
    """What a study in memory grows by, its journal included."""
    study = study_of(60)
    ask_and_tell(study, 500)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    ask_and_tell(study, answers)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / answers


def seconds_to_reopen(folder: str, answers: int) -> float:
    url = f"sqlite:///{folder}/reopen.db"
    with study_of(60, storage=url, budget=answers, in_flight=1) as study:
        study.run(lambda q: answer_of(q.number))
    start = time.process_time()
    with Study.open(url, read_only=True) as study:
        took = time.process_time() - start
        assert study.status().answers == answers
    return took


def durable_answers_per_second(folder: str, threads: int, seconds: float) -> float:
    url = f"sqlite:///{folder}/durable.db"
    told = 0
    with study_of(60, storage=url, in_flight=4 * threads) as study:
        deadline = time.perf_counter() + seconds

        def work(worker: str) -> None:
            nonlocal told
            questions = study.ask(1, worker)
            while time.perf_counter() < deadline:
                _, questions = study.exchange(questions[0].id, 0.5, worker)
                told += 1

        people = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(threads)]
        start = time.perf_counter()
        for person in people:
            person.start()
        for person in people:
            person.join()
        took = time.perf_counter() - start
    return told / took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answers", type=int, default=100_000, help="answers to reopen (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=64, help="threads that answer at once (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=3, help="how long they answer (default: %(default)s)")
    options = parser.parse_args()
    warnings.simplefilter("ignore", SmallBudget)
    rows, few = [], min(5_000, options.answers)
    with tempfile.TemporaryDirectory() as folder:
        rows.append(("ask + tell in memory, N = 60", microseconds(60, 2 * few), "µs", 50, "≤"))
        rows.append(("ask + tell in memory, N = 10,000", microseconds(10_000, few), "µs", 100, "≤"))
        rows.append(
            (
                f"reopening {options.answers:,} answers from SQLite",
                seconds_to_reopen(folder, options.answers),
                "s",
                5,
                "≤",
            )
        )
        rate = durable_answers_per_second(folder, options.threads, options.seconds)
        rows.append((f"durable answers, SQLite, {options.threads} threads", rate, "/s", 1000, "≥"))
        rows.append(("memory per answer, journal included", bytes_per_answer(10 * few), "bytes", 400, "≤"))
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    table = Table("what", title=f"A study's own cost; times are of the processor ({load})")
    for heading in ("measured", "target", ""):
        table.add_column(heading, justify="right")
    missed = False
    for what, measured, unit, target, sign in rows:
        met = measured <= target if sign == "≤" else measured >= target
        missed = missed or not met
        table.add_row(what, f"{measured:,.1f} {unit}", f"{sign} {target:,} {unit}", "met" if met else "MISSED")
    Console().print(table)
    sys.exit(missed)


if __name__ == "__main__":
    main()

"""How fast a stored study is opened again: events per second of processor time, for every explorer.

python -m benchmarks.reopening [--answers 20000] [--only sharp]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

from handful import Preferences, Question, Study, Values
from handful.errors import SmallBudget
from handful.problem import Feedback
from handful.storage import open_journal

TARGET = 125_000
PEOPLE = 30
VALUES, PAIRS, FOURS = Values(noise=0.5), Preferences(beta=1.0), Preferences(options=4)
TASKS: tuple[tuple[str, Feedback, int], ...] = (
    ("certified", VALUES, 60),
    ("certified:rule=plain", VALUES, 60),
    ("sharp", VALUES, 60),
    ("topx", VALUES, 60),
    ("uniform", VALUES, 60),
    ("worth", VALUES, 60),
    ("duels", PAIRS, 60),
    ("pivot", PAIRS, 60),
    ("sharp", PAIRS, 60),
    ("topx", PAIRS, 60),
    ("uniform", PAIRS, 60),
    ("duels", FOURS, 60),
    ("duels", FOURS, 2_000),
)


def answer_to(question: Question[int], feedback: Feedback) -> Any:
    """Items of higher number are better, all answers are noisy, and the same question is always answered alike."""
    noise = (question.seed % 10**6) / 10**6
    if not isinstance(feedback, Preferences):
        return question.item / 1_000 + noise
    if feedback.options > 2:
        return question.options[question.seed % len(question.options)]
    return question.item / 60 + 2 * noise > question.rival / 60 + 2 * 0.5


def stored(url: str, explorer: str, feedback: Feedback, size: int, answers: int) -> int:
    """Store a study with so many answers of several people; gives how many events that are."""
    study = Study(
        range(size), 6, feedback=feedback, explorer=explorer, epsilon=1e-6, budget=answers, in_flight=PEOPLE, seed=7
    )
    told = 0
    waiting = {f"w{n}": study.ask(1, f"w{n}") for n in range(PEOPLE)}
    while study.finished is None:
        for worker, questions in waiting.items():
            if questions:
                _, waiting[worker] = study.exchange(questions[0].id, answer_to(questions[0], feedback), worker)
                told += 1
            else:
                waiting[worker] = study.ask(1, worker)
    records = list(study.records())
    journal = open_journal(url, "study", mode="create")
    journal.append(records).wait()
    journal.close()
    return len(records)


def best_of(times: int, what: Callable[[], None]) -> float:
    """The least processor time of several."""
    took = []
    for _ in range(times):
        start = time.process_time()
        what()
        took.append(time.process_time() - start)
    return min(took)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answers", type=int, default=20_000, help="answers of a study (default: %(default)s)")
    parser.add_argument("--only", default="", help="only explorers whose name begins so")
    options = parser.parse_args()
    warnings.simplefilter("ignore", SmallBudget)
    table = Table("explorer", "questions", title=f"Opening a study of {options.answers:,} answers again, from SQLite")
    for heading in ("N", "events", "events/s", ""):
        table.add_column(heading, justify="right")
    missed = False
    for explorer, feedback, size in TASKS:
        if not explorer.startswith(options.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:///{folder}/study.db"
            events = stored(url, explorer, feedback, size, options.answers)
            rate = events / best_of(4, lambda: Study.open(url, read_only=True).close())  # noqa: B023  (called at once)
        missed = missed or rate < TARGET
        asks = "values" if not isinstance(feedback, Preferences) else f"of {feedback.options}"
        met = "met" if rate >= TARGET else "MISSED"
        table.add_row(explorer, asks, f"{size:,}", f"{events:,}", f"{rate:,.0f}", met)
    Console().print(table)
    sys.exit(missed)


if __name__ == "__main__":
    main()

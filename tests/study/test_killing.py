"""kill -9 at any moment loses no acknowledged answer and counts none twice."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections import Counter
from contextlib import closing

import pytest

from handful import Study
from handful.events import Told, from_record
from handful.storage import open_journal
from tests.study.killing import BUDGET, answer_to, answer_until_killed, make
from tests.study.worlds import folded, live


def kill_again_and_again(url: str, kills: int, seed: int) -> None:
    make(storage=url).close()
    rng = random.Random(seed)
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(["tests.study.killing"])
    acknowledged: set[str] = set()
    died_working = 0
    for _ in range(kills):
        receiver, sender = forks.Pipe(duplex=False)
        child = forks.Process(target=answer_until_killed, args=(url, sender, BUDGET // kills), daemon=True)
        child.start()
        sender.close()
        heard = 0
        try:
            for _ in range(rng.randrange(12)):
                acknowledged.add(receiver.recv())
                heard += 1
            time.sleep(rng.random() * 0.01)
        except EOFError:
            pass  # it was done before it was killed
        child.kill()
        child.join()
        died_working += child.exitcode == -9
        try:
            while True:
                acknowledged.add(receiver.recv())
        except (EOFError, OSError):
            receiver.close()
        with closing(open_journal(url, "study", mode="read")) as journal:
            told = [event for event in map(from_record, journal.read()) if isinstance(event, Told)]
        stored = Counter(f"q{event.question}" for event in told)
        assert acknowledged <= set(stored)
        assert set(stored.values()) <= {1}
        assert all(event.answer == answer_to(f"q{event.question}") for event in told)
    assert died_working >= 0.9 * kills
    with Study.open(url) as study:
        assert study.status().answers == len(told)
        assert study.mismatches.count == 0
        result = study.run(lambda q: answer_to(q.id))
        assert result.answers == BUDGET
        assert live(study) == folded(study)


def test_twenty_kills_lose_nothing_in_a_file(sqlite_storage: str) -> None:
    kill_again_and_again(sqlite_storage, kills=20, seed=1)


@pytest.mark.slow
def test_many_more_kills_lose_nothing(storage: str) -> None:
    kill_again_and_again(storage, kills=130, seed=3)

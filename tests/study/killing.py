"""A worker process that answers until it is killed. Imported once by a fork server, so that many can die quickly."""

from __future__ import annotations

import threading
import time
from multiprocessing.connection import Connection
from typing import Any

from handful import Preferences, Study

BUDGET = 2400


def make(**options: Any) -> Study:
    return Study(range(8), 3, feedback=Preferences(), budget=BUDGET, in_flight=6, lease_s=0.001, seed=5, **options)


def answer_to(id_: str) -> bool:
    """Known to the test as well, so that a changed answer would be noticed."""
    return int(id_[1:]) % 3 > 0


def answer_until_killed(url: str, acknowledged: Connection, most: int) -> None:
    """Two people answer and tell the test what was acknowledged, and only then go on.

    After so many answers they wait to be killed, which on a busy machine may take a while: some are left for the next.
    """
    study = Study.open(url)
    turn, given = threading.Lock(), 0

    def work(worker: str) -> None:
        nonlocal given
        questions = study.ask(1, worker)
        while not study.finished:
            for q in questions:
                study.tell(q.id, answer_to(q.id), worker)
                with turn:
                    acknowledged.send(q.id)
                    given += 1
                    while given >= most:
                        time.sleep(1.0)
            questions = study.ask(1, worker)

    other = threading.Thread(target=work, args=("bob",))
    other.start()
    work("ann")
    other.join()


# Load the compiled code before anybody is forked.
make().run(lambda q: answer_to(q.id))

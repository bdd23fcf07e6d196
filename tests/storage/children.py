"""Child processes that write journals: forked from a server that has imported everything, so that many are cheap."""

from __future__ import annotations

import multiprocessing
import os
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.process import BaseProcess
from threading import Lock
from typing import Any

from handful.errors import StudyNotFound
from handful.storage import open_journal
from handful.testing import records

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["handful.storage", "handful.storage.sql", "psycopg", __name__])


def start(target: Callable[..., None], *arguments: Any) -> BaseProcess:
    child = _context.Process(target=target, args=arguments, daemon=True)
    child.start()
    return child


def pipe() -> tuple[Any, Any]:
    """Where to read, where to write."""
    return _context.Pipe(duplex=False)


def append_until_killed(url: str, name: str, seed: int, acknowledgements: Any) -> None:
    """Four threads append one to three records at a time; each acknowledged last number goes into the pipe."""
    try:
        journal = open_journal(url, name, mode="write")
    except StudyNotFound:
        journal = open_journal(url, name, mode="create")
    turn = Lock()
    appended = sum(1 for _ in journal.read())

    def answer(thread: int) -> None:
        nonlocal appended
        sizes = random.Random(seed * 10 + thread)
        while True:
            with turn:
                last = appended + sizes.randint(1, 3)
                ticket = journal.append(records(appended, last))
                appended = last
            ticket.wait()
            os.write(acknowledgements.fileno(), (last - 1).to_bytes(8))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(answer, range(4)))


def create_and_fill(url: str, name: str, how_many: int) -> None:
    """Append one by one, waiting for each."""
    journal = open_journal(url, name, mode="create")
    for record in records(0, how_many):
        journal.append([record]).wait()
    journal.close()


def append_ten(url: str, name: str, first: int) -> None:
    """Go on with a journal that has `first` records."""
    journal = open_journal(url, name, mode="write")
    journal.append(records(first, first + 10)).wait()
    journal.close()

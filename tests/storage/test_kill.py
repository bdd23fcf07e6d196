"""A writer may be killed at any moment: what it acknowledged is there, once, and the study is free."""

from __future__ import annotations

import os
import random
import time
from contextlib import closing
from typing import Any

from handful.errors import StudyNotFound
from handful.storage import Record, list_studies, open_journal
from handful.testing import records
from tests.storage import children

POINTS = 36


def killed_at(url: str, point: int, delay: float, *, once_writing: bool) -> list[int]:
    """Let a child write, kill it after a delay from its start or its first answer, give what it acknowledged."""
    reading, writing = children.pipe()
    child = children.start(children.append_until_killed, url, "a", point, writing)
    writing.close()
    if once_writing:
        assert reading.poll(30)
    time.sleep(delay)
    child.kill()
    child.join()
    return acknowledged_in(reading)


def acknowledged_in(reading: Any) -> list[int]:
    with reading, os.fdopen(os.dup(reading.fileno()), "rb") as stream:
        text = stream.read()
    return [int.from_bytes(text[i : i + 8]) for i in range(0, len(text), 8)]


def stored_in(url: str) -> list[Record]:
    """Opened for writing, so that a lock left behind would show."""
    try:
        with closing(open_journal(url, "a", mode="write")) as journal:
            return list(journal.read())
    except StudyNotFound:
        return []


def test_a_writer_killed_at_random_points_loses_no_acknowledged_record_and_stores_none_twice(storage: str) -> None:
    delays = random.Random(20)
    last = -1
    busy = 0
    for point in range(POINTS):
        once_writing = point % 2 == 1
        delay = delays.uniform(0, 0.02 if once_writing else 0.15)
        acknowledged = killed_at(storage, point, delay, once_writing=once_writing)
        last = max([last, *acknowledged])
        busy += bool(acknowledged)
        stored = stored_in(storage)
        assert len(stored) > last
        assert stored == records(0, len(stored))
    assert busy >= POINTS // 2


def test_processes_that_begin_studies_in_one_new_storage_do_not_disturb_each_other(storage: str) -> None:
    writers = [children.start(children.create_and_fill, storage, f"study {n}", 50) for n in range(4)]
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 4
    assert [(study.name, study.records) for study in list_studies(storage)] == [(f"study {n}", 50) for n in range(4)]

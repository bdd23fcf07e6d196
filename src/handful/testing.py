"""For those who write another storage: the promises a journal must keep, as tests.

    from functools import partial
    import pytest
    from handful.testing import PersistentJournalConformance

    class TestMyJournal(PersistentJournalConformance):
        @pytest.fixture(autouse=True)
        def _storage(self, tmp_path):
            self.open = partial(open_my_journal, tmp_path / "journals")

pytest collects the tests by their names; nothing here needs it.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import count, islice
from multiprocessing.connection import Connection
from threading import Lock
from typing import Protocol

from handful.errors import StorageError, StorageLocked, StudyExists, StudyNotFound
from handful.storage import Journal, Mode, Record

__all__ = ["JournalConformance", "Opener", "PersistentJournalConformance", "record", "records"]


class Opener(Protocol):
    """Opens the journal of one study in the storage under test."""

    def __call__(self, name: str, *, mode: Mode) -> Journal: ...


def record(seq: int, payload: object = None) -> Record:
    """A small record that says its own number, so that a record in the wrong place is noticed."""
    told = {"n": seq} if payload is None else payload
    return Record(seq, 1, "told", 1_700_000_000.25 + seq, json.dumps(told, ensure_ascii=False, separators=(",", ":")))


def records(first: int, stop: int) -> list[Record]:
    return [record(seq) for seq in range(first, stop)]


class JournalConformance:
    """What every journal keeps. Subclass it and give `open`."""

    open: Opener
    """Gives journals of one storage, which is empty when a test begins."""

    def test_records_come_back_as_they_were_and_in_order(self) -> None:
        with closing(self.open("a", mode="create")) as journal:
            journal.append(records(0, 3)).wait()
            journal.append(records(3, 4)).wait()
            assert list(journal.read()) == records(0, 4)

    def test_a_writer_reads_what_it_appended_without_waiting_first(self) -> None:
        with closing(self.open("a", mode="create")) as journal:
            journal.append(records(0, 100))
            assert list(journal.read()) == records(0, 100)

    def test_reading_begins_after_a_given_record(self) -> None:
        with closing(self.open("a", mode="create")) as journal:
            journal.append(records(0, 10)).wait()
            assert list(journal.read(6)) == records(7, 10)
            assert list(journal.read(9)) == []
            assert list(journal.read(50)) == []

    def test_reading_streams_and_may_stop_half_way(self) -> None:
        with closing(self.open("a", mode="create")) as journal:
            journal.append(records(0, 20_000)).wait()
            stream = journal.read()
            assert list(islice(stream, 3)) == records(0, 3)
            journal.append(records(20_000, 20_001)).wait()
            rest = [r.seq for r in stream]
            assert rest[:19_997] == list(range(3, 20_000))

    def test_any_text_and_any_length_comes_back(self) -> None:
        texts = ["", "ü ε δ 漢字 😀 \u200f", "line\nbreak\ttab \\ \" ' % :x $1 ?", "é" * 3_000_000]
        told = [record(seq, text) for seq, text in enumerate(texts)]
        with closing(self.open("名前 / ' \" %", mode="create")) as journal:
            journal.append(told).wait()
            assert list(journal.read()) == told

    def test_times_come_back_to_the_bit(self) -> None:
        times = [0.0, -1.5, 0.1 + 0.2, 1_762_000_000.123_456_7, 5e-324, 1.7976931348623157e308]
        told = [Record(seq, 7, "noted", time, "{}") for seq, time in enumerate(times)]
        with closing(self.open("a", mode="create")) as journal:
            journal.append(told).wait()
            assert list(journal.read()) == told

    def test_a_record_out_of_turn_is_refused_with_all_that_came_with_it(self) -> None:
        with closing(self.open("a", mode="create")) as journal:
            journal.append(records(0, 3)).wait()
            for wrong in ([record(2)], [record(4)], [record(3), record(3)], [record(3), record(5)]):
                assert _refuses(StorageError, partial(journal.append, wrong))
            journal.append(records(3, 5)).wait()
            assert list(journal.read()) == records(0, 5)

    def test_a_record_that_no_database_could_keep_is_refused_before_it_does_harm(self) -> None:
        with closing(self.open("a", mode="create")) as journal:
            for wrong in (
                Record(0, 1, "told", float("nan"), "{}"),
                Record(0, -1, "told", 0.0, "{}"),
                Record(0, 1, "", 0.0, "{}"),
                Record(0, 1, "told", 0.0, '"\x00"'),
                Record(0, 1, "told", 0.0, '"\ud800"'),
            ):
                assert _refuses(StorageError, partial(journal.append, [wrong]))
            journal.append(records(0, 1)).wait()
            assert list(journal.read()) == records(0, 1)

    def test_appending_nothing_is_nothing(self) -> None:
        with closing(self.open("a", mode="create")) as journal:
            journal.append([]).wait()
            journal.append(records(0, 1)).wait()
            journal.append([]).wait()
            assert list(journal.read()) == records(0, 1)

    def test_many_threads_append_and_everything_acknowledged_is_there(self) -> None:
        with closing(self.open("a", mode="create")) as journal:
            turn = Lock()
            appended = 0

            def answer(_: int) -> int:
                nonlocal appended
                with turn:  # the study gives the numbers and appends under its own lock
                    first, appended = appended, appended + 2
                    ticket = journal.append(records(first, first + 2))
                ticket.wait()
                assert ticket.done
                return first

            with ThreadPoolExecutor(16) as pool:
                firsts = sorted(pool.map(answer, range(400)))
            assert firsts == list(range(0, 800, 2))
            assert list(journal.read()) == records(0, 800)

    def test_a_closed_journal_takes_nothing_and_closes_twice(self) -> None:
        journal = self.open("a", mode="create")
        journal.append(records(0, 1)).wait()
        journal.close()
        journal.close()
        assert _refuses(StorageError, lambda: journal.append(records(1, 2)))

    def test_a_missing_study_is_not_found(self) -> None:
        assert _refuses(StudyNotFound, lambda: self.open("missing", mode="write"))
        assert _refuses(StudyNotFound, lambda: self.open("missing", mode="read"))


class PersistentJournalConformance(JournalConformance):
    """What is also kept by every journal that outlives its process. Here `open` must be one that can be pickled."""

    def test_closing_stores_what_nobody_waited_for(self) -> None:
        journal = self.open("a", mode="create")
        journal.append(records(0, 1_000))
        journal.close()
        with closing(self.open("a", mode="read")) as reader:
            assert list(reader.read()) == records(0, 1_000)

    def test_a_reopened_journal_goes_on_where_it_ended(self) -> None:
        for first in (0, 5, 10):
            with closing(self.open("a", mode="write" if first else "create")) as journal:
                assert list(journal.read()) == records(0, first)
                journal.append(records(first, first + 5)).wait()

    def test_a_study_is_created_only_once(self) -> None:
        with closing(self.open("a", mode="create")) as journal:
            journal.append(records(0, 1)).wait()
        assert _refuses(StudyExists, lambda: self.open("a", mode="create"))

    def test_a_second_writer_is_refused_until_the_first_closes(self) -> None:
        first = self.open("a", mode="create")
        first.append(records(0, 1)).wait()
        assert _refuses(StorageLocked, lambda: self.open("a", mode="write"))
        first.append(records(1, 2)).wait()
        first.close()
        with closing(self.open("a", mode="write")) as second:
            assert list(second.read()) == records(0, 2)

    def test_a_reader_beside_the_writer_sees_all_that_is_durable_and_writes_nothing(self) -> None:
        with closing(self.open("a", mode="create")) as journal:
            journal.append(records(0, 10)).wait()
            with closing(self.open("a", mode="read")) as reader:
                assert list(reader.read()) == records(0, 10)
                journal.append(records(10, 20)).wait()
                assert list(reader.read(9)) == records(10, 20)
                assert _refuses(StorageError, lambda: reader.append(records(20, 21)))

    def test_two_studies_live_side_by_side_each_with_its_own_writer(self) -> None:
        with closing(self.open("a", mode="create")) as a, closing(self.open("b", mode="create")) as b:
            for seq in range(20):
                a.append([record(seq, f"a{seq}")])
                b.append([record(seq, f"b{seq}")]).wait()
            assert list(a.read()) == [record(seq, f"a{seq}") for seq in range(20)]
            assert list(b.read()) == [record(seq, f"b{seq}") for seq in range(20)]

    def test_a_killed_writer_loses_nothing_acknowledged_and_frees_the_study(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        acknowledged, sender = spawn.Pipe(duplex=False)
        child = spawn.Process(target=_append_until_killed, args=(self.open, sender), daemon=True)
        child.start()
        sender.close()
        try:
            seen = [acknowledged.recv() for _ in range(5)]
            assert _refuses(StorageLocked, lambda: self.open("a", mode="write"))
        finally:
            child.kill()
            child.join()
        with closing(self.open("a", mode="write")) as journal:
            stored = list(journal.read())
            assert len(stored) > max(seen)
            assert stored == records(0, len(stored))
            journal.append([record(len(stored))]).wait()


def _append_until_killed(open_: Opener, acknowledged: Connection) -> None:
    journal = open_("a", mode="create")
    for seq in count():
        journal.append([record(seq)]).wait()
        acknowledged.send(seq)


def _refuses(error: type[Exception], act: Callable[[], object]) -> bool:
    try:
        act()
    except error as raised:
        return bool(str(raised))
    return False

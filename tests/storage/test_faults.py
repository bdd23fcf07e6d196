"""What fails while a journal is open: the connection, the server, the disk, the file, the process."""

from __future__ import annotations

import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import NullPool, create_engine, text

from handful.errors import StorageBehind, StorageCorrupt, StorageError, StorageLocked
from handful.storage import Record, backup, list_studies, open_journal, sql
from handful.storage.sql import GroupCommitter, PostgresDatabase
from handful.testing import record, records
from tests import postgres
from tests.storage import children


def administer(url: str, statement: str) -> list[object]:
    engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        return list(connection.execute(text(statement)).scalars())


def cut_off_writers(url: str) -> None:
    """End the server's side of every session that holds a study, and see it gone."""
    own = "FROM pg_locks WHERE locktype = 'advisory'"
    assert administer(url, f"SELECT pg_terminate_backend(pid) {own}")
    while administer(url, f"SELECT pid {own}"):
        time.sleep(0.01)


def test_a_lost_connection_is_got_back_with_its_lock(postgres_storage: str) -> None:
    with closing(open_journal(postgres_storage, "a")) as journal:
        for seq in range(3):
            journal.append([record(seq)]).wait()
            cut_off_writers(postgres_storage)
        journal.append([record(3)]).wait()
        with pytest.raises(StorageLocked, match="close it there first"):
            open_journal(postgres_storage, "a", mode="write")
        assert list(journal.read()) == records(0, 4)


def test_a_server_that_restarts_under_load_costs_time_and_nothing_else(postgres_storage: str) -> None:
    (data,) = administer(postgres_storage, "SHOW data_directory")
    stop = threading.Event()
    turn = threading.Lock()
    appended = 0
    acknowledged: list[int] = []
    with closing(open_journal(postgres_storage, "a")) as journal:

        def answer() -> None:
            nonlocal appended
            while not stop.is_set():
                with turn:
                    ticket = journal.append(records(appended, appended + 2))
                    appended += 2
                    last = appended - 1
                ticket.wait()
                acknowledged.append(last)

        threads = [threading.Thread(target=answer) for _ in range(8)]
        for thread in threads:
            thread.start()
        for _ in range(2):
            time.sleep(0.2)
            before = len(acknowledged)
            postgres.run("pg_ctl", "restart", "--wait", "--mode", "immediate", "--pgdata", str(data))
            deadline = time.monotonic() + 30
            while len(acknowledged) < before + 50 and time.monotonic() < deadline:
                time.sleep(0.01)
        stop.set()
        for thread in threads:
            thread.join()
        assert len(acknowledged) >= 100
        assert sorted(acknowledged) == list(range(1, appended, 2))
        assert list(journal.read()) == records(0, appended)


def test_a_commit_whose_reply_was_lost_is_not_made_twice(
    postgres_storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert = sql.insert_records
    cut = 0

    def insert_commit_and_lose_the_connection(connection, study, batch):  # type: ignore[no-untyped-def]
        nonlocal cut
        insert(connection, study, batch)
        if cut < 1:
            cut += 1
            connection.connection.commit()
            cut_off_writers(postgres_storage)
            connection.execute(text("SELECT 1"))

    monkeypatch.setattr(sql, "insert_records", insert_commit_and_lose_the_connection)
    with closing(open_journal(postgres_storage, "a")) as journal:
        journal.append(records(0, 3)).wait()
        journal.append(records(3, 5)).wait()
        assert cut == 1
        assert list(journal.read()) == records(0, 5)


def test_a_writer_that_was_overtaken_while_cut_off_stops(postgres_storage: str) -> None:
    overtaken = open_journal(postgres_storage, "a")
    overtaken.append(records(0, 2)).wait()
    cut_off_writers(postgres_storage)
    with closing(open_journal(postgres_storage, "a", mode="write")) as other:
        other.append([record(2, "of the other")]).wait()
    with pytest.raises(StorageError, match="another writer appended to study 'a'"):
        overtaken.append([record(2, "of the overtaken")]).wait()
    with pytest.raises(StorageError, match="takes no more records"):
        overtaken.append([record(3)])
    with pytest.raises(StorageError, match="another writer"):
        overtaken.close()
    with closing(open_journal(postgres_storage, "a", mode="read")) as reader:
        assert list(reader.read()) == [*records(0, 2), record(2, "of the other")]


def test_a_connection_that_does_not_come_back_in_time_is_an_error(
    postgres_storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PostgresDatabase, "patience", 0.3)
    journal = open_journal(postgres_storage, "a")
    journal.append(records(0, 1)).wait()
    cut_off_writers(postgres_storage)
    with closing(open_journal(postgres_storage, "a", mode="write")):
        with pytest.raises(StorageError, match=r"did not come back within 0 seconds .*open for writing elsewhere"):
            journal.append(records(1, 2)).wait()
        with pytest.raises(StorageError):
            journal.close()


def change(url: str, statement: str) -> None:
    with create_engine(url, poolclass=NullPool).begin() as connection:
        connection.exec_driver_sql(statement)


def test_a_database_that_came_back_older_stops_the_writer_and_nothing_is_acknowledged(postgres_storage: str) -> None:
    journal = open_journal(postgres_storage, "a")
    journal.append(records(0, 10)).wait()
    cut_off_writers(postgres_storage)
    change(postgres_storage, "DELETE FROM events WHERE seq >= 7")
    ticket = journal.append([record(10)])
    with pytest.raises(StorageBehind, match=r"holds 7 records .* but 10 were stored: it is an older"):
        ticket.wait()
    with pytest.raises(StorageError, match="takes no more records"):
        journal.append([record(11)])
    with pytest.raises(StorageBehind):
        journal.close()
    with pytest.raises(StorageBehind):
        open_journal(postgres_storage, "a", mode="write")
    assert administer(postgres_storage, "SELECT max(seq) FROM events") == [6]


def test_a_database_that_came_back_with_another_history_stops_the_writer(postgres_storage: str) -> None:
    journal = open_journal(postgres_storage, "a")
    journal.append(records(0, 10)).wait()
    cut_off_writers(postgres_storage)
    change(postgres_storage, "UPDATE events SET payload = '{}' WHERE seq = 9")
    with pytest.raises(StorageBehind, match="record 9 of study 'a' .* is not the one that was stored"):
        journal.append([record(10)]).wait()
    with pytest.raises(StorageBehind):
        journal.close()


def test_a_program_that_opens_its_study_again_is_given_no_older_copy(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    journal = open_journal(path, "a")
    journal.append(records(0, 10)).wait()
    older = backup(path, tmp_path / "older.db")
    journal.append(records(10, 20)).wait()
    for log in tmp_path.glob("journal.db-*"):
        log.unlink()
    older.replace(path)
    with pytest.raises(StorageError, match="was moved, replaced or deleted"):
        journal.append(records(20, 21)).wait()
    with pytest.raises(StorageError, match="was moved, replaced or deleted"):
        journal.close()
    for _ in range(2):
        with pytest.raises(StorageBehind, match=r"holds 10 records .* but 20 were stored.*start the program again"):
            open_journal(path, "a", mode="write")
    assert list(tmp_path.glob("*.lock")) == []


def test_another_program_goes_on_from_what_the_database_has(storage: str) -> None:
    with closing(open_journal(storage, "a")) as journal:
        journal.append(records(0, 10)).wait()
    change(storage, "DELETE FROM events WHERE seq >= 7")
    with pytest.raises(StorageBehind):
        open_journal(storage, "a", mode="write")
    writer = children.start(children.append_ten, storage, "a", 7)
    writer.join()
    assert writer.exitcode == 0
    with closing(open_journal(storage, "a", mode="read")) as reader:
        assert list(reader.read()) == records(0, 17)


def test_a_study_that_was_deleted_on_purpose_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    for _ in range(2):
        with closing(open_journal(path, "a")) as journal:
            journal.append(records(0, 10)).wait()
        path.unlink()


def test_a_hole_is_noticed_however_long_it_is(storage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "CHUNK", 3)
    with closing(open_journal(storage, "a")) as journal:
        journal.append(records(0, 20)).wait()
    change(storage, "DELETE FROM events WHERE seq BETWEEN 6 AND 16")
    with (
        closing(open_journal(storage, "a", mode="read")) as journal,
        pytest.raises(StorageCorrupt, match="record 6 of study 'a' is missing: the next is 17"),
    ):
        list(journal.read())


@contextmanager
def no_room_on_disk() -> Iterator[None]:
    """No file may grow beyond 200 kB."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_fails_the_answer_and_keeps_all_before_it(sqlite_storage: str) -> None:
    journal = open_journal(sqlite_storage, "a")
    journal.append(records(0, 100)).wait()
    with no_room_on_disk(), pytest.raises(StorageError, match="disk"):
        journal.append([record(100, "x" * 1_000_000)]).wait()
    with pytest.raises(StorageError, match="open the study again"):
        journal.append([record(101)])
    # The failed journal holds nothing any more, closed or not.
    with closing(open_journal(sqlite_storage, "a", mode="write")) as again:
        assert list(again.read()) == records(0, 100)
        again.append([record(100)]).wait()
    with pytest.raises(StorageError, match="disk"):
        journal.close()


def test_a_file_that_is_moved_away_acknowledges_nothing_more(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    journal = open_journal(path, "a")
    journal.append(records(0, 1)).wait()
    path.rename(tmp_path / "elsewhere.db")
    with pytest.raises(StorageError, match="was moved, replaced or deleted"):
        journal.append(records(1, 2)).wait()
    with pytest.raises(StorageError):
        journal.close()


def test_a_failed_commit_reaches_everyone_who_waits_and_those_who_come_later() -> None:
    begun, go_on = threading.Event(), threading.Event()
    released = []

    def commit(batch: Sequence[Record]) -> None:
        begun.set()
        go_on.wait()
        raise StorageError("the disk is gone")

    committer = GroupCommitter(commit, lambda: released.append(True), next_seq=0, name="a")
    tickets = [committer.append([record(0)])]
    begun.wait()
    tickets += [committer.append([record(seq)]) for seq in range(1, 4)]
    assert not any(ticket.done for ticket in tickets)
    go_on.set()
    for ticket in tickets:
        with pytest.raises(StorageError, match="the disk is gone"):
            ticket.wait()
    with pytest.raises(StorageError, match="the disk is gone"):
        committer.append([record(4)])
    assert released == [True]


def test_what_is_queued_during_a_commit_goes_into_one_next_commit() -> None:
    begun, go_on = threading.Event(), threading.Event()
    commits: list[int] = []

    def commit(batch: Sequence[Record]) -> None:
        commits.append(len(batch))
        begun.set()
        go_on.wait()

    committer = GroupCommitter(commit, lambda: None, next_seq=0, name="a")
    committer.append([record(0)])
    begun.wait()
    for seq in range(1, 10):
        committer.append([record(seq)])
    go_on.set()
    committer.close()
    assert commits == [1, 9]


def run_script(script: str, *arguments: str) -> str:
    command = [sys.executable, "-W", "error", "-c", script, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def test_a_program_that_ends_without_closing_stores_what_it_appended(storage: str) -> None:
    script = """
import sys
from handful.storage import open_journal
from handful.testing import records
journal = open_journal(sys.argv[1], "a")
journal.append(records(0, 5000))
"""
    run_script(script, storage)
    with closing(open_journal(storage, "a", mode="write")) as journal:
        assert list(journal.read()) == records(0, 5000)


def test_a_forgotten_journal_frees_its_study(storage: str) -> None:
    open_journal(storage, "a").append(records(0, 10))
    with closing(open_journal(storage, "a", mode="write")) as journal:
        assert list(journal.read()) == records(0, 10)


def test_a_forked_child_neither_writes_nor_keeps_the_study_locked(storage: str) -> None:
    script = """
import os, sys, time
from handful.errors import StorageError
from handful.storage import open_journal
from handful.testing import records
journal = open_journal(sys.argv[1], "a")
journal.append(records(0, 5)).wait()
reading, writing = os.pipe()
if os.fork() == 0:
    try:
        journal.append(records(5, 6)).wait()
    except StorageError as error:
        print(error, flush=True)
    os.write(writing, b"x")
    if os.fork() == 0:
        os.close(0), os.close(1), os.close(2)
        time.sleep(5)
        os._exit(0)
    sys.exit()
os.read(reading, 1)
time.sleep(0.1)
journal.append(records(5, 7)).wait()
os.kill(os.getpid(), 9)
"""
    command = [sys.executable, "-c", script, storage]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == -9, done.stderr
    assert "forked copy" in done.stdout
    assert done.stderr == ""
    with closing(open_journal(storage, "a", mode="write")) as journal:
        assert list(journal.read()) == records(0, 7)


def test_a_reader_may_be_carried_from_thread_to_thread(storage: str) -> None:
    with closing(open_journal(storage, "a")) as journal:
        journal.append(records(0, 12_000)).wait()
        stream = journal.read()
        found = [next(stream)]
        thread = threading.Thread(target=lambda: found.extend(stream))
        thread.start()
        thread.join()
        assert found == records(0, 12_000)


def test_studies_are_listed_with_their_length_and_times(storage: str) -> None:
    for name, length in (("b", 3), ("a", 1), ("ü", 2)):
        with closing(open_journal(storage, name)) as journal:
            journal.append(records(0, length)).wait()
    found = {study.name: study for study in list_studies(storage)}
    assert {name: study.records for name, study in found.items()} == {"a": 1, "b": 3, "ü": 2}
    assert (found["b"].first_time, found["b"].last_time) == (record(0).time, record(2).time)

"""A journal knows its own end: what was stored is there, as it was stored, or the study stops and says so."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from struct import pack

import pytest
from sqlalchemy import NullPool, create_engine, text

from handful.errors import StorageBehind, StorageCorrupt, StorageError, StorageLocked
from handful.storage import Record, backup, list_studies, open_journal, sql
from handful.storage.opening import database_at
from handful.testing import record, records
from tests.storage import children
from tests.storage.old_format import write_format_1
from tests.storage.test_bad_input import without_rights
from tests.storage.test_faults import administer, cut_off_writers


def fill(url: str | Path, first: int, stop: int, name: str = "a") -> None:
    with closing(open_journal(url, name, mode="write" if first else "create")) as journal:
        journal.append(records(first, stop)).wait()


def change(url: str, statement: str) -> None:
    with create_engine(url, poolclass=NullPool).begin() as connection:
        connection.exec_driver_sql(statement)


def hashes_in(url: str, name: str = "a") -> list[bytes | None]:
    with create_engine(url, poolclass=NullPool).connect() as connection:
        found = connection.execute(text("SELECT hash FROM events WHERE study = :s ORDER BY seq"), {"s": name})
        return [None if row[0] is None else bytes(row[0]) for row in found]


def test_each_record_is_stored_with_a_hash_over_itself_and_the_hash_before_it(storage: str) -> None:
    kept = [record(0), Record(1, 7, "é", -0.0, '"漢"'), *records(2, 10)]
    with closing(open_journal(storage, "a")) as journal:
        journal.append(kept[:1]).wait()
        journal.append(kept[1:]).wait()
    before, expected = bytes(16), []
    for r in kept:
        kind = r.kind.encode()
        data = before + pack("<qidI", r.seq, r.version, r.time + 0.0, len(kind)) + kind + r.payload.encode()
        before = blake2b(data, digest_size=16).digest()
        expected.append(before)
    assert hashes_in(storage) == expected


CHANGES = [
    ("UPDATE events SET payload = '{\"n\":7}' WHERE seq = 5", "record 5 "),
    ("UPDATE events SET time = time + 1 WHERE seq = 5", "record 5 "),
    ("UPDATE events SET kind = 'asked' WHERE seq = 5", "record 5 "),
    ("UPDATE events SET version = 2 WHERE seq = 5", "record 5 "),
    ("UPDATE events SET hash = NULL WHERE seq = 5", "record 5 "),
    (
        "INSERT INTO events (study, seq, version, kind, time, payload) VALUES ('a', 10, 1, 'told', 1.5, '{}')",
        "record 10 ",
    ),
]


@pytest.mark.parametrize(("statement", "which"), CHANGES)
def test_a_record_that_another_program_wrote_or_changed_is_noticed(storage: str, statement: str, which: str) -> None:
    fill(storage, 0, 10)
    change(storage, statement)
    for mode in ("read", "write"):
        with (
            pytest.raises(StorageCorrupt, match=f"{which}.*does not follow.*handful recover"),
            closing(open_journal(storage, "a", mode=mode)) as journal,
        ):
            list(journal.read())


def test_a_hole_is_noticed_however_long_it_is(storage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "CHUNK", 3)
    fill(storage, 0, 20)
    change(storage, "DELETE FROM events WHERE seq BETWEEN 6 AND 16")
    with (
        closing(open_journal(storage, "a", mode="read")) as journal,
        pytest.raises(StorageCorrupt, match="record 6 of study 'a' is missing: the next is 17"),
    ):
        list(journal.read())


def test_what_is_read_after_a_given_record_is_checked_too(storage: str) -> None:
    fill(storage, 0, 10)
    change(storage, "UPDATE events SET payload = '{}' WHERE seq = 5")
    with closing(open_journal(storage, "a", mode="read")) as journal:
        assert list(journal.read(5)) == records(6, 10)
        with pytest.raises(StorageCorrupt, match="record 5 "):
            list(journal.read(3))


def test_an_older_copy_is_refused_by_readers_and_writers_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    fill(path, 0, 300)
    older = backup(path, tmp_path / "older.db").read_bytes()
    fill(path, 300, 500)
    path.write_bytes(older)
    for mode in ("read", "write"):
        with pytest.raises(StorageBehind, match=r"holds 300 records .* but 500 were stored.*handful recover"):
            open_journal(path, "a", mode=mode)
    assert path.read_bytes() == older
    assert not list(tmp_path.glob("*.lock"))


def test_an_older_copy_from_before_the_study_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    fill(path, 0, 1, name="b")
    older = backup(path, tmp_path / "older.db").read_bytes()
    fill(path, 0, 20)
    path.write_bytes(older)
    for mode in ("create", "write", "read"):
        with pytest.raises(StorageBehind, match="has no study 'a', but 20 records of it were stored"):
            open_journal(path, "a", mode=mode)
    assert [study.name for study in list_studies(path)] == ["b"]


def test_a_copy_with_another_history_is_refused(tmp_path: Path) -> None:
    path, other = tmp_path / "journal.db", tmp_path / "other.db"
    fill(path, 0, 10)
    backup(path, other)
    fill(path, 10, 20)
    with closing(open_journal(other, "a", mode="write")) as journal:
        journal.append([record(seq, "elsewhere") for seq in range(10, 30)]).wait()
    shutil.copy(other, path)
    with pytest.raises(StorageBehind, match="record 19 of study 'a' .* is not the one that was stored"):
        open_journal(path, "a", mode="write")


@pytest.mark.parametrize("damage", [Path.unlink, lambda wal: os.truncate(wal, wal.stat().st_size // 2)])
def test_a_lost_or_damaged_write_ahead_log_is_noticed(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    path = tmp_path / "journal.db"
    fill(path, 0, 10)
    reading, writing = children.pipe()
    child = children.start(children.append_until_killed, str(path), "a", 1, writing)
    writing.close()
    with reading:
        for _ in range(200):
            os.read(reading.fileno(), 8)
        child.kill()
        child.join()
    damage(tmp_path / "journal.db-wal")
    with pytest.raises((StorageBehind, StorageCorrupt), match=r"were stored|is not the one that was stored"):
        open_journal(path, "a", mode="write")


def test_a_copy_without_the_noted_end_opens_and_says_so_once(
    storage: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fill(storage, 0, 10)
    database_at(storage).tip_file("a").path.unlink()
    with caplog.at_level(logging.WARNING, "handful.storage"):
        for _ in range(2):
            with closing(open_journal(storage, "a", mode="read")) as journal:
                assert list(journal.read()) == records(0, 10)
        assert not caplog.messages
        assert not database_at(storage).tip_file("a").path.exists()
        for _ in range(3):
            open_journal(storage, "a", mode="write").close()
    (said,) = caplog.messages
    assert "came without the file" in said
    assert "10 records" in said


@pytest.mark.parametrize("content", [b"", b"\x00" * 63, b"00000000000000000009 0123456789abcdef 00000000\n", b"\xff\n"])
def test_an_end_that_cannot_be_read_is_as_none(
    sqlite_storage: str, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    fill(sqlite_storage, 0, 10)
    database_at(sqlite_storage).tip_file("a").path.write_bytes(content)
    fill(sqlite_storage, 10, 11)
    assert "came without" in caplog.text
    tip = database_at(sqlite_storage).tip_file("a").read()
    assert tip is not None
    assert tip.seq == 10


def test_the_noted_end_is_that_of_the_last_commit_and_never_ahead(storage: str) -> None:
    noted = database_at(storage).tip_file("a")
    with closing(open_journal(storage, "a")) as journal:
        for seq in range(50):
            journal.append([record(seq)]).wait()
            tip = noted.read()
            assert tip is not None
            hashes = hashes_in(storage)
            assert tip.seq <= seq
            assert tip.hash == hashes[tip.seq]
            if seq:
                assert tip.seq >= seq - 1
    tip = noted.read()
    assert tip is not None
    assert (tip.seq, tip.hash) == (49, hashes_in(storage)[-1])


def test_whoever_deletes_the_whole_file_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    fill(path, 0, 10)
    fill(path, 0, 10, name="b")
    path.unlink()
    fill(path, 0, 3)
    fill(path, 0, 3, name="b")
    with closing(open_journal(path, "a", mode="read")) as journal:
        assert list(journal.read()) == records(0, 3)


def test_readers_beside_a_writer_always_find_the_noted_end(storage: str) -> None:
    stop = threading.Event()
    with closing(open_journal(storage, "a")) as journal:
        journal.append(records(0, 1)).wait()

        def answer() -> None:
            seq = 1
            while not stop.is_set():
                journal.append([record(seq)]).wait()
                seq += 1

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            for _ in range(30):
                with closing(open_journal(storage, "a", mode="read")) as reader:
                    found = list(reader.read())
                    assert found == records(0, len(found))
        finally:
            stop.set()
            thread.join()


def test_a_database_that_came_back_older_stops_the_writer_and_nothing_is_acknowledged(postgres_storage: str) -> None:
    journal = open_journal(postgres_storage, "a")
    journal.append(records(0, 10)).wait()
    cut_off_writers(postgres_storage)
    change(postgres_storage, "DELETE FROM events WHERE seq >= 7")
    tickets = [journal.append([record(10)])]
    with pytest.raises(StorageBehind, match=r"holds 7 records .* but 10 were stored"):
        tickets[0].wait()
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
    change(postgres_storage, "UPDATE events SET hash = 'other' WHERE seq = 9")
    with pytest.raises(StorageBehind, match="record 9 of study 'a' .* is not the one that was stored"):
        journal.append([record(10)]).wait()
    with pytest.raises(StorageBehind):
        journal.close()


# Databases of before


def test_an_old_journal_is_read_without_writing_anything(storage: str, tmp_path: Path) -> None:
    write_format_1(storage, {"a": records(0, 12_000)})
    file = tmp_path / "journal.db"
    before = file.read_bytes() if file.exists() else None
    for _ in range(2):
        with closing(open_journal(storage, "a", mode="read")) as journal:
            assert list(journal.read()) == records(0, 12_000)
            assert list(journal.read(11_990)) == records(11_991, 12_000)
    assert [study.records for study in list_studies(storage)] == [12_000]
    assert (file.read_bytes() if file.exists() else None) == before
    assert not database_at(storage).tip_file("a").path.exists()
    with pytest.raises(Exception, match="hash"):
        hashes_in(storage)


def test_an_old_journal_in_a_folder_that_cannot_be_written_is_read() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "journal.db"
        write_format_1(f"sqlite:///{path}", {"a": records(0, 10)})
        with without_rights(Path(folder)), closing(open_journal(path, "a", mode="read")) as journal:
            assert list(journal.read()) == records(0, 10)
        assert [one.name for one in Path(folder).iterdir()] == ["journal.db"]


def test_the_first_writer_chains_all_old_journals(storage: str, caplog: pytest.LogCaptureFixture) -> None:
    write_format_1(storage, {"a": records(0, 6_000), "b": records(0, 3), "ü": records(0, 1)})
    with caplog.at_level(logging.INFO, "handful.storage"):
        fill(storage, 6_000, 6_001)
        fill(storage, 3, 5, name="b")
        fill(storage, 1, 2, name="ü")
    (said,) = caplog.messages
    assert "storage format 2" in said
    for name, length in (("a", 6_001), ("b", 5), ("ü", 2)):
        with closing(open_journal(storage, name, mode="read")) as journal:
            assert list(journal.read()) == records(0, length)
        assert None not in hashes_in(storage, name)


def test_old_journals_are_chained_in_one_transaction(storage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write_format_1(storage, {"a": records(0, 10), "b": records(0, 10)})
    from handful.storage import tables

    chain = tables.chain_study

    def interrupted(connection, name):  # type: ignore[no-untyped-def]
        if name == "b":
            raise KeyboardInterrupt
        return chain(connection, name)

    with monkeypatch.context() as patch:
        patch.setattr(tables, "chain_study", interrupted)
        with pytest.raises(KeyboardInterrupt):
            open_journal(storage, "a", mode="write")
    with pytest.raises(Exception, match="hash"):
        hashes_in(storage)
    fill(storage, 10, 11)
    assert None not in hashes_in(storage, "b")


def test_old_journals_are_not_chained_under_the_hands_of_an_older_version(storage: str) -> None:
    write_format_1(storage, {"a": records(0, 10), "b": records(0, 10)})
    held = database_at(storage).lock("b")
    try:
        with pytest.raises(StorageLocked, match="study 'b'"):
            open_journal(storage, "a", mode="write")
        with pytest.raises(Exception, match="hash"):
            hashes_in(storage)
    finally:
        held.close()
    fill(storage, 10, 11)


def test_processes_that_open_old_journals_at_once_do_not_disturb_each_other(storage: str) -> None:
    names = [f"study {n}" for n in range(4)]
    write_format_1(storage, {name: records(0, 2_000) for name in names})
    writers = [children.start(children.append_ten, storage, name, 2_000) for name in names]
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 4
    for name in names:
        with closing(open_journal(storage, name, mode="read")) as journal:
            assert list(journal.read()) == records(0, 2_010)


def test_an_old_journal_put_in_the_place_of_a_newer_one_is_refused(tmp_path: Path) -> None:
    path, old = tmp_path / "journal.db", tmp_path / "old.db"
    write_format_1(f"sqlite:///{old}", {"a": records(0, 10)})
    with sqlite3.connect(old) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    shutil.copy(old, path)
    fill(path, 10, 20)
    shutil.copy(old, path)
    for mode in ("read", "write"):
        with pytest.raises(StorageBehind, match=r"holds 10 records .* but 20 were stored"):
            open_journal(path, "a", mode=mode)


def test_a_hole_in_one_old_journal_does_not_keep_the_others_from_being_chained(storage: str) -> None:
    write_format_1(storage, {"a": records(0, 10), "b": [record(0), record(2)]})
    fill(storage, 10, 11)
    with (
        pytest.raises(StorageCorrupt, match="record 1 of study 'b' is missing"),
        closing(open_journal(storage, "b", mode="write")) as journal,
    ):
        list(journal.read())

"""A backup is one file, made while answers come in, that opens like any journal."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import pytest

from handful.crowd import organizer_keys, people
from handful.crowd.people import Invitations, People, Person
from handful.errors import StorageError
from handful.recruit import ledger
from handful.recruit.ledger import Store
from handful.recruit.panel import Identity
from handful.storage import backup, list_studies, open_journal
from handful.storage.backup import BESIDE
from handful.testing import record, records


def test_a_backup_made_while_answers_come_in_holds_all_that_was_durable(storage: str, tmp_path: Path) -> None:
    with closing(open_journal(storage, "b")) as other:
        other.append(records(0, 10)).wait()
    with closing(open_journal(storage, "a")) as journal:
        journal.append(records(0, 20_000)).wait()
        durable = 20_000
        stop = threading.Event()

        def answer() -> None:
            nonlocal durable
            while not stop.is_set():
                journal.append([record(durable)]).wait()
                durable += 1

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            for n in range(3):
                before = durable
                path = backup(storage, tmp_path / f"backup {n}.db")
                with closing(open_journal(path, "a", mode="read")) as copy:
                    stored = list(copy.read())
                assert len(stored) >= before
                assert stored == records(0, len(stored))
        finally:
            stop.set()
            thread.join()
    assert [study.name for study in list_studies(path)] == ["a", "b"]


def test_a_study_goes_on_from_its_backup(storage: str, tmp_path: Path) -> None:
    with closing(open_journal(storage, "a")) as journal:
        journal.append(records(0, 3)).wait()
    path = backup(storage, tmp_path / "backup.db")
    with closing(open_journal(path, "a", mode="write")) as journal:
        journal.append(records(3, 4)).wait()
        assert list(journal.read()) == records(0, 4)


def test_a_backup_holds_people_invitations_and_recruiting_too(storage: str, tmp_path: Path) -> None:
    open_journal(storage, "a").close()
    people = People("a", storage)
    tag = people.tag_of("192.0.2.0/24")
    people.add(Person("w1", link=b"x" * 16, panel="prolific", participant="p1", network=tag, joined=5.0))
    Invitations("a", storage).make(3, 1.0)
    store = Store(storage)
    met = store.meet("a", Identity("p1", "s1"), "ACTIVE")
    store.write_down("a", "bonus", [(met.pseudonym, 120)])
    store.promise_once("a", "r" * 16, met.pseudonym, 150, "")
    path = backup(storage, tmp_path / "backup.db")
    copied = People("a", path)
    assert copied.all() == people.all()
    assert copied.tag_of("192.0.2.0/24") == tag
    assert Invitations("a", path).all() == Invitations("a", storage).all()
    assert Store(path).people("a") == store.people("a") == [met]
    assert Store(path).entries("a") == store.entries("a")
    assert Store(path).write_down("a", "bonus", [(met.pseudonym, 1)]) == [3]
    assert Store(path).promise_once("a", "r" * 16, met.pseudonym, 150, "") == 2, "what was asked for is known there too"
    copied.add(Person("w2", link=b"y" * 16))
    with pytest.raises(StorageError, match="already"):
        copied.add(Person("w3", link=b"x" * 16))


def test_a_backup_knows_every_table_beside_the_journals() -> None:
    beside = (organizer_keys.metadata, people.metadata, ledger.metadata)
    assert set(BESIDE) == {name for metadata in beside for name in metadata.tables}


def test_a_backup_overwrites_nothing(sqlite_storage: str, tmp_path: Path) -> None:
    open_journal(sqlite_storage, "a").close()
    (tmp_path / "holiday.db").write_text("precious")
    with pytest.raises(StorageError, match="not overwritten"):
        backup(sqlite_storage, tmp_path / "holiday.db")
    assert (tmp_path / "holiday.db").read_text() == "precious"


@pytest.mark.parametrize("destination", ["nowhere/backup.db", "journal.db/backup.db"])
def test_a_backup_that_cannot_be_written_says_so_and_leaves_nothing(
    sqlite_storage: str, tmp_path: Path, destination: str
) -> None:
    open_journal(sqlite_storage, "a").close()
    with pytest.raises(StorageError, match=r"cannot (copy|write)"):
        backup(sqlite_storage, tmp_path / destination)
    assert not list(tmp_path.glob("**/*.unfinished"))


def test_databases_and_backups_are_for_their_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with closing(open_journal(path, "a")) as journal:
        journal.append(records(0, 3)).wait()
        copy = backup(path, tmp_path / "backup.db")
        for one in (path, copy, *tmp_path.glob("journal.db-wal")):
            assert one.stat().st_mode & 0o077 == 0, one.name

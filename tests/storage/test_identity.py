"""Another database at the same place is told from an older copy of the one that was there."""

from __future__ import annotations

import logging
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import NullPool, create_engine, make_url, text

from handful.errors import StorageBehind, StorageError
from handful.storage import open_journal
from handful.storage.database import Database
from handful.storage.opening import database_at
from handful.storage.recovery import recover
from handful.storage.tables import make_identity
from tests.storage.test_chain import change, fill


def made_anew(url: str) -> None:
    """Drop everything that the database holds, and make it again empty."""
    schema = make_url(url).query["options"].removeprefix("-csearch_path=")  # type: ignore[union-attr]
    with create_engine(url, poolclass=NullPool).begin() as connection:
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
        connection.execute(text(f"CREATE SCHEMA {schema}"))


def test_a_database_made_anew_at_the_same_url_is_recognised_as_new(
    postgres_storage: str, caplog: pytest.LogCaptureFixture
) -> None:
    fill(postgres_storage, 0, 10)
    made_anew(postgres_storage)
    with caplog.at_level(logging.WARNING, "handful.storage"):
        fill(postgres_storage, 0, 3)
    assert "another database that was at this place before" in caplog.text
    caplog.clear()
    with closing(open_journal(postgres_storage, "a", mode="read")) as journal:
        assert len(list(journal.read())) == 3
    open_journal(postgres_storage, "a", mode="write").close()
    assert caplog.text == ""


def test_the_same_database_with_fewer_records_is_still_refused(storage: str) -> None:
    fill(storage, 0, 10)
    change(storage, "DELETE FROM events WHERE seq >= 5")
    for mode in ("read", "write"):
        with pytest.raises(StorageBehind):
            open_journal(storage, "a", mode=mode)  # type: ignore[arg-type]


def test_an_older_copy_from_before_databases_had_names_is_refused(storage: str) -> None:
    fill(storage, 0, 10)
    change(storage, "DELETE FROM events WHERE seq >= 5")
    change(storage, "DROP TABLE handful_identity")
    for mode in ("read", "write"):
        with pytest.raises(StorageBehind):
            open_journal(storage, "a", mode=mode)  # type: ignore[arg-type]


def test_a_database_without_a_name_gets_one_from_its_next_writer(storage: str) -> None:
    fill(storage, 0, 10)
    change(storage, "DROP TABLE handful_identity")
    fill(storage, 10, 12)
    change(storage, "DELETE FROM events WHERE seq >= 11")
    with pytest.raises(StorageBehind):
        open_journal(storage, "a", mode="write")


@pytest.mark.parametrize("keep", ["here", "other"])
def test_recovering_from_a_file_without_tables_says_so(tmp_path: Path, keep: str) -> None:
    sqlite3.connect(tmp_path / "empty.db").close()
    (tmp_path / "empty.db").touch()
    with pytest.raises(StorageError, match="holds no study"):
        recover(tmp_path / "empty.db", "a", keep)  # type: ignore[arg-type]


def test_two_that_name_an_old_database_at_once_give_it_one_name(storage: str) -> None:
    fill(storage, 0, 10)
    change(storage, "DROP TABLE handful_identity")
    database = database_at(storage)
    with ThreadPoolExecutor(1) as pool, database.connect_to_write() as first:
        with first.begin():
            name = make_identity(first)
            other = pool.submit(_named, database)
            with pytest.raises(FutureTimeout):
                other.result(0.3)  # it waits for the first
        assert other.result(10) == name


def _named(database: Database) -> str:
    with database.connect_to_write() as connection, connection.begin():
        return make_identity(connection)

"""One file that holds every study, made while they are written to."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from handful.errors import StorageError, StorageMissing
from handful.storage.opening import database_at, list_studies

if TYPE_CHECKING:
    from handful.storage.database import Database

CHUNK = 5_000
BESIDE = (
    "people",
    "people_studies",
    "people_retention",
    "invitations",
    "recruitments",
    "recruited",
    "ledger",
    "ledger_requests",
    "recruited_to_forget",
)
"""The tables beside the journals and keys; a database on a server may have others, which are not ours."""


def backup(url: str | Path, destination: str | Path) -> Path:
    """Copy all studies at `url` into a new SQLite file, which opens like any other; give its path.

    Nobody has to stop: the copy of each study is what was stored at one moment. Copying the file by hand instead may
    miss the answers that are still in the write-ahead log.
    """
    from handful.storage.sqlite import SqliteFile

    source, target = database_at(url), Path(destination)
    if source.is_absent():
        raise StorageMissing(f"there is no file {source.where}: check the path")
    if target.exists():
        raise StorageError(f"{target} is there already and is not overwritten: choose another name for the backup")
    unfinished = target.with_name(target.name + ".unfinished")
    try:
        unfinished.unlink(missing_ok=True)
        os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # for its owner only
        if isinstance(source, SqliteFile):
            _copy_file(source, unfinished)
        else:
            _copy_studies(url, unfinished)
        unfinished.rename(target)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink()
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"cannot write the backup {target}: {error.strerror}") from error
    return target


def note_ends(copy: Path) -> list[Path]:
    """Note beside a backup where each of its studies ends, as it was copied; give the files. They go where it goes."""
    from handful.storage.sql import tip_of
    from handful.storage.sqlite import SqliteFile
    from handful.storage.tables import FORMAT, format_of, identity_of, study_names
    from handful.storage.tips import TipFile

    database = SqliteFile(copy)
    noted = []
    with database.explaining(), database.connect() as connection:
        if not database.has_tables(connection) or format_of(connection, database.where) != FORMAT:
            return []  # of an older version: whoever opens it notes the ends
        identity = identity_of(connection)
        for study in study_names(connection):
            end = TipFile(database.tip_file(study).copied, study)
            if identity is not None:
                end.belongs_to(identity)
            end.write(tip_of(connection, study))
            end.close()
            noted.append(end.path)
    return noted


def _copy_file(source: Database, target: Path) -> None:
    """By SQLite's online backup, which sees one state of the file whoever writes meanwhile."""
    with source.explaining(), source.connect() as connection:
        source.has_tables(connection)
        connection.rollback()
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        try:
            with closing(sqlite3.connect(target)) as copy:
                driver.backup(copy)
        except sqlite3.Error as error:
            raise StorageError(f"cannot copy {source.where} to {target}: {error}") from error


def _copy_studies(url: str | Path, target: Path) -> None:
    """Record by record. A journal only grows, so what was read of it is what it was at some moment."""
    from handful.storage.keys import StoredKeys
    from handful.storage.sql import SqlReader, SqlWriter
    from handful.storage.sqlite import SqliteFile

    source, copy = database_at(url), SqliteFile(target)
    copy.prepare()
    for study in list_studies(url):
        records = SqlReader(source, study.name).read()
        writer = SqlWriter(copy, study.name, noting=False)
        try:
            while chunk := list(islice(records, CHUNK)):
                writer.append(chunk).wait()
        finally:
            writer.close()
    keys = StoredKeys(copy)
    for key in StoredKeys(source).all():
        keys.add(key)
    _copy_tables(source, copy)


def _copy_tables(source: Database, copy: Database) -> None:
    """The tables beside the journals, as they were at one moment: people, invitations, recruiting and what was paid."""
    from sqlalchemy import Column, Integer, MetaData, Table, UniqueConstraint, inspect, select

    with source.explaining(), source.connect() as connection:
        connection.rollback()
        connection = connection.execution_options(isolation_level="REPEATABLE READ")
        there, metadata = inspect(connection), MetaData()
        for name in filter(there.has_table, BESIDE):
            found = Table(name, MetaData(), autoload_with=connection)
            columns = [
                Column(column.name, column.type.as_generic(), primary_key=column.primary_key, nullable=column.nullable)
                for column in found.columns
            ]
            unique = [UniqueConstraint(*one["column_names"]) for one in there.get_unique_constraints(name)]
            numbered = [column for column in columns if column.primary_key and isinstance(column.type, Integer)]
            counts = len(numbered) == sum(column.primary_key for column in columns) == 1  # no number is given twice
            table = Table(name, metadata, *columns, *unique, sqlite_autoincrement=counts)
            rows = connection.execution_options(yield_per=CHUNK).execute(select(found))
            with copy.explaining(), copy.connect_to_write() as target, target.begin():
                table.create(target)
                for part in rows.mappings().partitions():
                    target.execute(table.insert(), [dict(row) for row in part])

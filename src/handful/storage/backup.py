"""One file that holds every study and all that is kept beside the journals, made while they are written to."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from handful.errors import StorageError, StorageMissing

if TYPE_CHECKING:
    from handful.storage.sql import Database

CHUNK = 5_000
BESIDE = (
    "keys",
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
"""The tables beside the journals; a database on a server may have others, which are not ours."""


def backup(url: str | Path, destination: str | Path) -> Path:
    """Copy all that is stored at `url` into a new SQLite file, which opens like any other; give its path.

    Nobody has to stop: the copy is what was stored at one moment. Copying a SQLite file by hand instead may miss the
    answers that are still in the write-ahead log.
    """
    from handful.storage.sql import SqliteFile, database_at

    source, target = database_at(url), Path(destination)
    if source.is_absent():
        raise StorageMissing(f"there is no file {source.where}: check the path")
    if target.exists():
        raise StorageError(f"{target} is there already and is not overwritten: choose another name for the backup")
    unfinished = target.with_name(target.name + ".unfinished")
    try:
        unfinished.unlink(missing_ok=True)
        os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # for its owner only
        _copy(source, SqliteFile(unfinished))
        unfinished.rename(target)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink()
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"cannot write the backup {target}: {error.strerror}") from error
    return target


def _copy(source: Database, copy: Database) -> None:
    """Every table of ours, as it was when the first was read."""
    from sqlalchemy import Column, Integer, MetaData, Table, UniqueConstraint, inspect, select

    from handful.storage.sql import events

    with source.reading() as connection:
        source.has_tables(connection)  # and nothing of another program
        connection.rollback()
        if connection.dialect.name == "postgresql":
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
        copy.prepare()
        there, metadata, tables = inspect(connection), MetaData(), [(events, events)]
        for name in filter(there.has_table, BESIDE):
            found = Table(name, MetaData(), autoload_with=connection)
            columns = [
                Column(column.name, column.type.as_generic(), primary_key=column.primary_key, nullable=column.nullable)
                for column in found.columns
            ]
            unique = [UniqueConstraint(*one["column_names"]) for one in there.get_unique_constraints(name)]
            numbered = [column for column in columns if column.primary_key and isinstance(column.type, Integer)]
            counts = len(numbered) == sum(column.primary_key for column in columns) == 1  # no number is given twice
            tables.append((found, Table(name, metadata, *columns, *unique, sqlite_autoincrement=counts)))
        with copy.writing() as target:
            metadata.create_all(target)
            for found, table in tables:
                rows = connection.execution_options(yield_per=CHUNK).execute(select(found))
                for part in rows.mappings().partitions():
                    target.execute(table.insert(), [dict(row) for row in part])

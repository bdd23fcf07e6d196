"""Whether a storage can be written to at this moment."""

from __future__ import annotations

from pathlib import Path

from handful.errors import StorageError
from handful.storage.opening import database_at


def probe(url: str | Path) -> None:
    """Write to the storage durably and read that back; StorageError, with its cause, if that fails.

    No study changes: what is written is the format that the tables have anyway.
    """
    from sqlalchemy import update

    from handful.storage.tables import FORMAT, format_of, format_table

    database = database_at(url)
    if database.is_absent():
        raise StorageError(f"there is no file {database.where}: it was moved or deleted")
    with database.explaining():
        with database.connect_to_write() as connection, connection.begin():
            # There and back: SQLite does not write what is as it was. Nobody sees what is between.
            for before, after in ((FORMAT, -FORMAT), (-FORMAT, FORMAT)):
                connection.execute(update(format_table).where(format_table.c.version == before).values(version=after))
        with database.connect() as connection:
            format_of(connection, database.where)

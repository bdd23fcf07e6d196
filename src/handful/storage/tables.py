"""The tables, the same in SQLite and PostgreSQL, and the few statements made on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    Integer,
    MetaData,
    Table,
    Text,
    false,
    func,
    insert,
    inspect,
    select,
)

from handful.errors import JournalTooNew, StorageCorrupt
from handful.storage.base import StudySummary
from handful.storage.records import Record

FORMAT = 1
"""Of the tables, not of the events: those carry a version each."""

metadata = MetaData()
format_table = Table("handful_format", metadata, Column("version", Integer, nullable=False))
events = Table(
    "events",
    metadata,
    Column("study", Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("version", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("time", Double, nullable=False),
    Column("payload", Text, nullable=False),
    # Kept in the order of the key, so that reading a study is reading a file from front to back.
    sqlite_with_rowid=False,
)

_COLUMNS = (events.c.seq, events.c.version, events.c.kind, events.c.time, events.c.payload)


def make_tables(connection: Connection) -> None:
    metadata.create_all(connection)
    connection.execute(insert(format_table).values(version=FORMAT))


def tables_present(connection: Connection) -> bool:
    return inspect(connection).has_table(format_table.name)


def check_format(connection: Connection, where: str) -> None:
    """Raise unless the tables there are of a format that this version of handful knows."""
    versions = list(connection.execute(select(format_table.c.version)).scalars())
    if len(versions) != 1 or not isinstance(versions[0], int):
        raise StorageCorrupt(f"{where} names {len(versions)} storage formats, expected one: restore it from a backup")
    if versions[0] > FORMAT:
        raise JournalTooNew(
            f"{where} has storage format {versions[0]}, this version of handful knows up to {FORMAT}: upgrade handful"
        )
    connection.execute(select(*_COLUMNS, events.c.study).limit(0))


def last_seq(connection: Connection, study: str) -> int:
    """The seq of the study's last record, -1 if it has none."""
    last: int | None = connection.execute(select(func.max(events.c.seq)).where(events.c.study == study)).scalar()
    return -1 if last is None else last


def check_writable(connection: Connection) -> None:
    """Raise what the first real insert would raise; insert nothing."""
    connection.execute(insert(events).from_select(list(events.c), select(events).where(false())))


def insert_records(connection: Connection, study: str, records: Sequence[Record]) -> None:
    connection.execute(
        insert(events),
        [
            {"study": study, "seq": r.seq, "version": r.version, "kind": r.kind, "time": r.time, "payload": r.payload}
            for r in records
        ],
    )


def select_records(connection: Connection, study: str, after_seq: int, limit: int) -> list[Record]:
    """The next records in order; StorageCorrupt if one is missing among them or is not a record."""
    statement = (
        select(*_COLUMNS).where(events.c.study == study, events.c.seq > after_seq).order_by(events.c.seq).limit(limit)
    )
    records = []
    for expected, (seq, version, kind, time, payload) in enumerate(connection.execute(statement), after_seq + 1):
        if seq != expected:
            raise StorageCorrupt(
                f"record {expected} of study {study!r} is missing: the next is {seq}; restore the storage from a backup"
            )
        if type(payload) is not str or type(version) is not int or type(kind) is not str or type(time) is not float:
            raise StorageCorrupt(
                f"record {seq} of study {study!r} is not a record (version {version!r}, kind {kind!r}, time {time!r}); "
                "restore the storage from a backup"
            )
        records.append(Record(seq, version, kind, time, payload))
    return records


def summaries(connection: Connection) -> Iterator[StudySummary]:
    """All studies by name. Hops from one to the next along the key; counting rows would read every record."""
    name: str | None = connection.execute(select(func.min(events.c.study))).scalar()
    times = select(events.c.time)
    while name is not None:
        own = events.c.study == name
        last = last_seq(connection, name)
        first_time: float = connection.execute(times.where(own).order_by(events.c.seq).limit(1)).scalar_one()
        last_time: float = connection.execute(times.where(own, events.c.seq == last)).scalar_one()
        yield StudySummary(name, last + 1, first_time, last_time)
        name = connection.execute(select(func.min(events.c.study)).where(events.c.study > name)).scalar()

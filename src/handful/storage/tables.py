"""The tables, the same in SQLite and PostgreSQL, and the few statements made on them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import blake2b
from itertools import chain, repeat
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    bindparam,
    false,
    func,
    insert,
    inspect,
    null,
    select,
    text,
    update,
)
from sqlalchemy.exc import DBAPIError

from handful.errors import JournalTooNew, StorageCorrupt
from handful.storage.base import StudySummary
from handful.storage.chain import EMPTY, Tip, hash_after, hashes_after
from handful.storage.records import Record

FORMAT = 2
"""Of the tables, not of the events: those carry a version each. Format 1 had no hashes."""

CHUNK = 5_000
"""Records per query: short queries hold nothing up, neither memory nor the database's own cleaning."""

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
    # Over the record and the hash before it. It may be missing only in what an older version of handful wrote.
    Column("hash", LargeBinary, nullable=True),
    # Kept in the order of the key, so that reading a study is reading a file from front to back.
    sqlite_with_rowid=False,
)
identity_table = Table("handful_identity", metadata, Column("id", Text, nullable=False))
keys_table = Table(
    "keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("study", Text, nullable=True),
    Column("role", Text, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("made", Double, nullable=False),
    Column("revoked", Double, nullable=True),
)

COLUMNS = tuple(column.name for column in events.columns)
AT_ONCE = 100  # records in one statement: SQLite takes so many values in any version

_COLUMNS = (events.c.seq, events.c.version, events.c.kind, events.c.time, events.c.payload)
_TYPES = (int, str, float, str)  # of all but the first


def make_tables(connection: Connection) -> None:
    create_missing(connection, metadata.sorted_tables)
    connection.execute(insert(format_table).values(version=FORMAT))
    make_identity(connection)


def make_identity(connection: Connection) -> str:
    """A name by which this database is told from another one at the same place; made unless it has one."""
    identity = identity_of(connection)
    if identity is None:
        create_missing(connection, [identity_table])
        identity = identity_of(connection)  # perhaps another process named it while this one waited for the lock
    if identity is None:
        identity = secrets.token_hex(8)
        connection.execute(insert(identity_table).values(id=identity))
    return identity


def create_missing(connection: Connection, tables: Sequence[Table]) -> None:
    """Make the tables that are not there. Several processes may do so at once: they wait for each other."""
    here = inspect(connection)
    if all(here.has_table(table.name) for table in tables):
        return
    lock_tables(connection)
    for table in tables:
        table.create(connection, checkfirst=True)


def lock_tables(connection: Connection) -> None:
    """Until the transaction ends, no other process makes or changes tables.

    In PostgreSQL two that make the same table at once would disturb each other. A transaction that writes to SQLite
    has the whole file for itself already.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(lock_number("handful"))))


def lock_number(*parts: str | None) -> int:
    """PostgreSQL's advisory locks are named by 64-bit integers."""
    digest = blake2b("\x00".join(map(str, parts)).encode(), digest_size=8, person=b"handful").digest()
    return int.from_bytes(digest, signed=True)


def identity_of(connection: Connection) -> str | None:
    """The name of the database; None if it was made by an older version of handful."""
    if not inspect(connection).has_table(identity_table.name):
        return None
    return connection.execute(select(identity_table.c.id)).scalar()


def tables_present(connection: Connection) -> bool:
    return inspect(connection).has_table(format_table.name)


def check_format(connection: Connection, where: str) -> int:
    """The format of the tables there; raises unless this version of handful knows it."""
    version = format_of(connection, where)
    if version > FORMAT:
        raise JournalTooNew(
            f"{where} has storage format {version}, this version of handful knows up to {FORMAT}: upgrade handful"
        )
    chained = (events.c.hash,) if version == FORMAT else ()
    connection.execute(select(*_COLUMNS, events.c.study, *chained).limit(0))
    return version


def format_of(connection: Connection, where: str) -> int:
    """The format that the tables say they have."""
    versions = list(connection.execute(select(format_table.c.version)).scalars())
    if len(versions) != 1 or not isinstance(versions[0], int):
        raise StorageCorrupt(f"{where} names {len(versions)} storage formats, expected one: restore it from a backup")
    return versions[0]


def last_seq(connection: Connection, study: str) -> int:
    """The seq of the study's last record, -1 if it has none."""
    last: int | None = connection.execute(select(func.max(events.c.seq)).where(events.c.study == study)).scalar()
    return -1 if last is None else last


def check_writable(connection: Connection) -> None:
    """Raise what the first real insert would raise; insert nothing."""
    connection.execute(insert(events).from_select(list(events.c), select(events).where(false())))


def hash_at(connection: Connection, study: str, seq: int) -> bytes | None:
    """The hash of a record; None if it is not there, or has none."""
    if seq == EMPTY.seq:
        return EMPTY.hash
    found = select(events.c.hash).where(events.c.study == study, events.c.seq == seq)
    return connection.execute(found).scalar()


def insert_records(connection: Connection, study: str, records: Sequence[Record], before: Tip) -> Tip:
    """Insert the records that follow `before`; give the tip after them."""
    hashes = hashes_after(before.hash, records)
    rows = [(study, *record, hash_) for record, hash_ in zip(records, hashes, strict=True)]
    # Straight to the driver, as in `_fetched`: every answer waits for this.
    if connection.dialect.name == "sqlite":
        # Many in one statement: after every statement Python's own lock is waited for again.
        for at in range(0, len(rows), AT_ONCE):
            part = rows[at : at + AT_ONCE]
            connection.exec_driver_sql(_insert_of(len(part)), tuple(chain.from_iterable(part)))
    else:
        connection.exec_driver_sql(_insert_of(1, "%s"), rows)
    return Tip(records[-1].seq, hashes[-1])


@cache
def _insert_of(rows: int, place: str = "?") -> str:
    """The statement that inserts so many records."""
    places = f"({', '.join([place] * len(COLUMNS))})"
    return f"INSERT INTO {events.name} ({', '.join(COLUMNS)}) VALUES {', '.join([places] * rows)}"


def rows_after(
    connection: Connection, study: str, after_seq: int, limit: int, *, chained: bool
) -> Iterator[tuple[Record, object]]:
    """The next records in order, each with the hash stored with it (None in tables of format 1).

    StorageCorrupt if one is missing among them or is not a record. The hashes are not checked.
    """
    for expected, row in enumerate(_fetched(connection, study, after_seq, limit, chained), after_seq + 1):
        _check_row(row, expected, study)
        yield Record(*row[:5]), row[5]


def records_after(connection: Connection, study: str, before: Tip, limit: int) -> tuple[list[Record], Tip]:
    """The next records in order, each checked to follow the one before it, and the tip after them."""
    rows = _fetched(connection, study, before.seq, limit, True)
    if not rows:
        return [], before
    # Column by column, which is quicker than row by row; these are looked at again only if something is wrong.
    *columns, stored = zip(*rows, strict=True)
    expected = tuple(range(before.seq + 1, before.seq + 1 + len(rows)))
    if columns[0] != expected or any(
        {*map(type, column)} != {kind} for column, kind in zip(columns[1:], _TYPES, strict=True)
    ):
        for seq, row in zip(expected, rows, strict=True):
            _check_row(row, seq, study)
    records = list(map(tuple.__new__, repeat(Record), zip(*columns, strict=True)))  # no call of Python's for each
    hashes = hashes_after(before.hash, records)
    if tuple(hashes) != stored:
        wrong = next(seq for seq, found, known in zip(expected, hashes, stored, strict=True) if found != known)
        raise StorageCorrupt(
            f"record {wrong} of study {study!r} does not follow the one before it: one of them was changed or "
            "written by another program, or by an older version of handful; `handful recover` shows what is whole"
        )
    return records, Tip(expected[-1], hashes[-1])


def _fetched(
    connection: Connection, study: str, after_seq: int, limit: int, chained: bool
) -> list[tuple[Any, Any, Any, Any, Any, Any]]:
    # Bounded from above: PostgreSQL would sort all that is left for each part, unless it has counted the rows before.
    rows = _all_between(connection, study, after_seq, after_seq + limit, limit, chained)
    # Where nothing follows at once, something may follow a hole: whoever looks at the rows tells of that.
    return rows or _all_between(connection, study, after_seq, None, limit, chained)


def _all_between(
    connection: Connection, study: str, after_seq: int, last: int | None, limit: int, chained: bool
) -> list[tuple[Any, Any, Any, Any, Any, Any]]:
    bounds = (events.c.study == study, events.c.seq > after_seq, *(() if last is None else (events.c.seq <= last,)))
    columns = select(*_COLUMNS, events.c.hash if chained else null())
    statement = columns.where(*bounds).order_by(events.c.seq).limit(limit)
    # Straight from the driver: these columns need no conversion, and reading a journal is what reopening waits for.
    cursor = connection.execute(statement).cursor
    assert cursor is not None
    try:
        return cursor.fetchall()  # type: ignore[return-value]
    except connection.dialect.loaded_dbapi.Error as error:  # which SQLAlchemy has not seen
        raise DBAPIError(str(statement), None, error) from error


def _check_row(row: tuple[Any, Any, Any, Any, Any, Any], expected: int, study: str) -> None:
    seq, version, kind, time, payload, _ = row
    if seq != expected:
        raise StorageCorrupt(
            f"record {expected} of study {study!r} is missing: the next is {seq}; restore the storage from a backup"
        )
    if (type(version), type(kind), type(time), type(payload)) != _TYPES:
        raise StorageCorrupt(
            f"record {seq} of study {study!r} is not a record (version {version!r}, kind {kind!r}, time {time!r}); "
            "restore the storage from a backup"
        )


def study_names(connection: Connection) -> Iterator[str]:
    """All studies by name. Hops from one to the next along the key; else every record would be read."""
    name: str | None = connection.execute(select(func.min(events.c.study))).scalar()
    while name is not None:
        yield name
        name = connection.execute(select(func.min(events.c.study)).where(events.c.study > name)).scalar()


def chain_all(connection: Connection) -> dict[str, Tip]:
    """Turn tables of format 1 into the present ones: every record gets its hash. Gives the tip of each study."""
    of_type = events.c.hash.type.compile(connection.dialect)
    connection.execute(text(f"ALTER TABLE {events.name} ADD COLUMN {events.c.hash.name} {of_type}"))
    connection.execute(update(format_table).values(version=FORMAT))
    return {name: chain_study(connection, name) for name in list(study_names(connection))}


def chain_study(connection: Connection, study: str) -> Tip:
    """Give every record of a study its hash, up to the first that is missing or unreadable; give the tip there."""
    own = (events.c.study == study, events.c.seq == bindparam("at"))
    statement = update(events).where(*own).values(hash=bindparam("found"))
    tip, rows = EMPTY, list[dict[str, object]]()
    try:
        while tip.seq < last_seq(connection, study):
            for record, _ in rows_after(connection, study, tip.seq, CHUNK, chained=False):
                tip = Tip(record.seq, hash_after(tip.hash, record))
                rows.append({"at": tip.seq, "found": tip.hash})
            connection.execute(statement, rows)
            rows = []
    except StorageCorrupt:
        # Whoever reads that study is told; the others in the same database are whole.
        if rows:
            connection.execute(statement, rows)
    return tip


def summaries(connection: Connection) -> Iterator[StudySummary]:
    """All studies by name, with their length and times; counting rows would read every record."""
    times = select(events.c.time)
    for name in study_names(connection):
        own = events.c.study == name
        last = last_seq(connection, name)
        first_time: float = connection.execute(times.where(own).order_by(events.c.seq).limit(1)).scalar_one()
        last_time: float = connection.execute(times.where(own, events.c.seq == last)).scalar_one()
        yield StudySummary(name, last + 1, first_time, last_time)

"""Journals in an SQL database: the same tables and the same statements in SQLite and PostgreSQL.

From top to bottom: the journal as a reader and as its one writer see it; the thread that stores what many append; the
tables; and the two databases, each with what it must say for itself.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from threading import Condition, Lock, Thread, current_thread
from typing import Any, Protocol
from urllib.parse import quote
from weakref import WeakSet, finalize

from filelock import FileLock, Timeout
from sqlalchemy import (
    URL,
    BigInteger,
    Column,
    Connection,
    Double,
    Engine,
    Integer,
    MetaData,
    NullPool,
    Table,
    Text,
    create_engine,
    event,
    false,
    func,
    insert,
    inspect,
    make_url,
    select,
    text,
    update,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError

from handful.errors import (
    JournalTooNew,
    MissingExtra,
    StorageBehind,
    StorageCorrupt,
    StorageError,
    StorageLocked,
)
from handful.storage import CLOSE_IT, without_password
from handful.storage.journal import Record, StudySummary, Ticket, check_follows

FORMAT = 1
"""Of the tables, not of the events: those carry a version each."""

CHUNK = 5_000
"""Records per query: short queries hold nothing up, neither memory nor the database's own cleaning."""

AT_ONCE = 100
"""Records in one statement: SQLite takes so many values in any version."""

RETRY_SECONDS = 0.2
"""Between two tries to get a lost connection back."""

BUSY_SECONDS = 30.0
"""How long to wait for the writers of other studies in the same SQLite file."""

LOCK_SECONDS = 1.0
"""How long to wait for a lock in PostgreSQL: the server needs a moment to notice that its holder was killed."""


# The journal


class SqlReader:
    """A journal opened read-only."""

    def __init__(self, database: Database, study: str) -> None:
        self._database = database
        self._study = study

    def append(self, records: Sequence[Record]) -> Ticket:
        raise StorageError(f"study {self._study!r} is open read-only and takes no records: open it for writing")

    def read(self, after_seq: int = -1) -> Iterator[Record]:
        with self._database.reading() as connection:
            while chunk := records_after(connection, self._study, after_seq, CHUNK):
                connection.rollback()
                yield from chunk
                after_seq = chunk[-1].seq

    def close(self) -> None:
        """Nothing is held between two reads."""


class SqlWriter:
    """A journal opened for writing, and the only one of its study. `new`: nothing of that name was there before."""

    def __init__(self, database: Database, study: str, *, new: bool = False) -> None:
        self._reader = SqlReader(database, study)
        end = _End(database, study, new=new)
        self.is_new = end.next_seq == 0
        self._committer = GroupCommitter(end.commit, end.close, end.next_seq, study)
        # Also when forgotten, or when the program ends: what was queued is stored, and the lock freed.
        self._finalizer = finalize(self, self._committer.close)

    def append(self, records: Sequence[Record]) -> Ticket:
        return self._committer.append(records)

    def read(self, after_seq: int = -1) -> Iterator[Record]:
        self._committer.flush()
        return self._reader.read(after_seq)

    def close(self) -> None:
        self._finalizer.detach()
        self._committer.close()


_last_stored: dict[tuple[str, str], Record] = {}
"""By place and study, the last record that this process stored or found when it first opened the study for writing."""


class _End:
    """The end of a journal, where records are added, under the study's lock.

    Used by one thread at a time: the one that opens it, then the committer's.
    """

    def __init__(self, database: Database, study: str, *, new: bool) -> None:
        self._database = database
        self._study = study
        self._key = database.place, study
        with database.explaining():
            self._session = database.lock(study)
            try:
                with self._session.connection.begin():
                    check_writable(self._session.connection)
                    if new:
                        _last_stored.pop(self._key, None)  # of one that was deleted on purpose
                    self._check_last(self._session.connection)
                    last = last_seq(self._session.connection, study)
                    self._found(records_after(self._session.connection, study, last - 1, 1))
                self.next_seq = last + 1
            except BaseException:
                self._session.close()
                raise

    def commit(self, records: Sequence[Record]) -> None:
        """Store all the records or raise. A lost connection is got back first, for as long as the database allows."""
        try:
            self._insert(records)
        except DBAPIError as error:
            if not self._database.connection_was_lost(error):
                raise self._database.explained(error) from error
            self._insert_again(records)
        self._database.check_kept()
        self._found(records)

    def close(self) -> None:
        self._session.close()

    def _found(self, records: Sequence[Record]) -> None:
        if records:
            _last_stored[self._key] = records[-1]

    def _check_last(self, connection: Connection) -> None:
        """Raise StorageBehind unless the last record that was stored is there: answers after it were acknowledged.

        A replica may lag, or an older copy be put back while the program runs. Whoever starts it again goes on from
        what is there.
        """
        last = _last_stored.get(self._key)
        if last is None or _records_between(connection, self._study, last.seq - 1, last.seq) == [last]:
            return
        where, held = self._database.where, last_seq(connection, self._study) + 1
        found = (
            f"{where} holds {held:,} records of study {self._study!r}, but {last.seq + 1:,} were stored"
            if held <= last.seq
            else f"record {last.seq} of study {self._study!r} in {where} is not the one that was stored"
        )
        raise StorageBehind(
            f"{found}: it is an older or another copy, and nothing is written to it; put the right one back, or start "
            "the program again to go on from what is there"
        )

    def _insert(self, records: Sequence[Record]) -> None:
        with self._session.connection.begin():
            insert_records(self._session.connection, self._study, records)

    def _insert_again(self, records: Sequence[Record]) -> None:
        deadline = time.monotonic() + self._database.patience
        while True:
            try:
                self._reconnect()
                if not self._arrived(records):
                    self._insert(records)
                return
            except (OperationalError, InterfaceError, StorageLocked) as error:
                if time.monotonic() >= deadline:
                    raise StorageError(
                        f"the connection to {self._database.where} was lost and did not come back within "
                        f"{self._database.patience:.0f} seconds ({getattr(error, 'orig', error)})"
                    ) from error
                time.sleep(RETRY_SECONDS)
            except DBAPIError as error:
                raise self._database.explained(error) from error

    def _reconnect(self) -> None:
        """A new session. Holding the lock again means that the old one, and its last transaction, have ended."""
        with suppress(DBAPIError):
            self._session.close()
        self._session = self._database.lock(self._study)

    def _arrived(self, records: Sequence[Record]) -> bool:
        """Whether the transaction that lost its connection was committed all the same."""
        connection = self._session.connection
        with connection.begin():
            self._check_last(connection)
            found = records_after(connection, self._study, records[0].seq - 1, len(records) + 1)
        if found and found != list(records):
            raise StorageError(
                f"another writer appended to study {self._study!r} while the connection to {self._database.where} was "
                "lost; open the study again to go on from what is stored"
            )
        return bool(found)


# The committer: many threads append, one commits.
#
# A durable commit costs a flush of the disk however little it holds. Sixty-four threads that share commits store many
# times more answers in a second than sixty-four that each make their own.


class Batch:
    """The records of one transaction, and the ticket of everyone who put some into it."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.done = False
        self._error: StorageError | None = None
        # Held until the batch is complete; then those who wait pass it on. An event wakes them at ten times the cost.
        self._completed = Lock()
        self._completed.acquire()

    def wait(self) -> None:
        if not self.done:
            with self._completed:
                pass
        if self._error is not None:
            # Each waiter raises its own: a shared exception would collect the tracebacks of all.
            raise type(self._error)(*self._error.args) from self._error

    def complete(self, error: StorageError | None = None) -> None:
        self._error = error
        self.records = []
        self.done = True
        self._completed.release()


class GroupCommitter:
    """A queue of records and the thread that stores them.

    When a commit fails, everyone who waits learns it, and nothing more is taken: the study's state in memory would
    otherwise run ahead of what is stored, and nobody would know.
    """

    def __init__(
        self, commit: Callable[[Sequence[Record]], None], release: Callable[[], None], next_seq: int, name: str
    ) -> None:
        self._commit = commit
        self._release = release
        self._next_seq = next_seq
        # A re-entrant lock: the garbage collector may close a forgotten journal from inside these very methods.
        self._changed = Condition()
        self._pending = Batch()
        self._latest = Batch()
        self._latest.complete()
        self._closing = False
        self._error: StorageError | None = None
        self._is_forked_copy = False
        self._thread = Thread(target=self._run, name=f"journal of {name}", daemon=True)
        _of_this_process.add(self)
        self._thread.start()

    def append(self, records: Sequence[Record]) -> Batch:
        with self._changed:
            if self._error is not None:
                raise StorageError(
                    f"the journal takes no more records since one commit failed ({self._error}); "
                    "open the study again to go on from what is stored"
                ) from self._error
            if self._closing:
                raise StorageError("this journal is closed and takes no more records; open the study again")
            self._next_seq = check_follows(records, self._next_seq)
            if not records:
                return self._latest
            self._latest = self._pending
            self._latest.records.extend(records)
            self._changed.notify()
            return self._latest

    def flush(self) -> None:
        """Return once everything appended so far is durable."""
        self._latest.wait()

    def close(self) -> None:
        """Store what is queued, stop, release the lock. Raises if anything ever appended could not be stored."""
        if self._is_forked_copy:
            return
        with self._changed:
            closed_before, self._closing = self._closing, True
            self._changed.notify()
        if current_thread() is not self._thread:
            self._thread.join()
        if self._error is not None and not closed_before:
            raise type(self._error)(*self._error.args) from self._error

    def leave_to_parent(self) -> None:
        """In a forked child: take and wait for nothing, since the thread did not come along."""
        # Nor did other threads, which may hold the old condition and the old batches locked for ever.
        self._changed = Condition()
        self._is_forked_copy = True
        self._error = StorageError("this is a forked copy of the process that opened the journal")
        self._pending = self._latest = Batch()
        self._latest.complete(self._error)

    def _run(self) -> None:
        while (batch := self._take()) is not None:
            try:
                self._commit(batch.records)
            except Exception as error:
                self._stop(batch, error if isinstance(error, StorageError) else StorageError(repr(error)))
                return
            batch.complete()
        self._release()

    def _take(self) -> Batch | None:
        with self._changed:
            self._changed.wait_for(lambda: self._pending.records or self._closing)
            if not self._pending.records:
                return None
            batch, self._pending = self._pending, Batch()
            return batch

    def _stop(self, batch: Batch, error: StorageError) -> None:
        with self._changed:
            self._error = error
        try:
            # Before anyone learns of it, so that whoever then opens the study again finds it free.
            self._release()
        finally:
            batch.complete(error)
            self._pending.complete(error)


# A forked child lets go at once: the study stays with the process that opened it. Executors fork, and a child that kept
# its copy of a connection would hold the study after its parent was killed, or write between its parent's records. The
# copies of locked files are closed by `filelock` itself.


class _Owned(Protocol):
    def leave_to_parent(self) -> None: ...


_of_this_process: WeakSet[_Owned] = WeakSet()


def _leave_all_to_parent() -> None:
    for thing in _of_this_process:
        thing.leave_to_parent()


os.register_at_fork(after_in_child=_leave_all_to_parent)


# The tables

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

_RECORD = select(events.c.seq, events.c.version, events.c.kind, events.c.time, events.c.payload)
_COLUMNS = ("study", *Record._fields)
_TYPES = (int, int, str, float, str)


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
        connection.execute(select(func.pg_advisory_xact_lock(_lock_number("handful"))))


def _lock_number(*parts: str | None) -> int:
    """PostgreSQL's advisory locks are named by 64-bit integers."""
    digest = blake2b("\x00".join(map(str, parts)).encode(), digest_size=8, person=b"handful").digest()
    return int.from_bytes(digest, signed=True)


def check_format(connection: Connection, where: str) -> None:
    """Raise unless the tables there are those that this version of handful knows."""
    versions = list(connection.execute(select(format_table.c.version)).scalars())
    if len(versions) != 1 or not isinstance(versions[0], int):
        raise StorageCorrupt(f"{where} names {len(versions)} storage formats, expected one: restore it from a backup")
    if versions[0] > FORMAT:
        raise JournalTooNew(
            f"{where} has storage format {versions[0]}, this version of handful knows up to {FORMAT}: upgrade handful"
        )
    connection.execute(_RECORD.add_columns(events.c.study).limit(0))


def check_writable(connection: Connection) -> None:
    """Raise what the first real insert would raise; insert nothing."""
    connection.execute(insert(events).from_select(list(events.c), select(events).where(false())))


def last_seq(connection: Connection, study: str) -> int:
    """The seq of the study's last record, -1 if it has none."""
    last: int | None = connection.execute(select(func.max(events.c.seq)).where(events.c.study == study)).scalar()
    return -1 if last is None else last


def insert_records(connection: Connection, study: str, records: Sequence[Record]) -> None:
    """Insert records; the database refuses a number that is there."""
    rows = [(study, *record) for record in records]
    # Straight to the driver: every answer waits for this.
    if connection.dialect.name == "sqlite":
        # Many in one statement: after every statement Python's own lock is waited for again.
        for at in range(0, len(rows), AT_ONCE):
            part = rows[at : at + AT_ONCE]
            connection.exec_driver_sql(_insert_of(len(part), "?"), tuple(chain.from_iterable(part)))
    else:
        connection.exec_driver_sql(_insert_of(1, "%s"), rows)  # prepared once, sent in one go


@cache
def _insert_of(rows: int, place: str) -> str:
    """The statement that inserts so many records."""
    places = f"({', '.join([place] * len(_COLUMNS))})"
    return f"INSERT INTO {events.name} ({', '.join(_COLUMNS)}) VALUES {', '.join([places] * rows)}"


def records_after(connection: Connection, study: str, after_seq: int, limit: int) -> list[Record]:
    """The next records in order. StorageCorrupt if one is missing among them or is not a record."""
    # Bounded from above: PostgreSQL would sort all that is left for each part, unless it has counted the rows before.
    while not (found := _records_between(connection, study, after_seq, after_seq + limit)):
        beyond = select(func.min(events.c.seq)).where(events.c.study == study, events.c.seq > after_seq)
        next_seq: int | None = connection.execute(beyond).scalar()
        if next_seq is None:
            break
        if next_seq > after_seq + 1:
            raise _missing(study, after_seq + 1, next_seq)
    return found


def _records_between(connection: Connection, study: str, after_seq: int, last: int) -> list[Record]:
    bounds = (events.c.study == study, events.c.seq > after_seq, events.c.seq <= last)
    found = list(map(Record._make, connection.execute(_RECORD.where(*bounds).order_by(events.c.seq))))
    for expected, record in enumerate(found, after_seq + 1):
        if (*map(type, record),) != _TYPES:
            raise StorageCorrupt(
                f"record {expected} of study {study!r} is not a record (version {record.version!r}, kind "
                f"{record.kind!r}, time {record.time!r}); restore the storage from a backup"
            )
        if record.seq != expected:
            raise _missing(study, expected, record.seq)
    return found


def _missing(study: str, seq: int, further: int) -> StorageCorrupt:
    return StorageCorrupt(
        f"record {seq} of study {study!r} is missing: the next is {further}; restore the storage from a backup"
    )


def study_names(connection: Connection) -> Iterator[str]:
    """All studies by name. Hops from one to the next along the key; else every record would be read."""
    name: str | None = connection.execute(select(func.min(events.c.study))).scalar()
    while name is not None:
        yield name
        name = connection.execute(select(func.min(events.c.study)).where(events.c.study > name)).scalar()


def _summary(connection: Connection, study: str) -> StudySummary:
    """A study's length and times; counting rows would read every record."""
    own, last = events.c.study == study, last_seq(connection, study)
    ends = select(events.c.time).where(own)
    first_time: float = connection.execute(ends.order_by(events.c.seq).limit(1)).scalar_one()
    last_time: float = connection.execute(ends.where(events.c.seq == last)).scalar_one()
    return StudySummary(study, last + 1, first_time, last_time)


# The databases

FILE_ENDINGS = (".db", ".sqlite", ".sqlite3")
EXPORTED = (".jsonl", ".ndjson")
SUPPORTED = "expected 'sqlite:///file.db', a path that ends in .db or .sqlite, or 'postgresql://user@host/database'"


def database_at(url: str | Path) -> Database:
    """The database that a URL or a path means; nothing is opened yet."""
    text = str(url)
    if "://" not in text:
        if text.endswith(EXPORTED):
            raise StorageError(
                f"{text} is a journal that was exported as JSON lines, which cannot be opened or replayed by itself: "
                "give the database that it was exported from, or a backup of that"
            )
        if not text.endswith(FILE_ENDINGS):
            raise StorageError(f"cannot tell what storage {without_password(text)!r} is: {SUPPORTED}")
        return SqliteFile(Path(text))
    try:
        parsed = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise StorageError(f"a storage URL cannot be read ({type(error).__name__}): {SUPPORTED}") from error
    backend = parsed.get_backend_name()
    if backend == "sqlite" and parsed.database not in (None, "", ":memory:") and not parsed.query and not parsed.host:
        return SqliteFile(Path(str(parsed.database)))
    if backend in ("postgresql", "postgres"):
        return PostgresDatabase(parsed)
    raise StorageError(f"no storage for {without_password(str(parsed))!r}: {SUPPORTED}")


class LockingSession:
    """A connection that may write to one study, and nobody else's may until it is closed."""

    def __init__(self, connection: Connection, free: Callable[[Connection], None]) -> None:
        self._driver: Any = connection.connection.driver_connection
        # Out of the pool, so that a forked child does not tidy up its parent's connection.
        connection.detach()
        self.connection = connection
        self._free = free
        self._left = False
        _of_this_process.add(self)

    def close(self) -> None:
        """Free the study. A second call does nothing."""
        self._free(self.connection)

    def leave_to_parent(self) -> None:
        """Close a child's copy of the socket to a server, without a word to it."""
        if hasattr(self._driver, "fileno") and not self._driver.closed and not self._left:
            self._left = True
            os.close(self._driver.fileno())


class Database(ABC):
    """A place that holds the journals of any number of studies, and what is kept beside them."""

    where: str
    """Names the place in messages, without a password."""

    place: str
    """The same for two names of one place."""

    patience: float
    """For how many seconds a writer tries to get a lost connection back."""

    @abstractmethod
    def connect(self) -> Connection:
        """A connection to read with, usable from any thread, one at a time."""

    @abstractmethod
    def connect_to_write(self) -> Connection:
        """A connection that may write, and holds no study."""

    @abstractmethod
    def is_absent(self) -> bool:
        """Whether there is nothing yet to connect to, and a study could be created."""

    @abstractmethod
    def prepare(self) -> None:
        """Make the tables unless they are there. May be called by several processes at once."""

    @abstractmethod
    def lock(self, study: str) -> LockingSession:
        """Become the study's only writer, or raise StorageLocked."""

    @abstractmethod
    def wipe(self, tables: tuple[str, ...]) -> None:
        """Leave nothing of rows that were deleted from or changed in these tables, as far as the database reaches."""

    @abstractmethod
    def check_kept(self) -> None:
        """After a commit: raise if what was just written is not where the next reader will look."""

    @abstractmethod
    def check_is_ours_to_use(self, connection: Connection) -> None:
        """Where our tables are missing: raise StorageCorrupt if what is there belongs to another program."""

    @abstractmethod
    def connection_was_lost(self, error: DBAPIError) -> bool:
        """Whether trying again on a new connection may help."""

    @abstractmethod
    def is_corrupt(self, error: DBAPIError) -> bool:
        """Whether the error means that what is stored is not a journal."""

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection to read with."""
        with self.explaining(), self.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes; what was done in it is durable afterwards."""
        with self.explaining(), self.connect_to_write() as connection, connection.begin():
            yield connection

    def has_tables(self, connection: Connection) -> bool:
        """Whether there are journals of a known format here; raises if there is something else."""
        if not inspect(connection).has_table(format_table.name):
            self.check_is_ours_to_use(connection)
            return False
        check_format(connection, self.where)
        return True

    def make_tables(self, connection: Connection) -> None:
        """Make the tables of journals, in a transaction of their own."""
        create_missing(connection, metadata.sorted_tables)
        connection.execute(insert(format_table).values(version=FORMAT))

    def holds(self, study: str) -> bool:
        """Whether there is a study of this name."""
        if self.is_absent():
            return False
        with self.reading() as connection:
            return self.has_tables(connection) and last_seq(connection, study) >= 0

    def studies(self) -> list[StudySummary]:
        """All studies by name."""
        with self.reading() as connection:
            if not self.has_tables(connection):
                return []
            return [_summary(connection, name) for name in study_names(connection)]

    def probe(self) -> None:
        """Write the format that the tables have anyway, there and back; nobody sees what is between."""
        with self.writing() as connection:
            for before, after in ((FORMAT, -FORMAT), (-FORMAT, FORMAT)):  # SQLite does not write what is as it was
                connection.execute(update(format_table).where(format_table.c.version == before).values(version=after))
        with self.reading() as connection:
            check_format(connection, self.where)

    def explained(self, error: DBAPIError) -> StorageError:
        """The driver's error in our words."""
        reason = str(error.orig).strip()
        if self.is_corrupt(error):
            return StorageCorrupt(f"{self.where} does not hold a readable journal ({reason}): restore it from a backup")
        return StorageError(f"{self.where} cannot be used: {reason}")

    @contextmanager
    def explaining(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise self.explained(error) from error


class SqliteFile(Database):
    """One file, and while it is written to a few beside it (`-wal`, `-shm`, `.lock`).

    A write-ahead log, so that readers never wait; full synchronisation, for power cuts.
    """

    patience = 0.0

    def __init__(self, path: Path) -> None:
        # Resolved, so that two names of one file mean one lock.
        self.path = Path(os.path.realpath(path))
        self.where, self.place = str(path), str(self.path)
        if self.path.is_dir():
            raise StorageError(f"{self.where} is a folder, expected a file: give the name of a file in it")
        self._inode: tuple[int, int] | None = None

    def connect(self) -> Connection:
        return self._engine("mode=ro" + self._immutable()).connect()

    def connect_to_write(self) -> Connection:
        return self._engine("mode=rw").connect()

    def is_absent(self) -> bool:
        return not self.path.exists()

    def prepare(self) -> None:
        if not self.path.parent.is_dir():
            raise StorageError(f"cannot create {self.where}: there is no folder {self.path.parent}; create it first")
        # SQLite's own waiting does not cover the switch to a write-ahead log, so only one process makes the file.
        creating = f"another process has been creating {self.where} for {BUSY_SECONDS:.0f} seconds"
        free = _locked(self._beside("setup.lock"), creating, BUSY_SECONDS)
        try:
            if self.is_absent():
                # For its owner only; what SQLite puts beside it gets the same rights.
                with suppress(OSError):
                    os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            with self.explaining(), self._engine("mode=rwc").connect() as connection:
                if not self.has_tables(connection):
                    connection.rollback()
                    self._use_write_ahead_log(connection)
                    with connection.begin():
                        self.make_tables(connection)
        finally:
            free()

    def lock(self, study: str) -> LockingSession:
        held = f"study {study!r} in {self.where} is open for writing elsewhere: {CLOSE_IT}"
        name = blake2b(study.encode(), digest_size=8).hexdigest()  # safe in a file's name
        free = _locked(self._beside(f"{name}.lock"), held)

        def close(connection: Connection) -> None:
            connection.close()
            free()

        try:
            connection = self.connect_to_write()
        except BaseException:
            free()
            raise
        self._inode = self._inode_now()
        return LockingSession(connection, close)

    def wipe(self, tables: tuple[str, ...]) -> None:
        """What was deleted is zeros already (`secure_delete`); the log that still has it is emptied."""
        deadline = time.monotonic() + BUSY_SECONDS
        with self.connect_to_write() as connection:
            while _driver(connection).execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() >= deadline:
                    raise StorageError(
                        f"{self.where} was read for {BUSY_SECONDS:.0f} seconds without a break, so its write-ahead log "
                        "still holds what was deleted: do it again when nobody reads it"
                    )
                time.sleep(0.05)

    def check_kept(self) -> None:
        if self._inode_now() != self._inode:
            raise StorageError(
                f"{self.where} was moved, replaced or deleted while it was open; put it back and open the study again"
            )

    def check_is_ours_to_use(self, connection: Connection) -> None:
        others = inspect(connection).get_table_names()
        if others:
            raise StorageCorrupt(
                f"{self.where} is a SQLite file of another program (tables {', '.join(others[:3])}), not a journal: "
                "choose another file"
            )

    def connection_was_lost(self, error: DBAPIError) -> bool:
        return False

    def is_corrupt(self, error: DBAPIError) -> bool:
        code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
        message = str(error.orig)
        return code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT) or message.startswith(
            ("no such table", "no such column", "Could not decode")
        )

    def _beside(self, what: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{what}")

    def _inode_now(self) -> tuple[int, int] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _immutable(self) -> str:
        """A file in a read-only folder, say an archive, opens only if SQLite is told that nobody can change it.

        Nor can a file that is read-only itself: SQLite would put files beside it that are read-only too, and stay.
        """
        written = self.path.with_name(self.path.name + "-wal").exists()
        if written or self.is_absent():
            return ""
        # Nothing is forbidden to root, but the files beside it would be as read-only for everybody else.
        changeable = _may_write(self.path.parent) and _may_write(self.path) and self.path.stat().st_mode & 0o222
        return "" if changeable else "&immutable=1"

    def _engine(self, options: str) -> Engine:
        if "mode=ro" not in options and self.path.exists() and not _may_write(self.path):
            raise StorageError(f"{self.where} is a readonly database: allow yourself to write it, or give another file")

        def connect() -> sqlite3.Connection:
            connection = sqlite3.connect(
                f"file:{quote(str(self.path))}?{options}",
                uri=True,
                timeout=BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten with zeros
            return connection

        engine = create_engine("sqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)
        # Taking the write lock at the start waits in line; taking it half-way may be refused outright.
        begin = "BEGIN" if "mode=ro" in options else "BEGIN IMMEDIATE"
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
        return engine

    def _use_write_ahead_log(self, connection: Connection) -> None:
        (mode,) = _driver(connection).execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise StorageError(
                f"{self.where} is on a file system where SQLite's write-ahead log does not work: choose a local folder"
            )


class PostgresDatabase(Database):
    """A database by URL; the tables are in the first schema of the user's search path.

    The writer's lock and its writes share one session: who loses the one cannot do the other.
    """

    patience = 30.0

    def __init__(self, url: URL) -> None:
        self.where = self.place = without_password(url.render_as_string(hide_password=True))
        options = {"client_encoding": "utf8", "connect_timeout": "10"} | dict(url.query)
        try:
            url = url.set(drivername="postgresql+psycopg", query=options)
            self._engine = create_engine(url, poolclass=NullPool, hide_parameters=True)
        except ModuleNotFoundError as error:
            raise MissingExtra("a journal in PostgreSQL", "postgres") from error

    def connect(self) -> Connection:
        return self._engine.connect()

    def connect_to_write(self) -> Connection:
        return self._engine.connect()

    def is_absent(self) -> bool:
        return False

    def prepare(self) -> None:
        with self.writing() as connection:
            encoding = connection.execute(text("SHOW server_encoding")).scalar_one()
            if encoding != "UTF8":
                raise StorageError(f"{self.where} has encoding {encoding}, expected UTF8: use a database that has it")
            if inspect(connection).has_table(format_table.name):
                check_format(connection, self.where)
                return
            # Whose tables these are is asked under the lock: another process may be making them at this moment.
            lock_tables(connection)
            if not self.has_tables(connection):
                self.make_tables(connection)

    def lock(self, study: str) -> LockingSession:
        connection = self.connect()
        try:
            with connection.begin():
                for statement in _WRITING_SESSION:
                    connection.execute(text(statement))
                key = _lock_number("study", connection.execute(select(func.current_schema())).scalar(), study)
                deadline = time.monotonic() + LOCK_SECONDS
                while not connection.execute(select(func.pg_try_advisory_lock(key))).scalar():
                    if time.monotonic() >= deadline:
                        raise StorageLocked(
                            f"study {study!r} in {self.where} is open for writing elsewhere: {CLOSE_IT}"
                        )
                    time.sleep(0.02)
        except BaseException:
            connection.close()
            raise

        def close(connection: Connection) -> None:
            # Unlocked by hand: the next writer need not wait until the server has noticed that we left. But not when
            # the connection was lost: SQLAlchemy would quietly make a new one, which holds no lock.
            if not connection.closed and not connection.invalidated:
                with suppress(DBAPIError):
                    connection.execute(select(func.pg_advisory_unlock(key)))
            connection.close()

        return LockingSession(connection, close)

    def wipe(self, tables: tuple[str, ...]) -> None:
        """A plain VACUUM would leave the bytes in their pages until others take the place: the tables are written anew.

        What the server's own log and its archives hold is out of reach.
        """
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            for table in tables:
                if inspect(connection).has_table(table):
                    connection.execute(text(f"VACUUM (FULL) {table}"))

    def check_kept(self) -> None:
        """Nothing to do: the server answers for it."""

    def check_is_ours_to_use(self, connection: Connection) -> None:
        if inspect(connection).has_table(events.name):
            raise StorageCorrupt(
                f"{self.where} has a table {events.name!r} of another program: choose another database or schema"
            )

    def connection_was_lost(self, error: DBAPIError) -> bool:
        return error.connection_invalidated or _sqlstate(error).startswith(("08", "57P"))

    def is_corrupt(self, error: DBAPIError) -> bool:
        return _sqlstate(error) in ("XX001", "XX002", "42P01", "42703", "22021")


_WRITING_SESSION = (
    # The promise is that a told answer is durable, whatever the server's default.
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
    # A writer whose machine vanished without a word is noticed after a minute, not after two hours.
    "SET tcp_keepalives_idle = 30",
    "SET tcp_keepalives_interval = 10",
    "SET tcp_keepalives_count = 3",
)


def _locked(path: Path, held_by_other: str, patience: float = 0.05) -> Callable[[], None]:
    """Take a lock between processes, which dies with its holder; give what frees it.

    `held_by_other` begins the message if it stays taken for `patience` seconds.
    """

    def say_whose(file: int) -> None:
        with suppress(OSError):  # on a full disk the lock holds as well, and nobody can read whose it is
            os.ftruncate(file, 0)
            os.write(file, f"process {os.getpid()} on {socket.gethostname()}".encode())

    def free() -> None:
        if lock.is_locked:
            path.unlink(missing_ok=True)  # while it is held: who waits for the file sees that it is gone
            lock.release()

    lock = FileLock(
        path, timeout=patience, poll_interval=0.01, thread_local=False, fallback_to_soft=False, on_acquired=say_whose
    )
    try:
        lock.acquire()
    except Timeout as error:
        raise StorageLocked(f"{held_by_other} ({_holder(path)})") from error
    except OSError as error:
        raise StorageError(
            f"cannot make the lock file {path}: {error.strerror}; choose a folder that exists and can be written"
        ) from error
    return free


def _holder(path: Path) -> str:
    try:
        return path.read_text(errors="replace") or "holder unknown"
    except OSError:
        return "holder unknown"


def _driver(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=True)


def _sqlstate(error: DBAPIError) -> str:
    return getattr(error.orig, "sqlstate", None) or ""

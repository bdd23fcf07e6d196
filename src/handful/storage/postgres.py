"""Journals in PostgreSQL. The writer's lock and its writes share one session: who loses the one cannot do the other."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, func, inspect, select, text
from sqlalchemy.exc import DBAPIError

from handful.errors import MissingExtra, StorageCorrupt, StorageError, StorageLocked
from handful.storage.chain import Tip
from handful.storage.database import Database, Session
from handful.storage.forks import belongs_to_this_process
from handful.storage.locks import CLOSE_IT
from handful.storage.passwords import without_password
from handful.storage.tables import (
    FORMAT,
    chain_all,
    check_format,
    events,
    format_of,
    lock_number,
    lock_tables,
    make_tables,
    study_names,
    tables_present,
)
from handful.storage.tips import TipFile, short_name

if TYPE_CHECKING:
    import psycopg

LOCK_SECONDS = 1.0
"""How long to wait for a lock: the server needs a moment to notice that its holder was killed."""

_SESSION = (
    # The promise is that a told answer is durable, whatever the server's default.
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
    # A writer whose machine vanished without a word is noticed after a minute, not after two hours.
    "SET tcp_keepalives_idle = 30",
    "SET tcp_keepalives_interval = 10",
    "SET tcp_keepalives_count = 3",
)


class PostgresSession:
    """A connection that holds the advisory lock of one study."""

    def __init__(self, connection: Connection, key: int) -> None:
        self._driver = cast("psycopg.Connection", connection.connection.driver_connection)
        # Out of the pool, so that a forked child does not tidy up its parent's connection.
        connection.detach()
        self.connection = connection
        self._key = key
        self._left = False
        belongs_to_this_process(self)

    def close(self) -> None:
        # Unlocked by hand: the next writer need not wait until the server has noticed that we left. But not when the
        # connection was lost: SQLAlchemy would quietly make a new one, which holds no lock.
        if not self.connection.closed and not self.connection.invalidated:
            with suppress(DBAPIError):
                self.connection.execute(select(func.pg_advisory_unlock(self._key)))
        self.connection.close()

    def leave_to_parent(self) -> None:
        """Close a child's copy of the socket, without a word to the server."""
        if not self._driver.closed and not self._left:
            self._left = True
            os.close(self._driver.fileno())


class PostgresDatabase(Database):
    """A database by URL; the tables are in the first schema of the user's search path."""

    patience = 30.0

    def __init__(self, url: URL) -> None:
        named = url.render_as_string(hide_password=True)
        self.where = without_password(named)
        self._name = url.database or "handful"
        self._tips = short_name(named)
        self._engine = self._make_engine(url)

    def connect(self) -> Connection:
        return self._engine.connect()

    def connect_to_write(self) -> Connection:
        return self._engine.connect()

    def is_absent(self) -> bool:
        return False

    def prepare(self) -> None:
        with self.explaining(), self._engine.begin() as connection:
            encoding = connection.execute(text("SHOW server_encoding")).scalar_one()
            if encoding != "UTF8":
                raise StorageError(f"{self.where} has encoding {encoding}, expected UTF8: use a database that has it")
            if tables_present(connection):
                check_format(connection, self.where)
                return
            # Whose tables these are is asked under the lock: another process may be making them at this moment.
            lock_tables(connection)
            if not self.has_tables(connection):
                make_tables(connection)

    def check_is_ours_to_use(self, connection: Connection) -> None:
        if inspect(connection).has_table(events.name):
            raise StorageCorrupt(
                f"{self.where} has a table {events.name!r} of another program: choose another database or schema"
            )

    def chain_old_journals(self) -> dict[str, Tip]:
        with self._engine.begin() as connection:
            if format_of(connection, self.where) == FORMAT:
                return {}
            lock_tables(connection)
            if format_of(connection, self.where) == FORMAT:
                return {}
            # Whoever holds one of these now is of an older version, and would go on writing without hashes.
            for name in list(study_names(connection)):
                self._take(connection, func.pg_try_advisory_xact_lock, _study_key(connection, name), name)
            return chain_all(connection)

    def tip_file(self, study: str) -> TipFile:
        return TipFile(_data_folder(self._name) / f"{short_name(self._tips, study)}.tip", study)

    def lock(self, study: str) -> Session:
        connection = self.connect()
        try:
            with connection.begin():
                for statement in _SESSION:
                    connection.execute(text(statement))
                key = _study_key(connection, study)
                self._take(connection, func.pg_try_advisory_lock, key, study)
        except BaseException:
            connection.close()
            raise
        return PostgresSession(connection, key)

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

    def connection_was_lost(self, error: DBAPIError) -> bool:
        return error.connection_invalidated or _sqlstate(error).startswith(("08", "57P"))

    def is_corrupt(self, error: DBAPIError) -> bool:
        return _sqlstate(error) in ("XX001", "XX002", "42P01", "42703", "22021")

    def _take(self, connection: Connection, lock: Callable[[int], Any], key: int, study: str) -> None:
        deadline = time.monotonic() + LOCK_SECONDS
        while not connection.execute(select(lock(key))).scalar():
            if time.monotonic() >= deadline:
                raise StorageLocked(f"study {study!r} in {self.where} is open for writing elsewhere: {CLOSE_IT}")
            time.sleep(0.02)

    @staticmethod
    def _make_engine(url: URL) -> Engine:
        options = {"client_encoding": "utf8", "connect_timeout": "10"} | dict(url.query)
        try:
            url = url.set(drivername="postgresql+psycopg", query=options)
            return create_engine(url, poolclass=NullPool, hide_parameters=True)
        except ModuleNotFoundError as error:
            raise MissingExtra("a journal in PostgreSQL", "postgres") from error


def _data_folder(database: str) -> Path:
    """Where the crowd app keeps what belongs to a database behind a URL; if there is none here, the user's own."""
    beside = Path(f"{database}.items")
    if beside.is_dir():
        return beside.absolute()
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "handful"


def _study_key(connection: Connection, study: str) -> int:
    return lock_number("study", connection.execute(select(func.current_schema())).scalar(), study)


def _sqlstate(error: DBAPIError) -> str:
    return getattr(error.orig, "sqlstate", None) or ""

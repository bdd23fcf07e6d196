"""Journals in a SQLite file: a write-ahead log, so that readers never wait; full synchronisation, for power cuts."""

from __future__ import annotations

import glob
import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, Engine, NullPool, create_engine, event, inspect
from sqlalchemy.exc import DBAPIError

from handful.errors import StorageCorrupt, StorageError
from handful.storage.chain import Tip
from handful.storage.database import Database, Session
from handful.storage.locks import CLOSE_IT, FileLock
from handful.storage.tables import FORMAT, chain_all, format_of, make_tables, study_names
from handful.storage.tips import TipFile, short_name

BUSY_SECONDS = 30.0
"""How long to wait for the writers of other studies in the same file."""


class SqliteSession:
    """A connection, and the lock file of one study."""

    def __init__(self, connection: Connection, lock: FileLock) -> None:
        # Out of the pool, so that a forked child does not tidy up its parent's connection.
        connection.detach()
        self.connection = connection
        self._lock = lock

    def close(self) -> None:
        self.connection.close()
        self._lock.release()


class SqliteFile(Database):
    """One file, and while it is written to a few beside it (`-wal`, `-shm`, `.lock`); and a `.tip` per study."""

    patience = 0.0

    def __init__(self, path: Path) -> None:
        # Resolved, so that two names of one file mean one lock.
        self.path = Path(os.path.realpath(path))
        self.where = str(path)
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
        guard = self._setup_lock()
        try:
            if self.is_absent():
                self._forget_tips()
                # For its owner only; what SQLite puts beside it gets the same rights.
                with suppress(OSError):
                    os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            with self.explaining(), self._engine("mode=rwc").connect() as connection:
                if not self.has_tables(connection):
                    connection.rollback()
                    self._use_write_ahead_log(connection)
                    with connection.begin():
                        make_tables(connection)
        finally:
            guard.release()

    def chain_old_journals(self) -> dict[str, Tip]:
        with self.connect() as connection:
            if format_of(connection, self.where) == FORMAT:
                return {}
        locks = [self._setup_lock()]
        try:
            with self._engine("mode=rw").connect() as connection, connection.begin():
                if format_of(connection, self.where) == FORMAT:
                    return {}
                # Whoever holds one of these now is of an older version, and would go on writing without hashes.
                for name in study_names(connection):
                    locks.append(self._study_lock(name))  # one by one: those taken before a refusal are freed
                return chain_all(connection)
        finally:
            for lock in reversed(locks):
                lock.release()

    def tip_file(self, study: str) -> TipFile:
        return TipFile(self._beside(f"{short_name(study)}.tip"), study)

    def check_is_ours_to_use(self, connection: Connection) -> None:
        others = inspect(connection).get_table_names()
        if others:
            raise StorageCorrupt(
                f"{self.where} is a SQLite file of another program (tables {', '.join(others[:3])}), not a journal: "
                "choose another file"
            )

    def lock(self, study: str) -> Session:
        lock = self._study_lock(study)
        try:
            connection = self._engine("mode=rw").connect()
        except BaseException:
            lock.release()
            raise
        self._inode = self._inode_now()
        return SqliteSession(connection, lock)

    def wipe(self, tables: tuple[str, ...]) -> None:
        """What was deleted is zeros already (`secure_delete`); the log that still has it is emptied."""
        deadline = time.monotonic() + BUSY_SECONDS
        with self.connect_to_write() as connection:
            driver = connection.connection.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            while driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
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

    def connection_was_lost(self, error: DBAPIError) -> bool:
        return False

    def is_corrupt(self, error: DBAPIError) -> bool:
        code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
        message = str(error.orig)
        return code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT) or message.startswith(
            ("no such table", "no such column", "Could not decode")
        )

    def _forget_tips(self) -> None:
        """Whoever deleted or moved the whole file begins anew, also with a study of the same name."""
        hash_ = "[0-9a-f]" * len(short_name(""))  # and not a longer name: that is the tip of another file
        for ending in ("tip", "copied.tip"):
            for tip in self.path.parent.glob(f"{glob.escape(self.path.name)}.{hash_}.{ending}"):
                tip.unlink(missing_ok=True)

    def _setup_lock(self) -> FileLock:
        return FileLock(
            self._beside("setup.lock"),
            held_by_other=f"another process has been creating {self.where} for {BUSY_SECONDS:.0f} seconds",
            patience=BUSY_SECONDS,
        )

    def _study_lock(self, study: str) -> FileLock:
        return FileLock(
            self._beside(f"{short_name(study)}.lock"),
            held_by_other=f"study {study!r} in {self.where} is open for writing elsewhere: {CLOSE_IT}",
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
        if "mode=ro" not in options:
            # Taking the write lock at the start waits in line; taking it half-way may be refused outright.
            event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
        return engine

    def _use_write_ahead_log(self, connection: Connection) -> None:
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        (mode,) = driver.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise StorageError(
                f"{self.where} is on a file system where SQLite's write-ahead log does not work: choose a local folder"
            )


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=True)

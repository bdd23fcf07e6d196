"""A journal in an SQL database."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from weakref import finalize

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from handful.errors import StorageError, StorageLocked
from handful.storage.base import Ticket
from handful.storage.committer import GroupCommitter
from handful.storage.database import Database
from handful.storage.records import Record
from handful.storage.tables import check_writable, insert_records, last_seq, select_records

CHUNK = 5_000
"""Records per query when reading: short queries hold nothing up, neither memory nor the database's own cleaning."""

RETRY_SECONDS = 0.2


class SqlReader:
    """A journal opened read-only."""

    def __init__(self, database: Database, study: str) -> None:
        self._database = database
        self._study = study

    def append(self, records: Sequence[Record]) -> Ticket:
        raise StorageError(f"study {self._study!r} is open read-only and takes no records: open it for writing")

    def read(self, after_seq: int = -1) -> Iterator[Record]:
        with self._database.explaining(), self._database.connect() as connection:
            while chunk := select_records(connection, self._study, after_seq, CHUNK):
                connection.rollback()
                yield from chunk
                after_seq = chunk[-1].seq

    def close(self) -> None:
        """Nothing is held between two reads."""


class SqlWriter:
    """A journal opened for writing, and the only one of its study."""

    def __init__(self, database: Database, study: str) -> None:
        self._reader = SqlReader(database, study)
        store = _Store(database, study)
        self.is_new = store.last == -1
        self._committer = GroupCommitter(store.commit, store.close, store.last + 1, study)
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


class _Store:
    """One study's locked session. Used by one thread at a time: the one that opens it, then the committer's."""

    def __init__(self, database: Database, study: str) -> None:
        self._database = database
        self._study = study
        with database.explaining():
            self._session = database.lock(study)
            try:
                with self._session.connection.begin():
                    check_writable(self._session.connection)
                    self.last = last_seq(self._session.connection, study)
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
        self.last = records[-1].seq

    def close(self) -> None:
        self._session.close()

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
            except (OperationalError, InterfaceError, StorageLocked) as error:
                if time.monotonic() >= deadline:
                    raise StorageError(
                        f"the connection to {self._database.where} was lost and did not come back within "
                        f"{self._database.patience:.0f} seconds ({getattr(error, 'orig', error)})"
                    ) from error
                time.sleep(RETRY_SECONDS)
            except DBAPIError as error:
                raise self._database.explained(error) from error
            else:
                return

    def _reconnect(self) -> None:
        """A new session. Holding the lock again means that the old one, and its last transaction, have ended."""
        with suppress(DBAPIError):
            self._session.close()
        self._session = self._database.lock(self._study)

    def _arrived(self, records: Sequence[Record]) -> bool:
        """Whether the transaction that lost its connection was committed all the same."""
        with self._session.connection.begin():
            found = select_records(self._session.connection, self._study, self.last, len(records) + 1)
        if found and found != list(records):
            raise StorageError(
                f"another writer appended to study {self._study!r} while the connection to {self._database.where} was "
                "lost; open the study again to go on from what is stored"
            )
        return bool(found)

"""A journal in an SQL database."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from weakref import finalize

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from handful.errors import StorageBehind, StorageError, StorageLocked
from handful.storage.base import Ticket
from handful.storage.chain import EMPTY, Tip
from handful.storage.committer import GroupCommitter
from handful.storage.database import Database
from handful.storage.records import Record
from handful.storage.tables import (
    CHUNK,
    FORMAT,
    check_writable,
    format_of,
    hash_at,
    identity_of,
    insert_records,
    last_seq,
    make_identity,
    records_after,
    rows_after,
)
from handful.storage.tips import TipFile, log

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
            chained = format_of(connection, self._database.where) == FORMAT
            # Where nothing is, nothing follows, and no hash is needed.
            tip = Tip(after_seq, (chained and hash_at(connection, self._study, after_seq)) or EMPTY.hash)
            while True:
                if chained:
                    chunk, tip = records_after(connection, self._study, tip, CHUNK)
                else:
                    rows = rows_after(connection, self._study, tip.seq, CHUNK, chained=False)
                    chunk = [record for record, _ in rows]
                    tip = Tip(tip.seq + len(chunk), EMPTY.hash)
                if not chunk:
                    return
                connection.rollback()
                yield from chunk

    def close(self) -> None:
        """Nothing is held between two reads."""


class SqlWriter:
    """A journal opened for writing, and the only one of its study. `noting`: its end is noted outside the database."""

    def __init__(self, database: Database, study: str, *, noting: bool = True) -> None:
        self._reader = SqlReader(database, study)
        store = _Store(database, study, database.tip_file(study) if noting else None)
        self.is_new = store.tip == EMPTY
        self._committer = GroupCommitter(store.commit, store.close, store.tip.seq + 1, study)
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

    def __init__(self, database: Database, study: str, noted: TipFile | None) -> None:
        self._database = database
        self._study = study
        self._noted = noted
        with database.explaining():
            chained_now = chain_old_journals(database)
            self._session = database.lock(study)
            try:
                with self._session.connection.begin():
                    check_writable(self._session.connection)
                    self.tip = tip_of(self._session.connection, study)
                    if noted is not None:
                        self._check_noted(noted, study in chained_now)
            except BaseException:
                self._session.close()
                raise

    def commit(self, records: Sequence[Record]) -> None:
        """Store all the records or raise. A lost connection is got back first, for as long as the database allows."""
        try:
            tip = self._insert(records)
        except DBAPIError as error:
            if not self._database.connection_was_lost(error):
                raise self._database.explained(error) from error
            tip = self._insert_again(records)
        self._database.check_kept()
        self.tip = tip
        if self._noted is not None:
            self._noted.write(tip)

    def close(self) -> None:
        if self._noted is not None:
            self._noted.close()
        self._session.close()

    def _check_noted(self, noted: TipFile, chained_now: bool) -> None:
        known = identity_of(self._session.connection)
        tip = noted.read(known)
        if tip is not None:
            check_holds(self._session.connection, self._study, tip, self._database.where)
        elif self.tip != EMPTY and not chained_now:
            log.warning(
                "study %r in %s came without the file %s, in which its end is noted: it opens with %s records, and "
                "whether there were more cannot be told",
                self._study,
                self._database.where,
                noted.path.name,
                f"{self.tip.seq + 1:,}",
            )
        noted.belongs_to(known or make_identity(self._session.connection))
        if self.tip != EMPTY:
            noted.write(self.tip)

    def _insert(self, records: Sequence[Record]) -> Tip:
        with self._session.connection.begin():
            return insert_records(self._session.connection, self._study, records, self.tip)

    def _insert_again(self, records: Sequence[Record]) -> Tip:
        deadline = time.monotonic() + self._database.patience
        while True:
            try:
                self._reconnect()
                return self._arrived(records) or self._insert(records)
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

    def _arrived(self, records: Sequence[Record]) -> Tip | None:
        """The tip, if the transaction that lost its connection was committed all the same."""
        connection = self._session.connection
        with connection.begin():
            check_holds(connection, self._study, self.tip, self._database.where)
            found, tip = records_after(connection, self._study, self.tip, len(records) + 1)
        if found and found != list(records):
            raise StorageError(
                f"another writer appended to study {self._study!r} while the connection to {self._database.where} was "
                "lost; open the study again to go on from what is stored"
            )
        return tip if found else None


def tip_of(connection: Connection, study: str) -> Tip:
    """The last record that the database holds."""
    last = last_seq(connection, study)
    # A record without a hash is found by whoever reads it.
    return Tip(last, hash_at(connection, study, last) or EMPTY.hash)


def check_holds(connection: Connection, study: str, tip: Tip, where: str, *, chained: bool = True) -> None:
    """Raise StorageBehind unless the database holds the record that was stored last, as it was stored.

    Without hashes (`chained` is False) it is enough that there is a record of that number.
    """
    held = last_seq(connection, study) + 1
    if hash_at(connection, study, tip.seq) == tip.hash if chained else held > tip.seq:
        return
    if held <= tip.seq:
        what = f"{where} holds {held:,} records of study {study!r}, but {tip.seq + 1:,} were stored"
        why = "it is an older copy, or lost its latest answers"
    else:
        what = f"record {tip.seq} of study {study!r} in {where} is not the one that was stored"
        why = "it is another version of the study, or was changed by another program"
    raise StorageBehind(
        f"{what}: {why}. Nothing is written to it; `handful recover` shows what is missing and how to go on"
    )


def chain_old_journals(database: Database) -> dict[str, Tip]:
    """Chain what an older version of handful wrote, and note where each study ends."""
    tips = database.chain_old_journals()
    for name, tip in tips.items():
        noted = database.tip_file(name)
        if noted.read() is None:  # else this is an older copy, and what was noted before must be kept
            noted.write(tip)
            noted.close()
    if tips:
        log.info(
            "the journals in %s have storage format %d now; older versions of handful cannot open them",
            database.where,
            FORMAT,
        )
    return tips

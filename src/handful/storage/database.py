"""What SQLite and PostgreSQL must each say for themselves; all else is shared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from handful.errors import StorageCorrupt, StorageError
from handful.storage.chain import Tip
from handful.storage.tables import check_format, tables_present
from handful.storage.tips import TipFile


class Session(Protocol):
    """A connection that may write to one study, and nobody else's may until it is closed."""

    connection: Connection

    def close(self) -> None:
        """Free the study. A second call does nothing."""


class Database(ABC):
    """A place that holds the journals of any number of studies."""

    where: str
    """Names the place in messages, without a password."""

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
    def check_is_ours_to_use(self, connection: Connection) -> None:
        """Where our tables are missing: raise StorageCorrupt if what is there belongs to another program."""

    @abstractmethod
    def chain_old_journals(self) -> dict[str, Tip]:
        """Where the tables are of the format before: give every record its hash, in one transaction.

        Gives the tip of each study that was chained now, so nothing where all is as it should be. Raises StorageLocked
        while an older version of handful has one of the studies open.
        """

    @abstractmethod
    def tip_file(self, study: str) -> TipFile:
        """Where the end of a study is noted, outside the database."""

    @abstractmethod
    def lock(self, study: str) -> Session:
        """Become the study's only writer, or raise StorageLocked."""

    @abstractmethod
    def wipe(self, tables: tuple[str, ...]) -> None:
        """Leave nothing of rows that were deleted from or changed in these tables, as far as the database reaches."""

    @abstractmethod
    def check_kept(self) -> None:
        """After a commit: raise if what was just written is not where the next reader will look."""

    @abstractmethod
    def connection_was_lost(self, error: DBAPIError) -> bool:
        """Whether trying again on a new connection may help."""

    @abstractmethod
    def is_corrupt(self, error: DBAPIError) -> bool:
        """Whether the error means that what is stored is not a journal."""

    def has_tables(self, connection: Connection) -> bool:
        """Whether there are journals of a known format here; raises if there is something else."""
        if not tables_present(connection):
            self.check_is_ours_to_use(connection)
            return False
        check_format(connection, self.where)
        return True

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

"""What a journal is to those who use one, and to those who write another storage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from handful.storage.records import Record

Mode = Literal["create", "write", "read"]
"""create: a study that is not there yet; write: go on with one that is; read: beside whoever writes."""


class Ticket(Protocol):
    """The promise of an append."""

    @property
    def done(self) -> bool:
        """Whether the records are stored, or will never be."""

    def wait(self) -> None:
        """Return once the records are durable; raise StorageError if they could not be stored."""


class Journal(Protocol):
    """The append-only record of one study. `handful.testing.JournalConformance` says what each must keep.

    All methods may be called from any thread.
    """

    def append(self, records: Sequence[Record]) -> Ticket:
        """Queue records, in order, and return at once. All of them are stored, or none."""

    def read(self, after_seq: int = -1) -> Iterator[Record]:
        """Everything stored after `after_seq`, in order, never all in memory.

        The journal's own writer also sees all that it appended before.
        """

    def close(self) -> None:
        """Store what is queued and let the next writer in. A second call does nothing.

        Raises StorageError if something appended before could not be stored, whether or not anyone waited for it.
        """


@dataclass(frozen=True, slots=True)
class StudySummary:
    """What a storage can say of a study without understanding its records."""

    name: str
    records: int
    first_time: float
    last_time: float

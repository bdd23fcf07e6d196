"""What a journal is: to those who use one, and to those who write another storage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import Literal, NamedTuple, Protocol

from handful.errors import StorageError

MAX_VERSION = 32_767
MAX_KIND = 100

Mode = Literal["create", "write", "read"]
"""create: a study that is not there yet; write: go on with one that is; read: beside whoever writes."""


class Record(NamedTuple):
    """One event of a study, as it is stored: the one thing that storage knows.

    seq:      0, 1, 2, ... without holes; given by the study, checked by the storage
    version:  of the event's format
    kind:     what happened ("asked", "told", ...); not interpreted here
    time:     when, in seconds since 1970
    payload:  the rest, as JSON text
    """

    seq: int
    version: int
    kind: str
    time: float
    payload: str


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


def check_follows(records: Iterable[Record], next_seq: int) -> int:
    """Refuse records that do not continue the journal or that some storage could not keep; give the seq after them.

    The check comes before anything is queued. A record that failed later, inside a commit, would take the answers of
    everybody in the same commit with it.
    """
    for record in records:
        if record.seq != next_seq:
            raise StorageError(
                f"the journal expects record {next_seq} next and was given record {record.seq}; nothing was appended"
            )
        fault = _fault(record)
        if fault:
            raise StorageError(f"record {record.seq} cannot be stored: {fault}; nothing was appended")
        next_seq += 1
    return next_seq


def _fault(record: Record) -> str | None:
    if not 0 <= record.version <= MAX_VERSION:
        return f"its version is {record.version}, expected 0 to {MAX_VERSION}"
    if not isfinite(record.time):
        return f"its time is {record.time}, expected a finite number"
    if not _is_kind(record.kind):
        return f"its kind is {record.kind[:MAX_KIND]!r}, expected 1 to {MAX_KIND} characters of text"
    if not is_storable(record.payload):
        return "its payload holds a NUL or half a surrogate pair, expected JSON text"
    return None


@lru_cache(maxsize=100)  # there are few kinds, and they are checked for each record
def _is_kind(text: str) -> bool:
    return 0 < len(text) <= MAX_KIND and is_storable(text)


def is_storable(text: str) -> bool:
    """Whether every database takes this text: valid as UTF-8, and no NUL (PostgreSQL refuses it)."""
    if "\x00" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

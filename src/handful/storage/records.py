"""The one thing storage knows: a record of a journal."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import isfinite
from typing import NamedTuple

from handful.errors import StorageError

MAX_VERSION = 32_767
MAX_KIND = 100


class Record(NamedTuple):
    """One event of a study, as it is stored.

    seq:      0, 1, 2, ... without holes; given by the study, checked by the storage
    version:  of the event's format, so that an older journal stays readable
    kind:     what happened ("asked", "told", ...); not interpreted here
    time:     when, in seconds since 1970
    payload:  the rest, as JSON text
    """

    seq: int
    version: int
    kind: str
    time: float
    payload: str


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

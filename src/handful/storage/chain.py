"""A chain over the records of a journal: the hash of each covers the record itself and the hash before it.

Whoever knows one hash knows all that came before it: the same hash at the same place is the same history. What a chain
cannot show is that its end is missing; for that see `handful.storage.tips`.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from struct import Struct

from handful.errors import StorageCorrupt
from handful.storage.records import Record

SIZE = 16
START = bytes(SIZE)
"""What stands before the first record."""

_head = Struct(f"<{SIZE}sqidI").pack


@dataclass(frozen=True, slots=True)
class Tip:
    """The last record of a journal: its number and its hash. (-1, START) is that of an empty one."""

    seq: int
    hash: bytes


EMPTY = Tip(-1, START)


def hash_after(before: bytes, record: Record) -> bytes:
    """The hash of a record whose predecessor has the hash `before`: 16 bytes of BLAKE2b.

    Over `before`, seq (8 bytes), version (4), time (8, a double), the length of the kind (4), all little-endian, the
    kind and the payload in UTF-8.
    """
    seq, version, kind, time, payload = record
    named = kind.encode()
    # Adding zero turns -0.0, which SQLite does not keep, into 0.0.
    head = _head(before, seq, version, time + 0.0, len(named))
    return blake2b(head + named + payload.encode(), digest_size=SIZE).digest()


def check_hash(record: Record, before: bytes, stored: object, study: str) -> bytes:
    """The record's hash; StorageCorrupt unless it is the one stored with it."""
    found = hash_after(before, record)
    if found != stored:
        raise StorageCorrupt(
            f"record {record.seq} of study {study!r} does not follow the one before it: one of them was changed or "
            "written by another program, or by an older version of handful; `handful recover` shows what is whole"
        )
    return found

"""A chain over the records of a journal: the hash of each covers the record itself and the hash before it.

Whoever knows one hash knows all that came before it: the same hash at the same place is the same history. What a chain
cannot show is that its end is missing; for that see `handful.storage.tips`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from struct import Struct

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
    return hashes_after(before, [record])[0]


def hashes_after(before: bytes, records: Sequence[Record]) -> list[bytes]:
    """The hashes of records in order, of which the first has a predecessor with the hash `before`."""
    hashes, names = list[bytes](), dict[str, bytes]()  # every answer and every reopening waits for this loop
    keep, digest_of, head_of = hashes.append, blake2b, _head
    for seq, version, kind, time, payload in records:
        named = names.get(kind)
        if named is None:
            named = names[kind] = kind.encode()
        # Adding zero turns -0.0, which SQLite does not keep, into 0.0.
        head = head_of(before, seq, version, time + 0.0, len(named))
        before = digest_of(head + named + payload.encode(), digest_size=SIZE).digest()
        keep(before)
    return hashes

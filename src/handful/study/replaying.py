"""From a journal to the state it leads to: what `Study.open` waits for.

Nearly all records say that something was asked or told. These are decoded many at a time and applied without making an
event of each, and what the explorer is to learn from them is gone through in compiled code.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Generator, Iterable
from itertools import islice

from handful.errors import StorageCorrupt
from handful.explorers.board import NOBODY, NOW
from handful.storage import Record
from handful.study.event_records import VERSION, from_record
from handful.study.events import Created
from handful.study.fold import Fold
from handful.study.reopening import CopyMissing
from handful.study.setup import Setup
from handful.study.stretches import ASKED_KEYS, KINDS, TOLD_KEYS, Held, apply_stretch

RecordReader = Callable[[Record, object], None]
"""What is called with a record and its payload, which is None where it is not plain JSON."""

_CHUNK = 4096
_PIECE = 256  # of a stretch: some are applied one by one, and that should be few


def fold_of(
    read: Callable[[], Iterable[Record]], *, check: bool = False, watch: RecordReader | None = None
) -> tuple[Fold, int]:
    """The state after all records that `read` gives, and the number of the next.

    What is recorded as asked is believed. With `check` every question is chosen again, and `mismatches` of the
    exploration says where that would lead elsewhere today. `watch` is called with all records, once they
    are folded; with the first as if it had no payload, which is the fold's setup.
    """
    kept, last = frozenset[int](), -1

    def watch_once(record: Record, data: object) -> None:
        nonlocal last
        if watch is not None and record.seq > last:
            last = record.seq
            watch(record, data)

    while True:
        try:
            return _fold_of(read(), check, watch and watch_once, kept)
        except CopyMissing as missing:  # an earlier version redid a round of a very large study
            kept |= {missing.round}


def _fold_of(
    records: Iterable[Record], check: bool, watch: RecordReader | None, kept: frozenset[int]
) -> tuple[Fold, int]:
    stream = iter(records)
    collecting = gc.isenabled()
    gc.disable()  # there is no garbage in what is read, and looking for it takes a third of the time
    try:
        first = next(stream, None)
        event = None if first is None else from_record(first)
        if not isinstance(event, Created):
            raise StorageCorrupt("the journal does not begin with the study's creation: restore it from a backup")
        fold, count = Fold(Setup.from_dict(event.setup)), 1
        fold.exploration.keep(kept)
        fold.exploration.believe(not check)
        if first is not None and watch is not None:
            watch(first, None)
        while chunk := list(islice(stream, _CHUNK)):
            decoded = _decoded(chunk)
            _apply(fold, chunk, decoded)
            count += len(chunk)
            if watch is not None:
                for record, data in zip(chunk, decoded, strict=True):
                    watch(record, data)
        fold.exploration.believe(False)
        return fold, count
    finally:
        if collecting:
            gc.enable()
        if isinstance(stream, Generator):
            stream.close()  # now, and not whenever it is collected: it may hold a connection


def _apply(fold: Fold, chunk: list[Record], decoded: list[object]) -> None:
    held: Held = {}
    begin, (_, versions, kinds, times, _) = 0, zip(*chunk, strict=True)
    for at in [*(at for at, kind in enumerate(kinds) if kind not in KINDS), len(chunk)]:
        for piece in range(begin, at, _PIECE):
            here = slice(piece, min(piece + _PIECE, at))
            if not apply_stretch(fold, versions[here], kinds[here], times[here], decoded[here], held):
                _grant(fold, held)
                _apply_one_by_one(fold, chunk[here], decoded[here], held)
        _grant(fold, held)
        if at < len(chunk):
            fold.apply(from_record(chunk[at]), chunk[at].time)
        begin = at + 1


def _apply_one_by_one(fold: Fold, chunk: list[Record], decoded: list[object], held: Held) -> None:
    asked, told = fold.asked, fold.told
    for record, data in zip(chunk, decoded, strict=True):
        _, version, kind, time, _ = record
        # A record with more to say than is known here, or less, is none of these; `from_record` knows what it is.
        if version <= VERSION and type(data) is dict:
            question = data.get("q")
            if kind == "asked" and data.keys() <= ASKED_KEYS and type(question) is type(data.get("i")) is int:
                rival, worker = data.get("j", NOBODY), data.get("w")
                if type(rival) is int and rival >= NOBODY:
                    more = data.get("o", ())
                    asked(question, data["i"], rival, NOW, worker, tuple(more) if type(more) is list else more)
                    held[question] = worker, time
                    continue
            elif kind == "told" and data.keys() <= TOLD_KEYS and type(question) is int and "a" in data:
                told(question, data["a"], data.get("w"), data.get("u"), data.get("m"), data.get("d"))
                held.pop(question, None)
                continue
        _grant(fold, held)
        fold.apply(from_record(record), time)
    _grant(fold, held)


def _grant(fold: Fold, held: Held) -> None:
    for question, (worker, time) in held.items():
        fold.grant(question, worker, time)
    held.clear()


def _decoded(chunk: list[Record]) -> list[object]:
    """The payloads, decoded at once; None for all if one of them is not JSON."""
    try:
        found: list[object] = json.loads("[" + ",".join([record.payload for record in chunk]) + "]")
    except ValueError:
        return [None] * len(chunk)
    return found if len(found) == len(chunk) else [None] * len(chunk)

"""From a journal to the state it leads to: each event is applied as when it happened; and a check of decisions."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass

from handful.errors import InvalidProblem, StorageCorrupt
from handful.storage import Record
from handful.study.event_records import event_of, payload_of, setup_of
from handful.study.events import Asked, Created, Event, RoundClosed
from handful.study.fold import Fold
from handful.study.setup import Setup

RecordReader = Callable[[Record, object], None]
"""What is called with a record and its payload, which is None where it is the first."""

_SHOWN = 20  # differences that are told in words; of all there is a count


def fold_of(read: Callable[[], Iterable[Record]], *, watch: RecordReader | None = None) -> tuple[Fold, int]:
    """The state after all records that `read` gives, and the number of the next.

    `watch` is called with all records, once they are applied; with the first without its payload.
    """
    records = iter(read())
    collecting = gc.isenabled()
    gc.disable()  # there is no garbage in what is read, and looking for it takes a third of the time
    try:
        first = next(records, None)
        fold, count = Fold(_setup_in(first)), 1
        if watch is not None and first is not None:
            watch(first, None)
        for record in records:
            data = payload_of(record)
            fold.apply(event_of(record, data), record.time)
            count += 1
            if watch is not None:
                watch(record, data)
        fold.exploration.catch_up()
        return fold, count
    finally:
        if collecting:
            gc.enable()
        if isinstance(records, Generator):
            records.close()  # now, and not whenever it is collected: it may hold a connection


def _setup_in(record: Record | None) -> Setup:
    if record is None or record.kind != Created.kind:
        raise StorageCorrupt("the journal does not begin with the study's creation: restore it from a backup")
    return setup_of(record)


@dataclass(frozen=True)
class Mismatches:
    """Decisions in a journal that would be others today: how many, and the first of them in words."""

    count: int
    first: tuple[str, ...]


def mismatches_in(records: Iterable[Record]) -> Mismatches:
    """Take every decision of a journal again; InvalidProblem where it was made by another handful or other rules."""
    found = list(_differences(records))
    return Mismatches(len(found), tuple(found[:_SHOWN]))


def _differences(records: Iterable[Record]) -> Iterator[str]:
    stream = iter(records)
    setup = _setup_in(next(stream, None))
    if not setup.is_current:
        raise InvalidProblem(f"this study was {setup.made_by}: no other version can say whether it decided rightly")
    fold = Fold(setup)
    for record in stream:
        event = event_of(record, payload_of(record))
        yield from _difference(fold, event)
        fold.apply(event, record.time)


def _difference(fold: Fold, event: Event) -> Iterator[str]:
    """In what an event differs from what would be decided now."""
    rounds = fold.exploration
    if isinstance(event, Asked) and event.copy < 0:
        proposed, recorded = rounds.proposal(event.worker), (event.item, event.rival, event.given, *event.more)
        if proposed != recorded:
            yield f"question q{event.question} asked {recorded}, now it would be {proposed}"
    elif isinstance(event, RoundClosed):
        if event.ended == "closed":
            rounds.conclude_early()
        elif event.ended == "filled":
            rounds.fill()
        found = rounds.closing() if rounds.decided else None
        if found != event:
            yield f"round {event.round} was closed by {event}, now it would be by {found}"

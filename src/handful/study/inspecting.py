"""Inspecting a study: its result, its status and its journal. Nothing here changes anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic

from handful.agreement import Agreement, agreement_of
from handful.storage import Record
from handful.study import events
from handful.study.ask_tell import AskTell
from handful.study.event_records import from_record
from handful.study.excluding import Excluding, excluding_of
from handful.study.fold import Fold
from handful.study.items import Item
from handful.study.replaying import Mismatches, mismatches_in
from handful.study.results import Result, result_of
from handful.study.setup import Setup
from handful.study.status import Status, status_of
from handful.study.writer import Writer


class Inspecting(Generic[Item]):
    """What can be seen of a study."""

    name: str
    items: tuple[Item, ...]
    _writer: Writer
    _ask_tell: AskTell

    @property
    def finished(self) -> str | None:
        """Why no more questions will come; None while they may."""
        return self._ask_tell.finished

    @property
    def setup(self) -> Setup:
        """What the study was made with."""
        return self.fold.setup

    def result(self) -> Result[Item]:
        """The result so far: items picked, answers spent, what may be claimed."""
        return result_of(self.snapshot(), self.items)

    def status(self) -> Status[Item]:
        """Where the study stands now: its open round, its workers, its budget."""
        seen = self.snapshot()
        return status_of(seen, self.items, seen.finished)

    def agreement(self) -> Agreement:
        """How far people agree, and how many picks two halves of them have in common: no measures of quality."""
        return agreement_of(self.snapshot())

    def excluding(self, workers: Iterable[str]) -> Excluding:
        """What excluding these workers would mean."""
        with self._writer.lock:
            return excluding_of(self.fold, workers, self.finished is not None)

    def journal(self) -> Iterator[tuple[float, events.Event]]:
        """The journal: the time and the event, in order."""
        for record in self.records():
            yield record.time, from_record(record)

    def records(self) -> Iterator[Record]:
        """The journal as it is stored."""
        return self._writer.journal.read()

    @property
    def fold(self) -> Fold:
        """The state itself, to look at; only events may change it."""
        return self._writer.fold

    def snapshot(self) -> Fold:
        """The state to look at while answers come in: whoever answers waits for the copy at most."""
        with self._writer.lock:
            return self.fold.snapshot()

    @property
    def mismatches(self) -> Mismatches:
        """Decisions in the journal that this version of handful would take otherwise: takes every one of them again."""
        return mismatches_in(self.records())

    def __repr__(self) -> str:
        s = self.status()
        return f"<Study {self.name!r}: {len(s.chosen)} of {s.k} picked from {len(s.items)}, {s.answers:,} answered>"

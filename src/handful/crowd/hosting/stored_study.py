"""A stored study for its host: opened, and opened again after the storage failed, with what its journal tells."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from handful.crowd.hosting.worker_statistics import AnswerStatistics
from handful.storage import Record, probe
from handful.study.event_records import from_record
from handful.study.events import Noted, Told
from handful.study.study import Study


class JournalHistory:
    """What a journal tells: how people answered so far, and what was noted."""

    def __init__(self) -> None:
        self.statistics = AnswerStatistics()
        self.notes: list[Noted] = []
        self.began = 0.0  # the time of the first record

    def take(self, record: Record, data: object) -> None:
        """Take one more record into account, with its payload; of most kinds nothing is counted."""
        self.began = self.began or record.time
        if record.kind == Told.kind and isinstance(data, dict):
            self.statistics.count_answer(data.get("w"), data.get("m"), record.time)
        elif record.kind == Noted.kind:
            event = from_record(record)
            assert isinstance(event, Noted)
            self.notes.append(event)


class StoredStudy:
    """Where a study is stored, and how to open it. Its history is taken on the way: the journal is read once."""

    def __init__(self, storage: str | Path, name: str, items: Sequence[Any], clock: Callable[[], float]) -> None:
        self._storage = storage
        self._name = name
        self._items = items
        self._clock = clock
        self._opened: tuple[Study, JournalHistory] | None = None

    def open(self) -> Study:
        """Open it, once the storage can be written to: a full disk can be read."""
        probe(self._storage)
        history = JournalHistory()
        study = Study.open(self._storage, self._name, self._items, clock=self._clock, watch=history.take)
        self._opened = study, history
        return study

    def history(self, study: Study) -> JournalHistory | None:
        """The history of the study, if this opened it; it is given once."""
        opened, self._opened = self._opened, None
        return opened[1] if opened is not None and opened[0] is study else None


def history_of(study: Study, stored: StoredStudy | None) -> JournalHistory:
    """What the journal of a study tells: as it was read when it was opened, or else read now."""
    found = None if stored is None else stored.history(study)
    if found is None:
        found = JournalHistory()
        for record in study.records():
            found.take(record, json.loads(record.payload))
    return found

"""How workers answer: their pace, sides and times. How much they answered is the study's to say."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from handful.crowd.hosting.answer_timeline import AnswerTimeline
from handful.study.events import Event, Told

MINUTE = 60
TIMES_KEPT = 100


@dataclass
class WorkerStatistics:
    """How one worker answers."""

    since: float = 0.0  # when the first answer came
    first: int = 0
    sided: int = 0
    last: float = 0.0
    times: deque[int] = field(default_factory=lambda: deque(maxlen=TIMES_KEPT))

    @property
    def left_share(self) -> float | None:
        """The share of answers that chose the first place, of two the left side; None where no place was told."""
        return round(self.first / self.sided, 3) if self.sided else None

    @property
    def median_ms(self) -> int | None:
        """The median time of the latest answers, in milliseconds; None where no time was told."""
        return round(median(self.times)) if self.times else None


class AnswerStatistics:
    """How all workers of a study answer, counted from its events."""

    def __init__(self) -> None:
        self._workers: dict[str, WorkerStatistics] = {}
        self._minute: deque[tuple[int, int]] = deque(maxlen=MINUTE + 1)
        self.timeline = AnswerTimeline()

    def of(self, worker: str) -> WorkerStatistics:
        """How this worker answers."""
        return self._workers.get(worker) or WorkerStatistics()

    def count(self, event: Event, now: float) -> None:
        """Take one more event into account."""
        if isinstance(event, Told):
            self.count_answer(event.worker, event.meta, now)

    def count_answer(self, name: str | None, meta: Any, now: float) -> None:
        """Take one more answer into account, and what was told along with it."""
        self._pace(int(now))
        self.timeline.note(now)
        if name is not None:
            worker = self._workers.get(name)
            if worker is None:
                worker = self._workers[name] = WorkerStatistics()
            worker.since = worker.since or now
            worker.last = max(worker.last, now)
            _count_meta(worker, meta)

    def per_minute(self, now: float) -> int:
        """Answers in the last sixty seconds."""
        return sum(count for second, count in list(self._minute) if second > now - MINUTE)

    def active(self, now: float) -> int:
        """Workers who answered in the last sixty seconds."""
        return sum(1 for worker in list(self._workers.values()) if worker.last > now - MINUTE)

    def _pace(self, second: int) -> None:
        if self._minute and self._minute[-1][0] == second:
            self._minute[-1] = (second, self._minute[-1][1] + 1)
        else:
            self._minute.append((second, 1))


def _count_meta(worker: WorkerStatistics, meta: Any) -> None:
    if not isinstance(meta, dict):
        return
    if meta.get("side") in ("left", "right"):
        worker.sided += 1
        worker.first += meta["side"] == "left"
    elif isinstance(meta.get("place"), int):
        worker.sided += 1
        worker.first += meta["place"] == 1
    if isinstance(meta.get("ms"), int):
        worker.times.append(meta["ms"])

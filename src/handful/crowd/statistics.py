"""Answers over time, in a bounded number of steps: the longer a study lasts, the coarser they are."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from handful.events import Event, Told

MOST_STEPS = 120
FINEST_S = 10.0


class AnswerTimeline:
    """How many answers came when."""

    def __init__(self) -> None:
        self._width = FINEST_S
        self._steps: Counter[int] = Counter()
        self.first: float | None = None  # when the first answer came
        self.last: float | None = None

    def note(self, now: float) -> None:
        """One more answer."""
        self.first = now if self.first is None else min(self.first, now)
        self.last = now if self.last is None else max(self.last, now)
        self._steps[int(now // self._width)] += 1
        while (self.last - self.first) / self._width > MOST_STEPS:
            self._width *= 2.0
            coarser: Counter[int] = Counter()
            for step, count in self._steps.items():
                coarser[step // 2] += count
            self._steps = coarser

    def points(self) -> list[tuple[float, int]]:
        """Times, and how many answers there were by then."""
        if self.first is None or self.last is None:
            return []
        total, points = 0, [(self.first, 0)]
        for step, count in sorted(self._steps.copy().items()):
            total += count
            points.append((min((step + 1) * self._width, self.last), total))
        return points

    def since(self, time: float) -> int:
        """How many answers came after this time, to the nearest step."""
        return sum(count for step, count in self._steps.copy().items() if (step + 1) * self._width > time)


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

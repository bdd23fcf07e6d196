"""What the organizer's page shows of people: pace, sides, time per answer. Counted from the study's events alone."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from handful.study.events import Event, Excluded, Restored, RoundClosed, Skipped, Told

MINUTE = 60
TIMES_KEPT = 100


@dataclass
class Tally:
    """One worker."""

    answers: int = 0
    skips: int = 0
    left: int = 0
    sided: int = 0
    last: float = 0.0
    excluded: bool = False
    times: deque[int] = field(default_factory=lambda: deque(maxlen=TIMES_KEPT))

    @property
    def left_share(self) -> float | None:
        return round(self.left / self.sided, 3) if self.sided else None

    @property
    def median_ms(self) -> int | None:
        return round(median(self.times)) if self.times else None


class Tallies:
    """All workers of a study, and how many answers came in the last minute."""

    def __init__(self) -> None:
        self.workers: dict[str, Tally] = {}
        self.answers = 0
        self.picked = 0
        self._minute: deque[tuple[int, int]] = deque(maxlen=MINUTE + 1)

    def __getitem__(self, worker: str) -> Tally:
        return self.workers.get(worker) or Tally()

    def count(self, event: Event, now: float) -> None:
        """One more event. Each counter only ever moves by whole steps, so their order does not matter."""
        if isinstance(event, Told):
            self.answers += 1
            self._pace(int(now))
            if event.worker is not None:
                tally = self.workers.setdefault(event.worker, Tally())
                tally.answers += 1
                tally.last = max(tally.last, now)
                self._meta(tally, event.meta)
        elif isinstance(event, Skipped) and event.worker is not None:
            self.workers.setdefault(event.worker, Tally()).skips += 1
        elif isinstance(event, Excluded | Restored):
            self.workers.setdefault(event.worker, Tally()).excluded = isinstance(event, Excluded)
        elif isinstance(event, RoundClosed):
            self.picked += 1

    def per_minute(self, now: float) -> int:
        """Answers in the last sixty seconds."""
        return sum(count for second, count in list(self._minute) if second > now - MINUTE)

    def active(self, now: float) -> int:
        """Workers who answered in the last sixty seconds."""
        return sum(1 for tally in list(self.workers.values()) if tally.last > now - MINUTE)

    def _pace(self, second: int) -> None:
        if self._minute and self._minute[-1][0] == second:
            self._minute[-1] = (second, self._minute[-1][1] + 1)
        else:
            self._minute.append((second, 1))

    @staticmethod
    def _meta(tally: Tally, meta: Any) -> None:
        if not isinstance(meta, dict):
            return
        if meta.get("side") in ("left", "right"):
            tally.sided += 1
            tally.left += meta["side"] == "left"
        if isinstance(meta.get("ms"), int):
            tally.times.append(meta["ms"])

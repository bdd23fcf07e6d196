"""Token buckets: how fast somebody may go."""

from __future__ import annotations

import time
from collections.abc import Callable

from handful.crowd.settings import Rate

MOST_REMEMBERED = 50_000


class Buckets:
    """One bucket per name, forgotten once it is full again. For the event loop's thread alone."""

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self.clock = clock
        self._levels: dict[str, tuple[float, float]] = {}

    def wait(self, name: str) -> float:
        """Take one token; 0 if there was one, else how many seconds until there is."""
        now = self.clock()
        level, at = self._levels.pop(name, (self.rate.burst, now))
        level = min(self.rate.burst, level + (now - at) * self.rate.per_second)
        taken = level >= 1
        self._levels[name] = (level - 1 if taken else level, now)
        if len(self._levels) > MOST_REMEMBERED:
            self._forget(now)
        return 0.0 if taken else (1 - level) / self.rate.per_second

    def _forget(self, now: float) -> None:
        """Drop what is full again; if all are busy, the half that was seen longest ago."""
        self._levels = {
            name: (level, at)
            for name, (level, at) in self._levels.items()
            if level + (now - at) * self.rate.per_second < self.rate.burst
        }
        for name in list(self._levels)[: max(0, len(self._levels) - MOST_REMEMBERED // 2)]:
            del self._levels[name]

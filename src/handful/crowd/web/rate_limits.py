"""How much one worker and one address may ask of the server: requests per second, and open streams."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from handful.crowd.settings import Rate, ServerLimits

MOST_REMEMBERED = 50_000


class RateLimiter:
    """One token bucket per name, forgotten once it is full again. For the event loop's thread alone."""

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self.clock = clock
        self._levels: dict[str, tuple[float, float]] = {}

    def wait(self, name: str) -> float:
        """Count one request: 0 if it is within the rate, else how many seconds until the next one is."""
        now = self.clock()
        level, at = self._levels.pop(name, (self.rate.burst, now))
        level = min(self.rate.burst, level + (now - at) * self.rate.per_second)
        within = level >= 1
        self._levels[name] = (level - 1 if within else level, now)
        if len(self._levels) > MOST_REMEMBERED:
            self._forget(now)
        return 0.0 if within else (1 - level) / self.rate.per_second

    def _forget(self, now: float) -> None:
        """Drop what is full again; if all are busy, the half that was seen longest ago."""
        self._levels = {
            name: (level, at)
            for name, (level, at) in self._levels.items()
            if level + (now - at) * self.rate.per_second < self.rate.burst
        }
        for name in list(self._levels)[: max(0, len(self._levels) - MOST_REMEMBERED // 2)]:
            del self._levels[name]


class OpenStreams:
    """How many event streams are open, in all and per address, unless all people sit behind one."""

    def __init__(self, most: int, most_per_address: int, one_room: Callable[[], bool] = lambda: False) -> None:
        self.most, self.most_per_address = most, most_per_address
        self._one_room = one_room
        self._open: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._open.total()

    def enter(self, address: str) -> bool:
        """Count one more stream from this address; False if it would be too many."""
        if self._open.total() >= self.most:
            return False
        if self._open[address] >= self.most_per_address and not self._one_room():
            return False
        self._open[address] += 1
        return True

    def leave(self, address: str) -> None:
        """Count one stream from this address less."""
        self._open[address] -= 1
        if self._open[address] <= 0:
            del self._open[address]


@dataclass(frozen=True)
class RequestLimits:
    """What one server counts: open streams, and requests per worker, per joining address and per login.

    Organizers' streams have a room of their own, which no number of workers can take.
    """

    streams: OpenStreams
    organizer_streams: OpenStreams
    worker: RateLimiter
    joining: RateLimiter
    login: RateLimiter

    @classmethod
    def of(cls, limits: ServerLimits, one_room: Callable[[], bool] = lambda: False) -> RequestLimits:
        """Counters that start at nothing, for these settings."""
        return cls(
            OpenStreams(limits.streams, limits.streams_per_address, one_room),
            OpenStreams(limits.organizer_streams, limits.organizer_streams),
            RateLimiter(limits.worker),
            RateLimiter(limits.joining),
            RateLimiter(limits.login),
        )

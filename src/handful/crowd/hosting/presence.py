"""Presence: how many workers are there, whose page was closed, and one request at a time for each of them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

PRESENT_S = 60.0
BACK_WITHIN_S = 5.0
"""A page that is loaded again, or whose connection broke, is back sooner."""


class WorkerLocks:
    """One lock per worker: two tabs of the same browser wait for each other, different workers do not."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: dict[str, tuple[threading.Lock, int]] = {}

    @contextmanager
    def of(self, worker: str) -> Iterator[None]:
        """Hold the lock of this worker while the block runs."""
        with self._lock:
            lock, waiting = self._taken.get(worker, (threading.Lock(), 0))
            self._taken[worker] = (lock, waiting + 1)
        try:
            with lock:
                yield
        finally:
            with self._lock:
                lock, waiting = self._taken.pop(worker)
                if waiting > 1:
                    self._taken[worker] = (lock, waiting - 1)


class Presence:
    """How many workers asked for something in the last minute, counted now and then."""

    def __init__(self) -> None:
        self.number = 0
        self._seen: dict[str, float] = {}

    def seen(self, worker: str, now: float) -> None:
        """The worker asked for something."""
        self._seen[worker] = now

    def count(self, now: float) -> None:
        """Forget who left. Somebody who comes at this very moment may be counted a little later."""
        self._seen = {worker: when for worker, when in self._seen.copy().items() if when > now - PRESENT_S}
        self.number = len(self._seen)


class OpenPages:
    """Whose page is open, as far as it says so: it keeps a stream open. Those who never opened one are not known here.

    May be used from any thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: Counter[str] = Counter()
        self._quiet_since: dict[str, float] = {}  # of those whose last page was closed
        self._left: dict[str, float] = {}  # when it was said that they are gone

    def opened(self, worker: str) -> None:
        """One more page of the worker is open."""
        with self._lock:
            self._open[worker] += 1
            self._quiet_since.pop(worker, None)

    def closed(self, worker: str, now: float) -> None:
        """One page of the worker was closed."""
        with self._lock:
            self._open[worker] -= 1
            if self._open[worker] <= 0:
                del self._open[worker]
                self._quiet_since[worker] = now

    def seen(self, worker: str, now: float) -> None:
        """They asked for something; it may be the last thing that a page did."""
        with self._lock:
            if worker in self._quiet_since:
                self._quiet_since[worker] = now

    def gone(self, now: float) -> list[str]:
        """Who has left and not come back in time; everybody is named once."""
        with self._lock:
            gone = [worker for worker, since in self._quiet_since.items() if since <= now - BACK_WITHIN_S]
            for worker in gone:
                del self._quiet_since[worker]
                self._left[worker] = now
            return gone

    def left(self, worker: str) -> float | None:
        """When it was said of somebody who is back that they are gone; told once."""
        with self._lock:
            return self._left.pop(worker, None)

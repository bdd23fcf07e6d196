"""Who is here: one turn at a time for each, and how many there are."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

PRESENT_S = 60.0


class Turns:
    """Two tabs, or an impatient client, wait for each other; different workers do not."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: dict[str, tuple[threading.Lock, int]] = {}

    @contextmanager
    def of(self, worker: str) -> Iterator[None]:
        """This worker's turn."""
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
        self._seen[worker] = now

    def count(self, now: float) -> None:
        """Forget who left. Somebody who comes at this very moment may be counted a little later."""
        self._seen = {worker: when for worker, when in self._seen.copy().items() if when > now - PRESENT_S}
        self.number = len(self._seen)

"""What a host knows of its workers in memory alone: who is there, what they see, what they may undo."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from handful.crowd import messages
from handful.crowd.cards import Said

FREE_SKIPS = 10
LONGEST_S = 10.0
EXEMPT = "unsuitable"
"""The reason of somebody who does not want to see what is shown: they never wait for that."""


def pause_after(skips: int) -> float:
    """How many seconds the next question takes after so many skips in a row: none before ten, then 1, 2, 4, 8, 10."""
    return 0.0 if skips < FREE_SKIPS else min(LONGEST_S, 2.0 ** min(skips - FREE_SKIPS, 10))


class SkipPauses:
    """Who skips many in a row, known in memory alone: it changes nothing of what anybody is paid or whether they count.

    What belongs to one worker is done under that worker's lock.
    """

    def __init__(self) -> None:
        self._skips: dict[str, int] = {}
        self._until: dict[str, float] = {}

    def skipped(self, worker: str, reason: str, now: float) -> None:
        """They gave a question or a check back."""
        if reason == EXEMPT:
            return
        self._skips[worker] = skips = self._skips.get(worker, 0) + 1
        if pause := pause_after(skips):
            self._until[worker] = now + pause

    def answered(self, worker: str) -> None:
        """They answered: nothing of what they skipped before matters."""
        self._skips.pop(worker, None)
        self._until.pop(worker, None)

    def left(self, worker: str, now: float) -> float:
        """How many seconds until they are shown the next question."""
        until = self._until.get(worker)
        return 0.0 if until is None else max(0.0, min(until - now, LONGEST_S))


class SeenSince:
    """The question that each worker sees, and since when, by a clock that does not jump."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[str, float]] = {}

    def shown(self, worker: str, question: str) -> None:
        """A reply shows this question first; again, if it did before."""
        if self._of.get(worker, ("", 0.0))[0] != question:
            self._of[worker] = question, time.monotonic()

    def took(self, worker: str, question: str) -> int | None:
        """Milliseconds since then; None for a question that was not the first to be seen."""
        seen, since = self._of.get(worker, ("", 0.0))
        return round(1000 * (time.monotonic() - since)) if seen == question else None


@dataclass(frozen=True)
class _LastAnswer:
    token: str
    said: Said
    until: float


class UndoOffers:
    """What each worker may still undo, and until when."""

    def __init__(self) -> None:
        self._last: dict[str, _LastAnswer] = {}

    def renew(self, worker: str, offer: tuple[str, Said, float] | None) -> None:
        """There is a newer answer: it may be undone as `offer` says, or not at all."""
        before = self._last.pop(worker, None)
        if offer is not None:
            token, said, until = offer
            if before is not None and before.token == token:  # the same question: its time goes on
                until = before.until
            self._last[worker] = _LastAnswer(token, said, until)

    def of(self, worker: str, now: float, redo_s: float) -> messages.UndoOffer | None:
        """What to offer the worker now; whoever undoes has `redo_s` more to choose again."""
        last = self._last.get(worker)
        if last is None or last.until <= now:
            self._last.pop(worker, None)
            return None
        said, seconds = last.said, round(last.until - now, 1)
        choose_s = round(seconds + redo_s, 1)
        return messages.UndoOffer(
            token=last.token, side=said.side, option=said.option, seconds=seconds, choose_s=choose_s
        )


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

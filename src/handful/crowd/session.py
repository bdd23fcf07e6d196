"""Sessions: what a host knows of each of its workers in memory alone. None of it counts, and a restart forgets it.

A session says whether its worker is there, what they see and since when, what they may undo, and whether they skip one
question after another.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from handful.crowd import messages
from handful.crowd.cards import Said

PRESENT_S = 60.0
BACK_WITHIN_S = 5.0
"""A page that is loaded again, or whose connection broke, is back sooner."""
FREE_SKIPS = 10
LONGEST_S = 10.0
EXEMPT = "unsuitable"
"""The reason of somebody who does not want to see what is shown: they never wait for that."""


@dataclass(frozen=True)
class LastAnswer:
    """What a worker answered last, while it may be undone."""

    token: str
    said: Said
    until: float


@dataclass
class Session:
    """One worker. What they do is done while `lock` is held: two tabs of the same browser wait for each other."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    asked: float = float("-inf")  # when they last asked for something
    question: str = ""  # that they see, and since when by a clock that does not jump
    since: float = 0.0
    last: LastAnswer | None = None
    judged_at: float | None = None  # until when they may undo their answer to a check
    skips: int = 0  # in a row
    rests_until: float | None = None
    # The pages that say they are open keep a stream open; these are changed under the lock of all sessions.
    pages: int = 0
    quiet_since: float | None = None  # when the last page was closed
    left: float | None = None  # when it was said that they are gone

    def shows(self, question: str) -> None:
        """A reply shows this question first; again, if it did before."""
        if self.question != question:
            self.question, self.since = question, time.monotonic()

    def took(self, question: str) -> int | None:
        """Milliseconds since then; None for a question that was not the first to be seen."""
        return round(1000 * (time.monotonic() - self.since)) if self.question == question else None

    def answered(self, last: LastAnswer | None) -> None:
        """There is a newer answer: it may be undone as `last` says, or not at all. Skips before it do not matter."""
        if last is not None and self.last is not None and self.last.token == last.token:
            last = LastAnswer(last.token, last.said, self.last.until)  # the same question: its time goes on
        self.last, self.skips, self.rests_until = last, 0, None

    def undo_offer(self, now: float, redo_s: float) -> messages.UndoOffer | None:
        """What may be undone now; whoever undoes has `redo_s` more to choose again."""
        last = self.last
        if last is None or last.until <= now:
            self.last = None
            return None
        seconds = round(last.until - now, 1)
        return messages.UndoOffer(
            token=last.token,
            side=last.said.side,
            option=last.said.option,
            seconds=seconds,
            choose_s=round(seconds + redo_s, 1),
        )

    def skipped(self, reason: str, now: float) -> None:
        """They gave a question or a check back."""
        if reason == EXEMPT:
            return
        self.skips += 1
        if pause := pause_after(self.skips):
            self.rests_until = now + pause

    def rests(self, now: float) -> float:
        """How many seconds until they are shown the next question."""
        return 0.0 if self.rests_until is None else max(0.0, min(self.rests_until - now, LONGEST_S))


def pause_after(skips: int) -> float:
    """How many seconds the next question takes after so many skips in a row: none before ten, then 1, 2, 4, 8, 10.

    So nobody leafs through all of them. It changes nothing of what anybody is paid or whether they count.
    """
    return 0.0 if skips < FREE_SKIPS else min(LONGEST_S, 2.0 ** min(skips - FREE_SKIPS, 10))


class Sessions:
    """The sessions of one host. May be used from any thread; nothing here waits for a worker's own lock."""

    def __init__(self) -> None:
        self.present = 0  # workers who asked for something in the last minute, counted now and then
        self._lock = threading.Lock()
        self._of: dict[str, Session] = {}

    def of(self, worker: str) -> Session:
        """The session of this worker."""
        session = self._of.get(worker)
        if session is None:
            with self._lock:
                session = self._of.setdefault(worker, Session())
        return session

    def count(self, now: float) -> None:
        """Count who is there. Somebody who comes at this very moment may be counted a little later."""
        self.present = sum(session.asked > now - PRESENT_S for session in self._all())

    def opened(self, worker: str) -> None:
        """One more page of the worker is open."""
        session = self.of(worker)
        with self._lock:
            session.pages += 1
            session.quiet_since = None

    def closed(self, worker: str, now: float) -> None:
        """One page of the worker was closed."""
        session = self.of(worker)
        with self._lock:
            session.pages -= 1
            if session.pages <= 0:
                session.pages, session.quiet_since = 0, now

    def seen(self, worker: str, now: float) -> None:
        """They asked for something; it may be the last thing that a page did."""
        session = self.of(worker)
        with self._lock:
            if session.quiet_since is not None:
                session.quiet_since = now

    def gone(self, now: float) -> list[str]:
        """Whose pages are closed and who has not come back in time; everybody is named once."""
        with self._lock:
            gone = [
                worker
                for worker, session in self._of.items()
                if session.quiet_since is not None and session.quiet_since <= now - BACK_WITHIN_S
            ]
            for worker in gone:
                self._of[worker].quiet_since, self._of[worker].left = None, now
            return gone

    def left(self, worker: str) -> float | None:
        """When it was said of somebody who is back that they are gone; told once."""
        session = self.of(worker)
        with self._lock:
            when, session.left = session.left, None
            return when

    def to_be_judged(self, now: float) -> list[str]:
        """Whose time to undo their answer to a check is over."""
        return [
            worker for worker, session in self._items() if session.judged_at is not None and session.judged_at <= now
        ]

    def _items(self) -> list[tuple[str, Session]]:
        with self._lock:
            return list(self._of.items())

    def _all(self) -> list[Session]:
        return [session for _, session in self._items()]

"""Replies that leave a whole number of steps after their requests came, so that no time tells what was done for them.

To make a check takes a tenth of a millisecond more, or less, than to choose a question. On a quiet server that would be
enough to tell them apart. In studies with checks a reply therefore waits for the next step, and leaves then.

The steps are kept by a thread of their own. The event loop's timers end a whole number of milliseconds after the loop
came to rest, which is after the work: they would still tell the part of a millisecond that it took.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from heapq import heappop, heappush
from itertools import count
from threading import Condition, Thread

STEP_S = 0.005
"""Several times what a reply takes, and nothing that a person would notice."""
MARGIN_S = 0.0005
"""A step that is nearer than this is missed: waking for it would take as long."""


class EvenReplies:
    """Lets replies of one server go in step. Its thread sleeps while nothing waits."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changed = Condition()
        self._order = count()
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []  # a heap, the one that is due first in front
        self._thread: Thread | None = None

    def start(self) -> None:
        """Begin to let replies go."""
        self._thread = Thread(target=self._let_go, name="handful-replies", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Let all that wait go at once, and end the thread."""
        thread, self._thread = self._thread, None
        if thread is not None:
            with self._changed:
                self._changed.notify()
            thread.join()

    async def in_step(self, came: float) -> None:
        """Return a whole number of steps after `came`, a time of the clock."""
        gone = asyncio.get_running_loop().create_future()
        steps = (self._clock() + MARGIN_S - came) // STEP_S + 1
        with self._changed:
            if self._thread is None:  # the server stops
                return
            heappush(self._waiting, (came + steps * STEP_S, next(self._order), gone))
            if self._waiting[0][2] is gone:
                self._changed.notify()
        await gone

    def _let_go(self) -> None:
        while True:
            with self._changed:
                stopping = self._thread is None
                now = self._clock()
                due: list[asyncio.Future[None]] = []
                while self._waiting and (stopping or self._waiting[0][0] <= now):
                    due.append(heappop(self._waiting)[2])
                if not due:
                    if stopping:
                        return
                    self._changed.wait(self._waiting[0][0] - now if self._waiting else None)
            if due:
                with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                    due[0].get_loop().call_soon_threadsafe(_let_all_go, due)


def _let_all_go(due: list[asyncio.Future[None]]) -> None:
    for gone in due:
        if not gone.done():  # a client may have left meanwhile
            gone.set_result(None)

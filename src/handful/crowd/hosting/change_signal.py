"""A signal that a hosted study has changed, which event streams wait for."""

from __future__ import annotations

import asyncio
from contextlib import suppress

GATHER_S = 0.2


class ChangeSignal:
    """Counts changes. `changed` and `stop` may be called from any thread; everything else belongs to the event loop."""

    def __init__(self) -> None:
        self.version = 0
        self.stopping = False
        self.told: tuple[int, tuple[str, object]] = (-1, ("", None))  # the last event for workers, and its version
        self._loop: asyncio.AbstractEventLoop | None = None
        self._next = asyncio.Event()
        self._stopped = asyncio.Event()
        self._gathering = False

    def start(self) -> None:
        """Remember the running loop, so that other threads can wake it."""
        self._loop = asyncio.get_running_loop()

    def changed(self) -> None:
        """Something has changed. Several changes within a fifth of a second become one."""
        if self._gathering or self._loop is None or self._loop.is_closed():
            return
        self._gathering = True
        self._loop.call_soon_threadsafe(self._loop.call_later, GATHER_S, self._wake_all)

    def stop(self) -> None:
        """Wake everybody who waits, for the last time."""
        self.stopping = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._loop.call_soon_threadsafe(self._wake_all)

    async def rest(self, seconds: float) -> None:
        """Wait for so many seconds, but not longer than until everything stops."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopped.wait()

    def _wake_all(self) -> None:
        self._gathering = False
        self.version += 1
        waited_for, self._next = self._next, asyncio.Event()
        waited_for.set()

    async def after(self, version: int, seconds: float) -> bool:
        """Wait for a change after `version`; False if none came in so many seconds."""
        if self.version != version or self.stopping:
            return True
        try:
            async with asyncio.timeout(seconds):  # unlike wait_for, without a task of its own for each who waits
                await self._next.wait()
        except TimeoutError:
            return False
        return True

"""Live updates: the study says that something happened, and whoever listens hears of it, a few times a second."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable

GATHER_S = 0.2
HEARTBEAT_S = 15.0


class Live:
    """Counts changes. `changed` may be called from any thread; everything else belongs to the event loop."""

    def __init__(self) -> None:
        self.version = 0
        self.stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._next = asyncio.Event()
        self._gathering = False

    def start(self) -> None:
        """Remember the running loop, so that other threads can wake it."""
        self._loop = asyncio.get_running_loop()

    def changed(self, *_: object) -> None:
        """Something happened. Many happenings within a moment become one."""
        if self._gathering or self._loop is None or self._loop.is_closed():
            return
        self._gathering = True
        self._loop.call_soon_threadsafe(self._loop.call_later, GATHER_S, self._tell)

    def stop(self) -> None:
        """End all streams, each after a last event, so that the server can stop. May be called from any thread."""
        self.stopping = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        self._gathering = False
        self.version += 1
        heard, self._next = self._next, asyncio.Event()
        heard.set()

    async def after(self, version: int, seconds: float) -> bool:
        """Wait for a change after `version`; False if none came in time."""
        if self.version != version or self.stopping:
            return True
        try:
            await asyncio.wait_for(self._next.wait(), seconds)
        except TimeoutError:
            return False
        return True


class Streams:
    """How many streams are open, in all and per address."""

    def __init__(self, most: int, most_per_address: int) -> None:
        self.most, self.most_per_address = most, most_per_address
        self._open: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._open.total()

    def enter(self, address: str) -> bool:
        """Whether one more may be opened from there."""
        if self._open.total() >= self.most or self._open[address] >= self.most_per_address:
            return False
        self._open[address] += 1
        return True

    def leave(self, address: str) -> None:
        self._open[address] -= 1
        if self._open[address] <= 0:
            del self._open[address]


Event = tuple[str, object]
"""A name and what goes with it as JSON."""


async def events(live: Live, now: Callable[[], Awaitable[Event]], least_s: float) -> AsyncIterator[bytes]:
    """Server-sent events: how things stand, at once and after each change, but not more often than every `least_s`.

    An event named "closed" is the last one.
    """
    yield b"retry: 2000\n\n"
    seen = -1
    while not live.stopping:
        if not await live.after(seen, HEARTBEAT_S):
            yield b": still here\n\n"
            continue
        seen = live.version
        name, data = await now()
        yield f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
        if name == "closed":
            return
        await asyncio.sleep(least_s)

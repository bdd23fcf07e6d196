"""Waiting in the event loop until records are stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import cast

from handful.storage import Ticket

_waited_for: dict[Ticket, asyncio.Event] = {}


async def until_done(ticket: Ticket) -> None:
    """Return once the ticket is done, for better or worse. All who wait for one are woken by one call."""
    if ticket.done:
        return
    when_done = getattr(ticket, "when_done", None)
    if when_done is None:  # of a journal that somebody else wrote
        with suppress(Exception):  # whoever asks the ticket itself learns of it
            await asyncio.to_thread(ticket.wait)
        return
    event = _waited_for.get(ticket)
    if event is None:
        event = _waited_for[ticket] = asyncio.Event()
        loop = asyncio.get_running_loop()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_wake, ticket)

        cast(Callable[[Callable[[], None]], None], when_done)(wake)
    await event.wait()


def _wake(ticket: Ticket) -> None:
    event = _waited_for.pop(ticket, None)
    if event is not None:
        event.set()

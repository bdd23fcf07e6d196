"""Server-sent events: a response that goes on for as long as the client listens."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext

from fastapi import Request
from fastapi.responses import StreamingResponse

from handful.crowd.host import ChangeSignal
from handful.crowd.refusals import too_fast
from handful.crowd.web.addresses import address_of
from handful.crowd.web.dependencies import limits_of
from handful.crowd.web.rate_limits import OpenStreams

HEARTBEAT_S = 15.0
LOOK_EVERY_S = 1.0
"""How often a stream that needs a key looks whether the key is still good."""

ServerEvent = tuple[str, object]
"""The name of an event, and what goes with it as JSON."""


def event_stream(
    signal: ChangeSignal,
    latest: Callable[[], Awaitable[ServerEvent]],
    least_s: float,
    request: Request,
    listening: AbstractContextManager[None] | None = None,
    *,
    room: OpenStreams | None = None,
    allowed: Callable[[], Awaitable[bool]] | None = None,
) -> StreamingResponse:
    """The event that `latest` gives, at once and after each change, about every `least_s` seconds at most.

    Refused when too many streams are open already in `room`. `listening` is entered for as long as the client listens.
    The stream ends within seconds once `allowed` says no.
    """
    streams, address = limits_of(request).streams if room is None else room, address_of(request.scope)
    if not streams.enter(address):
        raise too_fast(5)

    async def counted() -> AsyncIterator[bytes]:
        try:
            with listening or nullcontext():
                async for event in _events(signal, latest, least_s, allowed):
                    yield event
        finally:
            streams.leave(address)

    return StreamingResponse(
        counted(), media_type="text/event-stream", headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    )


async def _events(
    signal: ChangeSignal,
    latest: Callable[[], Awaitable[ServerEvent]],
    least_s: float,
    allowed: Callable[[], Awaitable[bool]] | None,
) -> AsyncIterator[bytes]:
    """The events as they are sent; one named "closed" is the last."""
    yield b"retry: 2000\n\n"
    seen, quiet_s = -1, 0.0
    wait_s = HEARTBEAT_S if allowed is None else LOOK_EVERY_S
    while not signal.stopping:
        changed = await signal.after(seen, wait_s)
        if allowed is not None and not await allowed():
            return
        if not changed:
            quiet_s += wait_s
            if quiet_s >= HEARTBEAT_S:
                quiet_s = 0.0
                yield b": still here\n\n"
            continue
        seen, quiet_s = signal.version, 0.0
        name, data = await latest()
        yield f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
        if name == "closed":
            return
        # Not all at the same moment: whoever answers would wait until all have been told.
        await signal.rest(least_s * (0.75 + random.random() / 2))

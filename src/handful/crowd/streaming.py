"""An event stream as a response that counts itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext

from fastapi import Request
from fastapi.responses import StreamingResponse

from handful.crowd.guards import address
from handful.crowd.hall import Hall
from handful.crowd.live import Event, Live, events
from handful.crowd.refusals import too_fast


def stream(
    hall: Hall,
    live: Live,
    now: Callable[[], Awaitable[Event]],
    least_s: float,
    request: Request,
    listening: AbstractContextManager[None] | None = None,
) -> StreamingResponse:
    """Events for as long as the client listens; refused when too many listen already. `listening` lasts as long."""
    where = address(request.scope)
    if not hall.streams.enter(where):
        raise too_fast(5)

    async def counted() -> AsyncIterator[bytes]:
        try:
            with listening or nullcontext():
                async for event in events(live, now, least_s):
                    yield event
        finally:
            hall.streams.leave(where)

    return StreamingResponse(
        counted(), media_type="text/event-stream", headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    )

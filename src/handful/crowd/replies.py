"""What routes reply with that goes on or is kept: event streams, files to download, the status of a study."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import islice

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import iterate_in_threadpool

from handful.crowd import messages
from handful.crowd.guard import OpenStreams, address_of, in_thread, limits_of, registry_of
from handful.crowd.host import ChangeSignal, Host
from handful.crowd.outputs import report, result_sheet
from handful.crowd.recruitment import recruiting_status_of
from handful.crowd.refusals import Refusal, too_fast
from handful.crowd.status import organizer_status_of
from handful.export import journal_digest

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


LINES = 200
"""As many of a text file are made and sent at a time: a few milliseconds, in which others hardly wait."""


def file_response(kind: str) -> dict[int | str, dict[str, object]]:
    """How the OpenAPI description says that a file of this kind comes back."""
    return {200: {"content": {kind: {"schema": {"type": "string", "format": "binary"}}}}}


async def sheet_download(hosted: Host) -> Response:
    """The contact sheet of the summary so far."""
    result = await in_thread(hosted.latest_result)
    if not result.chosen:
        raise Refusal(409, "nothing_chosen", "Nothing is chosen yet, so there is no sheet to draw.")
    png = await in_thread(result_sheet, hosted.collection, result, hosted.theme)
    return Response(png, media_type="image/png", headers=attachment(f"{hosted.name}.png"))


async def report_download(hosted: Host) -> Response:
    """The selection, how it came about and what may be claimed, as a page that stands alone."""
    page = await in_thread(_report, hosted)
    return Response(page, media_type="text/html", headers=attachment(f"{hosted.name}.html"))


def _report(hosted: Host) -> str:
    people = len([name for name in hosted.study.state.workers.names if hosted.study.state.workers.answers_of(name)])
    journal = journal_digest(hosted.study.records())
    return report(hosted.collection, hosted.latest_result(), hosted.theme, people, journal, hosted.clock())


def lines_download(lines: Iterable[str], kind: str, name: str) -> StreamingResponse:
    """A text file, sent while it is made."""
    return StreamingResponse(iterate_in_threadpool(_in_parts(lines)), media_type=kind, headers=attachment(name))


def _in_parts(lines: Iterable[str]) -> Iterator[str]:
    """Many lines at a time: to go to another thread and back for each takes longer than to make it."""
    stream = iter(lines)
    while part := "".join(islice(stream, LINES)):
        yield part


def attachment(name: str) -> dict[str, str]:
    """The headers that have a browser keep a response as a file of this name."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}


async def status_now(hosted: Host, request: Request) -> messages.OrganizerStatus:
    """The status with everything in it, also of recruiting."""
    return await in_thread(_status, hosted, request)


async def status_after(hosted: Host, request: Request) -> messages.OrganizerStatus:
    """The status after something was done."""
    await in_thread(hosted.refresh_status)
    return await status_now(hosted, request)


def _status(hosted: Host, request: Request) -> messages.OrganizerStatus:
    loop = registry_of(request).panels.get(hosted.name)
    recruiting = None if loop is None else recruiting_status_of(loop)
    return organizer_status_of(hosted, len(limits_of(request).streams), recruiting)

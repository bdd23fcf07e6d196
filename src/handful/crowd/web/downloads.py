"""Responses that a browser keeps as files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from fastapi import Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import iterate_in_threadpool

from handful.crowd.host import Host
from handful.crowd.outputs import report, result_sheet
from handful.crowd.refusals import Refusal
from handful.crowd.web.thread_pool import in_thread
from handful.export import journal_digest

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
    people = len([name for name in hosted.study.fold.workers.names if hosted.study.fold.workers.answers_of(name)])
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

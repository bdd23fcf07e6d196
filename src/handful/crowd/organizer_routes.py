"""What the organizer's page asks for and orders. All of it needs the key printed at start."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import FileResponse, StreamingResponse
from starlette.background import BackgroundTask
from starlette.concurrency import iterate_in_threadpool

from handful.crowd import live, messages
from handful.crowd.backups import backup_file
from handful.crowd.booth import Booth
from handful.crowd.guards import address
from handful.crowd.organizer import status_of
from handful.crowd.refusals import RESPONSES, Refusal, not_found, not_organizer, too_fast
from handful.crowd.seals import is_organizer_key, is_session, new_session
from handful.crowd.streaming import stream
from handful.crowd.threads import in_thread
from handful.crowd.worker_routes import attachment, booth_of, hall_of, sheet_of
from handful.study.export import answer_lines, journal_lines

COOKIE = "handful_organizer"
SESSION_S = 12 * 3600
STATUS_EVERY_S = 1.0
META = ("side", "item_side", "ms")
"""What the export adds to an answer from what the page told."""


def is_organizer(request: Request) -> bool:
    """Whether the browser has a session of the organizer."""
    hall = hall_of(request)
    return is_session(hall.secret, request.cookies.get(COOKIE), hall.clock())


async def only_organizers(request: Request) -> None:
    """Before anything else, so that nobody else learns what exists."""
    if not is_organizer(request):
        raise not_organizer()


async def booth_for_organizer(study: str, request: Request, _: Annotated[None, Depends(only_organizers)]) -> Booth:
    return await booth_of(study, request)


def _file(kind: str) -> dict[int | str, dict[str, object]]:
    """How the OpenAPI description says that a file comes back."""
    return {200: {"content": {kind: {"schema": {"type": "string", "format": "binary"}}}}}


TheBooth = Annotated[Booth, Depends(booth_for_organizer)]
router = APIRouter(prefix="/api/organize", tags=["organizer"], responses=RESPONSES)


@router.post("/login", status_code=204)
async def login(said: messages.Login, request: Request) -> Response:
    """Give the key, get the session's cookie."""
    hall = hall_of(request)
    wait = hall.login_rate.wait(address(request.scope))
    if wait:
        raise too_fast(wait)
    if not is_organizer_key(hall.secret, said.key):
        raise Refusal(401, "wrong_key", "That is not the key printed when the server started.")
    response = Response(status_code=204)
    response.set_cookie(
        COOKIE,
        new_session(hall.secret, hall.clock() + SESSION_S),
        max_age=SESSION_S,
        path="/",
        httponly=True,
        samesite="lax",
        secure=hall.settings.secure_cookies,
    )
    return response


@router.post("/logout", status_code=204)
async def logout() -> Response:
    """Forget the session in this browser."""
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, path="/")
    return response


@router.get(
    "/backup",
    dependencies=[Depends(only_organizers)],
    response_class=FileResponse,
    responses=_file("application/zip"),
)
async def backup(request: Request) -> Response:
    """One zip with the database and the collection, made while the server runs."""
    hall = hall_of(request)
    if hall.storage is None:
        raise Refusal(409, "in_memory", "This server keeps nothing on disk, so there is nothing to back up.")
    path = await in_thread(backup_file, hall.storage, hall.collection.folder)
    return FileResponse(path, filename="handful-backup.zip", background=BackgroundTask(path.unlink, missing_ok=True))


@router.get("/{study}")
async def status(booth: TheBooth, request: Request) -> messages.Status:
    """How the study stands."""
    return await in_thread(status_of, booth, len(hall_of(request).streams))


@router.get("/{study}/events", response_class=StreamingResponse, responses=_file("text/event-stream"))
async def events(booth: TheBooth, request: Request) -> Response:
    """Server-sent events: `status` with the same message as above, after each change, once a second at most."""
    hall = hall_of(request)

    async def now() -> live.Event:
        message = await in_thread(status_of, booth, len(hall.streams))
        return "status", message.model_dump()

    return stream(hall, booth.live, now, STATUS_EVERY_S, request)


@router.post("/{study}/open")
async def open_(booth: TheBooth) -> messages.Status:
    """Hand out questions (again)."""
    await in_thread(booth.study.resume)
    return await _after(booth)


@router.post("/{study}/pause")
async def pause(booth: TheBooth) -> messages.Status:
    """Hand out no questions; answers on their way are still taken."""
    await in_thread(booth.study.pause)
    return await _after(booth)


@router.post("/{study}/close")
async def close(booth: TheBooth) -> messages.Status:
    """End the study for good, with what is known."""
    await in_thread(booth.study.finish, "closed by the organizer")
    return await _after(booth)


@router.post("/{study}/exclude")
async def exclude(booth: TheBooth, said: messages.Exclude) -> messages.Status:
    """Count none of a worker's answers. By hand this voids the certificate's confidence, and it will say so."""
    _known(booth, said.worker)
    await in_thread(booth.study.exclude, said.worker, said.reason or None)
    return await _after(booth)


@router.post("/{study}/restore")
async def restore(booth: TheBooth, said: messages.Restore) -> messages.Status:
    """Count them again."""
    _known(booth, said.worker)
    await in_thread(booth.study.restore, said.worker)
    return await _after(booth)


@router.get("/{study}/export.csv", response_class=StreamingResponse, responses=_file("text/csv"))
async def export_csv(booth: TheBooth) -> Response:
    """One line per answer, for a spreadsheet."""
    return _download(answer_lines(booth.study, META), "text/csv; charset=utf-8", f"{booth.name}.csv")


@router.get("/{study}/export.jsonl", response_class=StreamingResponse, responses=_file("application/jsonl"))
async def export_jsonl(booth: TheBooth) -> Response:
    """The journal, one record per line, to the last detail."""
    return _download(journal_lines(booth.study.records()), "application/jsonl", f"{booth.name}.jsonl")


@router.get("/{study}/sheet.png", response_class=Response, responses=_file("image/png"))
async def sheet(booth: TheBooth) -> Response:
    """The contact sheet of the summary so far."""
    return await sheet_of(booth)


async def _after(booth: Booth) -> messages.Status:
    await in_thread(booth.look)
    return await in_thread(status_of, booth)


def _known(booth: Booth, worker: str) -> None:
    if worker not in booth.tallies.workers:
        raise not_found()


def _download(lines: Iterable[str], kind: str, name: str) -> StreamingResponse:
    return StreamingResponse(iterate_in_threadpool(lines), media_type=kind, headers=attachment(name))

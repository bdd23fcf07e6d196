"""What the organizer's page asks for and orders. All of it needs a session of the organizer."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import FileResponse, StreamingResponse
from starlette.background import BackgroundTask

from handful.crowd import messages, organizer_messages
from handful.crowd.host import Host
from handful.crowd.outputs import backup_file
from handful.crowd.refusals import Refusal, not_found
from handful.crowd.web.dependencies import OrganizersStudy, has_session, limits_of, only_organizers, registry_of
from handful.crowd.web.downloads import file_response, lines_download, sheet_download
from handful.crowd.web.error_responses import RESPONSES, explained
from handful.crowd.web.event_stream import ServerEvent, event_stream
from handful.crowd.web.status_replies import status_after, status_now
from handful.crowd.web.thread_pool import in_thread
from handful.export import answer_lines, journal_lines
from handful.study.doors import Door

STATUS_EVERY_S = 1.0

router = APIRouter(prefix="/api/organize", tags=["organizer"], responses=RESPONSES)


@router.get(
    "/backup",
    dependencies=[Depends(only_organizers)],
    response_class=FileResponse,
    responses=file_response("application/zip"),
)
async def backup(request: Request) -> Response:
    """One zip with the database and the collection, made while the server runs."""
    registry = registry_of(request)
    if registry.storage is None:
        raise Refusal(409, "in_memory", "This server keeps nothing on disk, so there is nothing to back up.")
    path = await in_thread(backup_file, registry.storage, registry.folder)
    return FileResponse(path, filename="handful-backup.zip", background=BackgroundTask(path.unlink, missing_ok=True))


@router.get("/{study}")
async def status(hosted: OrganizersStudy, request: Request) -> organizer_messages.OrganizerStatus:
    """The status of the study."""
    return await status_now(hosted, request)


@router.get("/{study}/events", response_class=StreamingResponse, responses=file_response("text/event-stream"))
async def events(hosted: OrganizersStudy, request: Request) -> Response:
    """Server-sent events: `status` with the same message as above, after each change, once a second at most."""

    async def latest() -> ServerEvent:
        message = await status_now(hosted, request)
        return "status", message.model_dump()

    async def allowed() -> bool:
        return await has_session(request)

    room = limits_of(request).organizer_streams
    return event_stream(hosted.change_signal, latest, STATUS_EVERY_S, request, room=room, allowed=allowed)


@router.get("/{study}/result")
async def result(hosted: OrganizersStudy) -> messages.Summary:
    """What has been chosen so far, and what may be claimed of it."""
    return await in_thread(hosted.summary)


@router.get("/{study}/agreement")
async def agreement(hosted: OrganizersStudy) -> organizer_messages.AgreementTold:
    """How far people agree, and how many picks two halves of them have in common."""
    found = await in_thread(hosted.study.agreement)
    return organizer_messages.AgreementTold.model_validate(found.to_dict())


@router.post("/{study}/open")
async def resume(hosted: OrganizersStudy, request: Request) -> organizer_messages.OrganizerStatus:
    """End a pause: hand out questions again."""
    await in_thread(hosted.study.resume)
    return await status_after(hosted, request)


@router.post("/{study}/pause")
async def pause(hosted: OrganizersStudy, request: Request) -> organizer_messages.OrganizerStatus:
    """Hand out no questions; answers on their way are still taken."""
    await in_thread(hosted.study.pause)
    return await status_after(hosted, request)


@router.post("/{study}/close")
async def finish(hosted: OrganizersStudy, request: Request) -> organizer_messages.OrganizerStatus:
    """End the study for good, with what is known."""
    await in_thread(hosted.study.finish, "closed by the organizer")
    return await status_after(hosted, request)


@router.get("/{study}/exclude")
async def excluding(
    hosted: OrganizersStudy, worker: Annotated[str, Query(max_length=200, description="the pseudonym")]
) -> organizer_messages.ExcludingTold:
    """What excluding one worker would mean. Nothing is changed."""
    _known(hosted, worker)
    meant = await in_thread(hosted.study.excluding, [worker])
    return organizer_messages.ExcludingTold(
        answers=meant.answers, leaving=meant.leaving, rounds=meant.rounds, words=meant.words
    )


@router.post("/{study}/exclude")
async def exclude(
    hosted: OrganizersStudy, said: organizer_messages.Exclude, request: Request
) -> organizer_messages.OrganizerStatus:
    """Count none of a worker's answers. By hand this voids the certificate's confidence, and it will say so."""
    _known(hosted, said.worker)
    with explained():
        await in_thread(hosted.study.exclude, said.worker, said.reason or None)
    return await status_after(hosted, request)


@router.post("/{study}/restore")
async def restore(
    hosted: OrganizersStudy, said: organizer_messages.NamedWorker, request: Request
) -> organizer_messages.OrganizerStatus:
    """Count a worker's answers again."""
    _known(hosted, said.worker)
    with explained():
        await in_thread(hosted.study.restore, said.worker)
    return await status_after(hosted, request)


@router.post("/{study}/leave")
async def leave(
    hosted: OrganizersStudy, said: organizer_messages.NamedWorker, request: Request
) -> organizer_messages.OrganizerStatus:
    """Somebody withdraws: their answers leave the open round, unless the rule keeps them. Decided rounds stand."""
    with explained():
        await in_thread(hosted.study.leave, said.worker)
    return await status_after(hosted, request)


@router.post("/{study}/door")
async def change_door(
    hosted: OrganizersStudy, said: organizer_messages.NewDoor, request: Request
) -> organizer_messages.OrganizerStatus:
    """Let people come in another way from now on. It stands in the journal, and the certificate names it."""
    door = Door(said.kind) if said.share is None else Door(said.kind, share=said.share)
    with explained():
        await in_thread(hosted.study.change_door, door, said.reason or None)
    return await status_after(hosted, request)


@router.get("/{study}/export.csv", response_class=StreamingResponse, responses=file_response("text/csv"))
async def export_csv(hosted: OrganizersStudy) -> Response:
    """One line per answer, for a spreadsheet."""
    return lines_download(answer_lines(hosted.study), "text/csv; charset=utf-8", f"{hosted.name}.csv")


@router.get("/{study}/export.jsonl", response_class=StreamingResponse, responses=file_response("application/jsonl"))
async def export_jsonl(hosted: OrganizersStudy) -> Response:
    """The journal, one record per line, to the last detail."""
    return lines_download(journal_lines(hosted.study.records()), "application/jsonl", f"{hosted.name}.jsonl")


@router.get("/{study}/sheet.png", response_class=Response, responses=file_response("image/png"))
async def sheet(hosted: OrganizersStudy) -> Response:
    """The contact sheet of the summary so far."""
    return await sheet_download(hosted)


def _known(hosted: Host, worker: str) -> None:
    if not hosted.study.fold.workers.knows(worker):
        raise not_found()

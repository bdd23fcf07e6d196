"""What the organizer's page asks for and orders. All of it needs a session of the organizer."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Annotated

import segno
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import FileResponse, StreamingResponse
from starlette.background import BackgroundTask

from handful.crowd import messages
from handful.crowd.changes import change_words, check_consent_was_seen, effects_of_change, fixed_words, with_built_in
from handful.crowd.drafts import preview_of_study
from handful.crowd.guard import (
    RESPONSES,
    OrganizersStudy,
    address_of,
    explained,
    has_session,
    in_thread,
    limits_of,
    only_organizers,
    registry_of,
)
from handful.crowd.host import Host
from handful.crowd.languages import languages
from handful.crowd.outputs import backup_file, write_picks
from handful.crowd.people import Invitations
from handful.crowd.practice import practice_cards
from handful.crowd.refusals import Refusal, not_found, too_fast
from handful.crowd.registration import built_in_words, registration_now
from handful.crowd.registration import preregister as preregistered
from handful.crowd.registry import Registry, draft_from
from handful.crowd.replies import (
    ServerEvent,
    attachment,
    event_stream,
    file_response,
    lines_download,
    report_download,
    sheet_download,
    status_after,
    status_now,
)
from handful.crowd.words import own_words
from handful.errors import InvalidCollection, InvalidProblem, StorageError
from handful.export import answer_lines, journal_lines
from handful.preregistration import page_of, to_json
from handful.rules import Door
from handful.wording import sentence

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
async def status(hosted: OrganizersStudy, request: Request) -> messages.OrganizerStatus:
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
async def agreement(hosted: OrganizersStudy) -> messages.AgreementTold:
    """How far people agree, and how many picks two halves of them have in common."""
    found = await in_thread(hosted.study.agreement)
    return messages.AgreementTold.model_validate(found.to_dict())


@router.post("/{study}/open")
async def resume(hosted: OrganizersStudy, request: Request) -> messages.OrganizerStatus:
    """End a pause: hand out questions again."""
    await in_thread(hosted.study.resume)
    return await status_after(hosted, request)


@router.post("/{study}/pause")
async def pause(hosted: OrganizersStudy, request: Request) -> messages.OrganizerStatus:
    """Hand out no questions; answers on their way are still taken."""
    await in_thread(hosted.study.pause)
    return await status_after(hosted, request)


@router.post("/{study}/close")
async def finish(hosted: OrganizersStudy, request: Request) -> messages.OrganizerStatus:
    """End the study for good, with what is known."""
    await in_thread(hosted.study.finish, "closed by the organizer")
    return await status_after(hosted, request)


@router.get("/{study}/exclude")
async def excluding(
    hosted: OrganizersStudy, worker: Annotated[str, Query(max_length=200, description="the pseudonym")]
) -> messages.ExcludingTold:
    """What excluding one worker would mean. Nothing is changed."""
    _known(hosted, worker)
    meant = await in_thread(hosted.study.excluding, [worker])
    return messages.ExcludingTold(answers=meant.answers, leaving=meant.leaving, rounds=meant.rounds, words=meant.words)


@router.post("/{study}/exclude")
async def exclude(hosted: OrganizersStudy, said: messages.Exclude, request: Request) -> messages.OrganizerStatus:
    """Count none of a worker's answers. By hand this voids the certificate's confidence, and it will say so."""
    _known(hosted, said.worker)
    with explained():
        await in_thread(hosted.study.exclude, said.worker, said.reason or None)
    return await status_after(hosted, request)


@router.post("/{study}/restore")
async def restore(hosted: OrganizersStudy, said: messages.NamedWorker, request: Request) -> messages.OrganizerStatus:
    """Count a worker's answers again."""
    _known(hosted, said.worker)
    with explained():
        await in_thread(hosted.study.restore, said.worker)
    return await status_after(hosted, request)


@router.post("/{study}/leave")
async def leave(hosted: OrganizersStudy, said: messages.NamedWorker, request: Request) -> messages.OrganizerStatus:
    """Somebody withdraws: their answers leave the open round, unless the rule keeps them. Decided rounds stand."""
    with explained():
        await in_thread(hosted.study.leave, said.worker)
    return await status_after(hosted, request)


@router.post("/{study}/door")
async def change_door(hosted: OrganizersStudy, said: messages.NewDoor, request: Request) -> messages.OrganizerStatus:
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
    if not hosted.study.state.workers.knows(worker):
        raise not_found()


_Language = Annotated[str | None, Query(max_length=12, description="a code, as `en`")]


@router.get("/{study}/words")
async def words_now(hosted: OrganizersStudy, language: _Language = None) -> messages.WordsNow:
    """What people read now, and what changing it would mean; the built-in words in this `language`, or else in its."""
    if language not in (None, *languages()):
        raise Refusal(422, "invalid", f"The language is one of {', '.join(languages())}.")
    return await in_thread(_now, hosted, language or hosted.settings.language)


@router.post("/{study}/words")
async def words(hosted: OrganizersStudy, said: messages.Words, request: Request) -> messages.OrganizerStatus:
    """Change what people read; what is not named stays. Those who agreed to an earlier text keep their place.

    409 `fixed`: the question once it has answers, a practice that decides who counts, and `goal` in a panel's study.
    409 `not_accepted`: another language where the consent is built in, without the consent in that language.
    """
    told = with_built_in(hosted, said).model_dump(exclude_unset=True)
    try:
        check_consent_was_seen(hosted, told)
    except InvalidProblem as error:
        raise Refusal(409, "not_accepted", sentence(str(error))) from None
    try:
        await in_thread(change_words, hosted, told)
    except InvalidProblem as error:
        raise Refusal(409, "fixed", sentence(str(error))) from None
    registry = registry_of(request)
    if "practice" in said.model_fields_set:
        await in_thread(registry.let_go_of_practice, hosted.collection.folder)
    await in_thread(registry.note_retention, hosted)
    return await status_after(hosted, request)


@router.post("/{study}/preview")
async def preview(hosted: OrganizersStudy, said: messages.Words) -> messages.Preview:
    """The study as people would meet it with these words; nothing is changed."""
    return await in_thread(preview_of_study, hosted, with_built_in(hosted, said))


def _now(hosted: Host, code: str) -> messages.WordsNow:
    catalogue = languages()[code]
    return messages.WordsNow(
        words=own_words(hosted.settings, hosted.retention_days),
        question=catalogue.said(f"prompt.{'two' if hosted.showing.options == 2 else 'more'}"),
        consent=catalogue.consent(marked=hosted.marks_networks),
        of_panel=catalogue.said("consent.panel") if hosted.desk is not None or hosted.comes_by("panel") else None,
        instructions=catalogue.said("instructions"),
        fixed={name: sentence(why) for name, why in fixed_words(hosted).items()},
        effects=effects_of_change(hosted),
        practice_pictures=practice_cards(hosted.collection.folder),
    )


@router.post("/{study}/extend")
async def extend(hosted: OrganizersStudy, said: messages.MoreAnswers, request: Request) -> messages.OrganizerStatus:
    """Allow so many more answers. A finished study has nothing left to ask: begin a new study from here."""
    with explained():
        await in_thread(hosted.study.extend, said.answers)
    return await status_after(hosted, request)


@router.post("/{study}/new-study", status_code=201, dependencies=[Depends(only_organizers)])
async def new_study(hosted: OrganizersStudy, said: messages.NewFromHere, request: Request) -> messages.NewDraft:
    """Begin a draft from this study: with its settings, words and items, and the picks so far chosen from the start.

    The study itself stays as it is. Takes a key that owns all studies.
    """
    registry = registry_of(request)
    if registry.storage is None:
        raise Refusal(409, "in_memory", "This server keeps nothing on disk, so no study can be set up here.")
    try:
        draft = await in_thread(draft_from, registry, hosted, said.items, said.chosen)
    except StorageError as error:
        raise Refusal(507, "storage", sentence(str(error))) from error
    except InvalidCollection as error:
        raise Refusal(409, "not_possible", sentence(str(error))) from error
    return messages.NewDraft(draft=draft.id)


RECORD: dict[int | str, dict[str, object]] = {200: {"content": {"application/json": {"schema": {"type": "object"}}}}}


@router.post("/{study}/preregister", response_class=Response, responses=RECORD)
async def preregister(hosted: OrganizersStudy) -> Response:
    """Write down what the study will do, to be published before the first answer. Again: the study as it is now.

    409 `not_possible`: the study is over, and was not registered.
    """
    with explained():
        record = await in_thread(preregistered, hosted)
    name = f"{hosted.name}-preregistration.json"
    return Response(to_json(record), media_type="application/json", headers=attachment(name))


@router.get("/{study}/preregistration.html", response_class=Response, responses=file_response("text/html"))
async def preregistration(hosted: OrganizersStudy) -> Response:
    """The preregistration as a page that stands alone; 404 before there is one."""
    registered = hosted.study.state.registered
    if registered is None:
        raise not_found()
    record = await in_thread(registration_now, hosted)
    if record["hash"] != registered.hash:
        raise Refusal(409, "departed", "The study has changed since it was registered; use the files you kept then.")
    page = page_of(record, registered.answers, built_in_words(record))
    return Response(page, media_type="text/html", headers=attachment(f"{hosted.name}-preregistration.html"))


@router.get("/{study}/link.svg", response_class=Response, responses=file_response("image/svg+xml"))
async def link_picture(hosted: OrganizersStudy, request: Request) -> Response:
    """The link to share as a QR code, for a poster or a slide."""
    scheme = "https" if registry_of(request).settings.secure_cookies else "http"
    code = segno.make(f"{scheme}://{request.headers['host']}/s/{hosted.name}", error="m")
    picture = BytesIO()
    code.save(picture, kind="svg", scale=8, border=3, dark="#1f2b35", light="#ffffff", xmldecl=False)
    return Response(picture.getvalue(), media_type="image/svg+xml")


@router.get("/{study}/report.html", response_class=Response, responses=file_response("text/html"))
async def report(hosted: OrganizersStudy) -> Response:
    """The selection, how it came about and what may be claimed, as a page that stands alone."""
    return await report_download(hosted)


@router.get("/{study}/picks.zip", response_class=FileResponse, responses=file_response("application/zip"))
async def picks(hosted: OrganizersStudy, request: Request) -> Response:
    """The chosen items as files, numbered in the order picked: as they were uploaded, or else as they were shown."""
    path = await in_thread(_picks, hosted, registry_of(request))
    name = f"{hosted.name}-picks.zip"
    return FileResponse(path, filename=name, background=BackgroundTask(shutil.rmtree, path.parent, ignore_errors=True))


def _picks(hosted: Host, registry: Registry) -> Path:
    result = hosted.latest_result()
    if not result.chosen:
        raise Refusal(409, "nothing_chosen", "Nothing is chosen yet, so there are no files to give.")
    folder = Path(tempfile.mkdtemp(prefix="handful-picks-"))
    try:
        written = write_picks(
            hosted.collection, result, hosted.theme, registry.originals_of(hosted), folder / hosted.name
        )
        return Path(shutil.make_archive(str(folder / "picks"), "zip", folder, written.name))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


@router.get("/{study}/invitations")
async def invitations(hosted: OrganizersStudy, request: Request) -> messages.InvitationCounts:
    """How many invitations there are."""
    kept = _invitations(hosted, registry_of(request))
    counts = Counter(one.state for one in await in_thread(kept.all))
    return messages.InvitationCounts(open=counts["open"], used=counts["used"], revoked=counts["revoked"])


@router.post("/{study}/invitations", status_code=201)
async def invite(hosted: OrganizersStudy, said: messages.Invite, request: Request) -> messages.InvitationLinks:
    """Make invitations, each for one person. The links are told this once: only hashes of them are kept."""
    registry = registry_of(request)
    made = await in_thread(_invitations(hosted, registry).make, said.number, registry.clock())
    links = [messages.InvitationLink(number=number, link=f"/s/{hosted.name}#{code}") for number, code in made]
    return messages.InvitationLinks(links=links)


def _invitations(hosted: Host, registry: Registry) -> Invitations:
    if not hosted.comes_by("invitations") or registry.storage is None:
        raise Refusal(409, "no_invitations", "People come to this study in another way now.")
    return Invitations(hosted.study.name, registry.storage)


SESSION_S = 12 * 3600


@router.post("/login", status_code=204)
async def login(said: messages.Login, request: Request) -> Response:
    """Give the key, get the session's cookie."""
    registry = registry_of(request)
    wait = limits_of(request).login.wait(address_of(request.scope))
    if wait:
        raise too_fast(wait)
    if not await in_thread(registry.keys.opens, said.key):
        raise Refusal(401, "wrong_key", "That is no key of this server, or it was renewed.")
    response = Response(status_code=204)
    await _open_session(registry, response)
    return response


@router.post("/logout", status_code=204)
async def logout(request: Request) -> Response:
    """Forget the session in this browser."""
    response = Response(status_code=204)
    response.delete_cookie(registry_of(request).keys.cookie, path="/")
    return response


@router.post("/key", status_code=201, dependencies=[Depends(only_organizers)])
async def renew(request: Request, response: Response) -> messages.KeyLink:
    """Make another organizer's key. The one before opens nothing, and all sessions end but this one."""
    registry = registry_of(request)
    await in_thread(registry.keys.renew)
    await _open_session(registry, response)
    return messages.KeyLink(link=await in_thread(lambda: registry.keys.login))


@router.get("/{study}/share")
async def shared(hosted: OrganizersStudy, request: Request) -> messages.KeyLink:
    """The link to the result, if there is one."""
    return messages.KeyLink(link=await in_thread(registry_of(request).keys.link, hosted.study.name))


@router.post("/{study}/share")
async def share(hosted: OrganizersStudy, request: Request) -> messages.KeyLink:
    """A link for whoever may see the result, and nothing else. Where there is one, it is that one."""
    await in_thread(registry_of(request).keys.share, hosted.study.name)
    return await shared(hosted, request)


@router.delete("/{study}/share", status_code=204)
async def unshare(hosted: OrganizersStudy, request: Request) -> Response:
    """Let the link to the result open nothing any more."""
    await in_thread(registry_of(request).keys.revoke, hosted.study.name)
    return Response(status_code=204)


async def _open_session(registry: Registry, response: Response) -> None:
    response.set_cookie(
        registry.keys.cookie,
        await in_thread(registry.keys.session, SESSION_S),
        max_age=SESSION_S,
        path="/",
        httponly=True,
        samesite="lax",
        secure=registry.settings.secure_cookies,
    )

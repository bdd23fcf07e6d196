"""What a worker's page, or any other client that answers, asks for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from handful.crowd import messages
from handful.crowd.changes import consent_in
from handful.crowd.guard import (
    RESPONSES,
    WORKER_COOKIE,
    TheStudy,
    TheWorker,
    WorkerCookie,
    address_of,
    in_thread,
    limits_of,
    registry_of,
    worker_at,
)
from handful.crowd.host import Host
from handful.crowd.identity import code_of, forget_person, known_worker, new_person, person_of_code
from handful.crowd.panel_routes import cookie_of_visit, has_arrived, set_worker_cookie
from handful.crowd.practice import check_practised, lessons_shown, note_joined
from handful.crowd.refusals import Refusal, invitation_used, not_found, not_invited, not_joined, study_ended, too_fast
from handful.crowd.registry import Registry
from handful.crowd.replies import ServerEvent, event_stream, sheet_download
from handful.crowd.tokens import Worker

PROGRESS_EVERY_S = 2.0
FOR_EVER_HERE = "private, max-age=31536000, immutable"  # for one browser only


router = APIRouter(prefix="/api", tags=["worker"], responses=RESPONSES)


@router.get("/studies")
async def studies(request: Request) -> list[messages.StudyLine]:
    """The studies that this server's front page lists."""
    return registry_of(request).public()


@router.get("/s/{study}")
async def about(hosted: TheStudy, request: Request, cookie: WorkerCookie = None) -> messages.About:
    """What to tell somebody before they join; `joined` says whether this browser already has."""
    registry = registry_of(request)
    settings = hosted.settings
    return messages.About(
        study=hosted.name,
        theme=hosted.theme,
        state=hosted.state,
        k=hosted.k,
        items=len(hosted.collection),
        options=hosted.showing.options,
        goal=hosted.goal,
        minutes=hosted.minutes,
        consent=consent_in(hosted, settings),
        instructions=settings.instructions,
        question=settings.question,
        welcome=settings.welcome,
        thanks=settings.thanks,
        practice=lessons_shown(settings.practice, hosted.collection),
        texts=hosted.collection.only_texts,
        undo_s=settings.undo_s,
        solo=settings.solo,
        show_result=settings.show_result,
        retention_days=hosted.retention_days,
        joined=known_worker(registry.secret, hosted, cookie) is not None,
        panel=hosted.desk is not None or hosted.comes_by("panel"),
        arrived=has_arrived(hosted, request),
        by_invitation=hosted.comes_by("invitations"),
    )


@router.post("/s/{study}/invitation", status_code=204)
async def invitation(hosted: TheStudy, said: messages.Invited, request: Request) -> Response:
    """Refuse an invitation that would let nobody in, before anything is read. Asking does not use it."""
    if hosted.comes_by("invitations"):
        _check_joining(hosted, request)
        await in_thread(registry_of(request).check_invited, hosted, said.invitation or "")
    return Response(status_code=204)


@router.post("/s/{study}/join")
async def join(
    hosted: TheStudy, said: messages.Join, request: Request, response: Response, cookie: WorkerCookie = None
) -> messages.Work:
    """Take part: sets the cookie that all other calls need. Joining again changes nothing."""
    registry = registry_of(request)
    worker = known_worker(registry.secret, hosted, cookie)
    if worker is None:
        if not hosted.open and hosted.desk is None:  # whom a panel sent is paid, and sent back there
            raise study_ended()  # and nothing is written
        if hosted.settings.consent is not None and not said.consent:
            raise Refusal(422, "no_consent", "Taking part needs your consent.")
        check_practised(hosted.study.setup.rule, said)
        _check_joining(hosted, request)
        host = request.client.host if request.client else ""
        sent = await cookie_of_visit(hosted, request)
        given, worker = await in_thread(_joined, registry, hosted, host, said, *sent)
        set_worker_cookie(response, WORKER_COOKIE, given, hosted.name, registry.settings.secure_cookies)
    return await in_thread(hosted.work, worker)


def _check_joining(hosted: Host, request: Request) -> None:
    """Refuse an address that joins, or tries invitations, faster than people do; not where all share one."""
    if hosted.desk is None and not hosted.comes_by("room"):
        wait = limits_of(request).joining.wait(address_of(request.scope))
        if wait:
            raise too_fast(wait)


def _joined(
    registry: Registry,
    hosted: Host,
    host: str,
    said: messages.Join,
    pseudonym: str | None,
    visit: str | None,
) -> tuple[str, Worker]:
    """Let somebody in by the study's door, and keep who they are outside the journal.

    `pseudonym` and `visit` are the name and the cookie of somebody whom a panel sent.
    """
    if hosted.comes_by("invitations"):
        pseudonym = registry.invited(hosted, said.invitation or "")
        if pseudonym is None:
            raise not_invited()
        if hosted.people.named(pseudonym) is not None:
            raise invitation_used()
    cookie, worker = new_person(registry.secret, hosted, host, pseudonym, visit)
    note_joined(hosted.study, worker.id, said, hosted.settings.practice)
    return cookie, worker


@router.get("/s/{study}/next")
async def next_questions(hosted: TheStudy, worker: TheWorker) -> messages.Work:
    """The questions this worker holds, the same after a reload and in a second tab."""
    return await in_thread(hosted.work, worker)


@router.get("/s/{study}/look")
async def look(hosted: TheStudy, worker: TheWorker) -> messages.Work:
    """The same, but who has given just as many answers as they are asked for gets no more."""
    return await in_thread(hosted.work, worker, True)


@router.post("/s/{study}/answer")
async def answer(hosted: TheStudy, worker: TheWorker, said: messages.Answer) -> messages.Answered:
    """Answer a question. The reply comes once the answer is durable, and brings the next questions.

    A repeat, with the same choice or another, changes nothing and tells what is stored.
    """
    return await in_thread(hosted.answer, worker, said)


@router.post("/s/{study}/skip")
async def skip(hosted: TheStudy, worker: TheWorker, said: messages.Skip) -> messages.Work:
    """Pass a question on to somebody else."""
    return await in_thread(hosted.skip, worker, said)


@router.post("/s/{study}/undo")
async def undo(hosted: TheStudy, worker: TheWorker, said: messages.Undo) -> messages.Answered:
    """Change the last answer, while it is offered."""
    return await in_thread(hosted.undo, worker, said)


@router.get("/s/{study}/pictures/{name}", response_class=Response, responses={200: {"content": {"image/webp": {}}}})
async def picture(hosted: TheStudy, name: str, request: Request, cookie: WorkerCookie = None) -> Response:
    """A picture that this worker was shown, in a study with checks: its address means nothing to others."""
    worker = known_worker(registry_of(request).secret, hosted, cookie)
    path = None if worker is None else hosted.showing.deck.picture(worker, name)
    if path is None:
        raise not_found()
    # Without the file's time and tag: a check's pictures were made at another time.
    content = await in_thread(path.read_bytes)
    return Response(content, media_type="image/webp", headers={"Cache-Control": FOR_EVER_HERE})


async def _to_see_what_is_chosen(hosted: Host, request: Request, cookie: str | None) -> None:
    """Only who has joined may, unless one person has chosen alone and is done; in a crowd, if the organizer agrees."""
    over, settings = not hosted.open, hosted.settings
    if not (settings.solo and over):
        await worker_at(hosted, request, cookie)
    if not settings.solo and not (settings.show_result and over):
        raise not_found()


@router.get("/s/{study}/summary")
async def summary(hosted: TheStudy, request: Request, cookie: WorkerCookie = None) -> messages.Summary:
    """What has been chosen so far, for somebody who chooses alone; once all is chosen, any browser that has the link
    may see it. A crowd's is the organizer's to show: to people who took part, once the study has ended.
    """
    await _to_see_what_is_chosen(hosted, request, cookie)
    return await in_thread(hosted.summary)


@router.get("/s/{study}/sheet.png", response_class=Response, responses={200: {"content": {"image/png": {}}}})
async def sheet(hosted: TheStudy, request: Request, cookie: WorkerCookie = None) -> Response:
    """The contact sheet of what has been chosen, for who may see it."""
    await _to_see_what_is_chosen(hosted, request, cookie)
    return await sheet_download(hosted)


@router.get(
    "/s/{study}/events", response_class=StreamingResponse, responses={200: {"content": {"text/event-stream": {}}}}
)
async def events(hosted: TheStudy, request: Request, present: bool = False, cookie: WorkerCookie = None) -> Response:
    """Server-sent events: `work` when there may be something to answer, `paused`, and `closed` as the last one.

    With `present` the stream also says that the worker is there: when their last one ends and none comes back within
    seconds, what they hold is asked of others.
    """

    signal = hosted.change_signal

    async def latest() -> ServerEvent:
        if signal.told[0] != signal.version:  # the same for all who listen, so it is made once
            state = hosted.state
            name = {"open": "work", "paused": "paused", "finished": "closed"}[state]
            progress = hosted.progress().model_dump(include={"answers", "budget", "chosen", "k"})
            signal.told = signal.version, (name, {"state": state, **progress})
        return signal.told[1]

    worker = known_worker(registry_of(request).secret, hosted, cookie) if present else None
    here = None if worker is None else _present(hosted, worker)
    return event_stream(hosted.change_signal, latest, PROGRESS_EVERY_S, request, here)


@contextmanager
def _present(hosted: Host, worker: Worker) -> Iterator[None]:
    hosted.page_opened(worker)
    try:
        yield
    finally:
        hosted.page_closed(worker)


@router.get("/s/{study}/me")
async def myself(hosted: TheStudy, request: Request, cookie: WorkerCookie = None) -> messages.Myself:
    """The code of whoever has joined in this browser."""
    secret = registry_of(request).secret
    worker = known_worker(secret, hosted, cookie)
    if worker is None:
        raise not_joined()
    return messages.Myself(code=code_of(secret, hosted, worker.id))


@router.post("/s/{study}/forget")
async def forget(
    hosted: TheStudy, said: messages.ForgetMe, request: Request, response: Response, cookie: WorkerCookie = None
) -> messages.Forgotten:
    """Forget whose code this is: what ties answers to a person goes, and the answers stay without one.

    With `withdraw` they also leave the open round. Decided rounds stand.
    """
    wait = limits_of(request).joining.wait(address_of(request.scope))
    if wait:
        raise too_fast(wait)
    secret = registry_of(request).secret
    name = await in_thread(person_of_code, secret, hosted, said.code)
    if name is None:
        raise Refusal(422, "no_such_code", "That is nobody's code in this study.")
    worker = known_worker(secret, hosted, cookie)
    if worker is not None and worker.id == name and hosted.desk is None:  # who is paid still has to go back
        response.delete_cookie(WORKER_COOKIE, path=f"/api/s/{hosted.name}")
    return messages.Forgotten(done=await in_thread(forget_person, hosted, name, withdraw=said.withdraw))

"""What a worker's page, or any other client that answers, asks for."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, get_type_hints

from fastapi import APIRouter, Cookie, Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from handful.crowd import live, messages
from handful.crowd.booth import Booth
from handful.crowd.guards import address
from handful.crowd.hall import Hall
from handful.crowd.refusals import RESPONSES, Refusal, not_found, not_joined, too_fast
from handful.crowd.seals import Worker, new_cookie, worker_of
from handful.crowd.sheet import contact_sheet
from handful.crowd.streaming import stream
from handful.crowd.threads import in_thread

COOKIE = "handful"
COOKIE_S = 30 * 24 * 3600
PROGRESS_EVERY_S = 2.0

router = APIRouter(prefix="/api", tags=["worker"], responses=RESPONSES)


def hall_of(request: Request) -> Hall:
    hall: Hall = request.app.state.hall
    return hall


# Dependencies are coroutines even where nothing is awaited: a plain function would be run in a thread of its own.
async def booth_of(study: str, request: Request) -> Booth:
    """The booth of the study in the path."""
    booth = hall_of(request).booths.get(study)
    if booth is None:
        raise not_found()
    return booth


TheBooth = Annotated[Booth, Depends(booth_of)]
TheCookie = Annotated[str | None, Cookie(alias=COOKIE, include_in_schema=False)]


async def worker_at(booth: TheBooth, request: Request, cookie: TheCookie = None) -> Worker:
    """Whoever the cookie says it is, if they have not been too fast."""
    hall = hall_of(request)
    worker = worker_of(hall.secret, booth.name, cookie, address(request.scope))
    if worker is None:
        raise not_joined()
    wait = hall.worker_rate.wait(worker.id)
    if wait:
        raise too_fast(wait)
    return worker


TheWorker = Annotated[Worker, Depends(worker_at)]


class Direct(APIRoute):
    """A route that finds the study, the worker and what they said by itself, and is described like any other.

    To have them found for us would take longer than everything else that is done for an answer.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        endpoint = self.endpoint
        said: type[BaseModel] | None = get_type_hints(endpoint).get("said")

        async def handle(request: Request) -> Response:
            booth = await booth_of(request.path_params["study"], request)
            worker = await worker_at(booth, request, request.cookies.get(COOKIE))
            more = () if said is None else (await body_as(said, request),)
            reply: BaseModel = await endpoint(booth, worker, *more)
            return Response(reply.model_dump_json(), media_type="application/json")

        return handle


async def body_as(model: type[BaseModel], request: Request) -> BaseModel:
    """The body, if it is the JSON that is expected."""
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise RequestValidationError([{"loc": ("body",), "msg": "expected JSON, as Content-Type: application/json"}])
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False)) from None
    except ClientDisconnect:
        raise HTTPException(400) from None


async def sheet_of(booth: Booth) -> Response:
    """The contact sheet of the summary so far, to be kept as a file."""
    found = await in_thread(booth.found)
    chosen = found.chosen
    if not chosen:
        raise Refusal(409, "nothing_chosen", "Nothing is chosen yet, so there is no sheet to draw.")
    png = await in_thread(contact_sheet, booth.collection, chosen, booth.theme, found.words)
    return Response(png, media_type="image/png", headers=attachment(f"{booth.name}.png"))


direct = APIRouter(prefix="/api", tags=["worker"], responses=RESPONSES, route_class=Direct)


def attachment(name: str) -> dict[str, str]:
    """The header that lets a browser keep the response as a file of that name."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}


@router.get("/studies")
async def studies(request: Request) -> list[messages.Public]:
    """All studies of this server."""
    return hall_of(request).public()


@router.get("/s/{study}")
async def about(booth: TheBooth, request: Request, cookie: TheCookie = None) -> messages.About:
    """What to tell somebody before they join; `joined` says whether this browser already has."""
    hall = hall_of(request)
    settings = hall.settings
    return messages.About(
        study=booth.name,
        theme=booth.theme,
        state=booth.state,
        k=booth.k,
        items=len(booth.collection),
        goal=settings.goal,
        consent=settings.consent,
        instructions=settings.instructions,
        undo_s=settings.undo_s,
        solo=settings.solo,
        joined=worker_of(hall.secret, booth.name, cookie) is not None,
    )


@router.post("/s/{study}/join")
async def join(
    booth: TheBooth, said: messages.Join, request: Request, response: Response, cookie: TheCookie = None
) -> messages.Work:
    """Take part: sets the cookie that all other calls need. Joining again changes nothing."""
    hall, where = hall_of(request), address(request.scope)
    worker = worker_of(hall.secret, booth.name, cookie, where)
    if worker is None:
        if hall.settings.consent is not None and not said.consent:
            raise Refusal(422, "no_consent", "Taking part needs your consent.")
        wait = hall.joining_rate.wait(where)
        if wait:
            raise too_fast(wait)
        cookie = new_cookie(hall.secret, booth.name)
        worker = worker_of(hall.secret, booth.name, cookie, where)
        assert worker is not None
        await in_thread(booth.note_joined, worker, said)
        response.set_cookie(
            COOKIE,
            cookie,
            max_age=COOKIE_S,
            path=f"/api/s/{booth.name}",
            httponly=True,
            samesite="lax",
            secure=hall.settings.secure_cookies,
        )
    return await in_thread(booth.work, worker)


@direct.get("/s/{study}/next")
async def next_questions(booth: TheBooth, worker: TheWorker) -> messages.Work:
    """The questions this worker holds, the same after a reload and in a second tab."""
    return await in_thread(booth.work, worker)


@direct.post("/s/{study}/answer")
async def answer(booth: TheBooth, worker: TheWorker, said: messages.Answer) -> messages.Answered:
    """Answer a question. The reply comes once the answer is durable, and brings the next questions.

    A repeat, with the same side or the other, changes nothing and tells what is stored.
    """
    return await in_thread(booth.answer, worker, said)


@direct.post("/s/{study}/skip")
async def skip(booth: TheBooth, worker: TheWorker, said: messages.Skip) -> messages.Work:
    """Pass a question on to somebody else."""
    return await in_thread(booth.skip, worker, said)


@direct.post("/s/{study}/undo")
async def undo(booth: TheBooth, worker: TheWorker, said: messages.Undo) -> messages.Answered:
    """Change the last answer, while it is offered."""
    return await in_thread(booth.undo, worker, said)


@router.get("/s/{study}/summary")
async def summary(booth: TheBooth, worker: TheWorker) -> messages.Summary:
    """What has been chosen so far, for somebody who chooses alone; a crowd's summary is the organizer's to show."""
    if not booth.settings.solo:
        raise not_found()
    return await in_thread(booth.summary)


@router.get("/s/{study}/sheet.png", response_class=Response, responses={200: {"content": {"image/png": {}}}})
async def sheet(booth: TheBooth, worker: TheWorker) -> Response:
    """The contact sheet of what has been chosen, for somebody who chooses alone."""
    if not booth.settings.solo:
        raise not_found()
    return await sheet_of(booth)


@router.get(
    "/s/{study}/events", response_class=StreamingResponse, responses={200: {"content": {"text/event-stream": {}}}}
)
async def events(booth: TheBooth, request: Request, present: bool = False, cookie: TheCookie = None) -> Response:
    """Server-sent events: `work` when there may be something to answer, `paused`, and `closed` as the last one.

    With `present` the stream also says that the worker is there: when their last one ends and none comes back within
    seconds, what they hold is asked of others.
    """

    async def now() -> live.Event:
        state = booth.state
        name = {"open": "work", "paused": "paused", "finished": "closed"}[state]
        return name, {"state": state, **booth.progress().model_dump(include={"answers", "budget", "chosen", "k"})}

    hall = hall_of(request)
    worker = worker_of(hall.secret, booth.name, cookie) if present else None
    here = None if worker is None else _present(booth, worker)
    return stream(hall, booth.live, now, PROGRESS_EVERY_S, request, here)


@contextmanager
def _present(booth: Booth, worker: Worker) -> Iterator[None]:
    booth.page_opened(worker)
    try:
        yield
    finally:
        booth.page_closed(worker)

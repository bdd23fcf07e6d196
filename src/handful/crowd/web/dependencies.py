"""What routes need of a request: the registry, the limits, the study in the path, the worker or organizer who asks."""

from __future__ import annotations

from typing import Annotated

from fastapi import Cookie, Depends, Request

from handful.crowd.host import Host
from handful.crowd.identity import known_worker
from handful.crowd.refusals import not_found, not_joined, not_organizer, too_fast
from handful.crowd.registry import Registry
from handful.crowd.tokens import Worker
from handful.crowd.web.rate_limits import RequestLimits
from handful.crowd.web.thread_pool import in_thread

WORKER_COOKIE = "handful"


def registry_of(request: Request) -> Registry:
    """The studies of the server that a request came to."""
    registry: Registry = request.app.state.registry
    return registry


def limits_of(request: Request) -> RequestLimits:
    """The counters of the server that a request came to."""
    limits: RequestLimits = request.app.state.limits
    return limits


# Dependencies are coroutines even where nothing is awaited: a plain function would be run in a thread of its own.
async def hosted_study_of(study: str, request: Request) -> Host:
    """The study in the path."""
    hosted = registry_of(request).studies.get(study)
    if hosted is None:
        raise not_found()
    return hosted


TheStudy = Annotated[Host, Depends(hosted_study_of)]
WorkerCookie = Annotated[str | None, Cookie(alias=WORKER_COOKIE, include_in_schema=False)]


async def worker_at(hosted: TheStudy, request: Request, cookie: WorkerCookie = None) -> Worker:
    """The worker whose cookie this is, if they have not been too fast."""
    worker = known_worker(registry_of(request).secret, hosted, cookie)
    if worker is None:
        raise not_joined()
    wait = limits_of(request).worker.wait(worker.id)
    if wait:
        raise too_fast(wait)
    return worker


TheWorker = Annotated[Worker, Depends(worker_at)]


async def has_session(request: Request) -> bool:
    """Whether this browser is the organizer's: looked at for every request, since the key may have been renewed."""
    keys = registry_of(request).keys
    cookie = request.cookies.get(keys.cookie)
    return cookie is not None and await in_thread(keys.in_session, cookie)


async def only_organizers(request: Request) -> None:
    """Refuse everybody but the organizer."""
    if not await has_session(request):
        raise not_organizer()


async def organizers_study(study: str, request: Request) -> Host:
    """The study in the path, for the organizer."""
    # First whether there is a session: so nobody else learns which studies exist.
    await only_organizers(request)
    return await hosted_study_of(study, request)


OrganizersStudy = Annotated[Host, Depends(organizers_study)]

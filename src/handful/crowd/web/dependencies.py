"""What routes need of a request: the registry, the limits, the study in the path, the worker or organizer who asks."""

from __future__ import annotations

from typing import Annotated

from fastapi import Cookie, Depends, Request

from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.hosting.registry import Registry
from handful.crowd.hosting.tokens import Worker, is_session, worker_of
from handful.crowd.refusals import not_found, not_joined, not_organizer, too_fast
from handful.crowd.web.addresses import address_of
from handful.crowd.web.rate_limits import RequestLimits

WORKER_COOKIE = "handful"
ORGANIZER_COOKIE = "handful_organizer"


def registry_of(request: Request) -> Registry:
    """The studies of the server that a request came to."""
    registry: Registry = request.app.state.registry
    return registry


def limits_of(request: Request) -> RequestLimits:
    """The counters of the server that a request came to."""
    limits: RequestLimits = request.app.state.limits
    return limits


# Dependencies are coroutines even where nothing is awaited: a plain function would be run in a thread of its own.
async def hosted_study_of(study: str, request: Request) -> HostedStudy:
    """The study in the path."""
    hosted = registry_of(request).studies.get(study)
    if hosted is None:
        raise not_found()
    return hosted


TheStudy = Annotated[HostedStudy, Depends(hosted_study_of)]
WorkerCookie = Annotated[str | None, Cookie(alias=WORKER_COOKIE, include_in_schema=False)]


async def worker_at(hosted: TheStudy, request: Request, cookie: WorkerCookie = None) -> Worker:
    """The worker whose cookie this is, if they have not been too fast."""
    worker = worker_of(registry_of(request).secret, hosted.name, cookie, address_of(request.scope))
    if worker is None:
        raise not_joined()
    wait = limits_of(request).worker.wait(worker.id)
    if wait:
        raise too_fast(wait)
    return worker


TheWorker = Annotated[Worker, Depends(worker_at)]


def is_organizer(request: Request) -> bool:
    """Whether the browser has a session of the organizer."""
    registry = registry_of(request)
    return is_session(registry.secret, request.cookies.get(ORGANIZER_COOKIE), registry.clock())


async def only_organizers(request: Request) -> None:
    """Refuse everybody else, before anything is looked up: so nobody learns which studies exist."""
    if not is_organizer(request):
        raise not_organizer()


async def _organizers_study(study: str, request: Request, _: Annotated[None, Depends(only_organizers)]) -> HostedStudy:
    return await hosted_study_of(study, request)


OrganizersStudy = Annotated[HostedStudy, Depends(_organizers_study)]

"""What routes need of a request: the registry, the limits, the study in the path, the worker or organizer who asks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Cookie, Depends, Request

from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.hosting.identity import known_worker
from handful.crowd.hosting.registry import Registry
from handful.crowd.hosting.tokens import Worker
from handful.crowd.refusals import not_allowed, not_found, not_joined, not_organizer, too_fast
from handful.crowd.web.addresses import address_of
from handful.crowd.web.rate_limits import RequestLimits
from handful.crowd.web.thread_pool import in_thread
from handful.storage.keys import Key, Role

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
    worker = known_worker(registry_of(request).secret, hosted, cookie, address_of(request.scope))
    if worker is None:
        raise not_joined()
    wait = limits_of(request).worker.wait(worker.id)
    if wait:
        raise too_fast(wait)
    return worker


TheWorker = Annotated[Worker, Depends(worker_at)]


async def key_of(request: Request) -> Key | None:
    """The key that this browser's session was opened with, unless it is revoked: looked at for every request."""
    keys = registry_of(request).keys
    cookie = request.cookies.get(keys.cookie)
    return None if cookie is None else await in_thread(keys.of_session, cookie)


async def only_organizers(request: Request) -> None:
    """Refuse everybody but those who own all studies."""
    key = await key_of(request)
    if key is None:
        raise not_organizer()
    if not key.allows("own", None):
        raise not_allowed()


def _study_for(role: Role) -> Callable[..., Awaitable[HostedStudy]]:
    async def study_for(study: str, request: Request) -> HostedStudy:
        # First whether there is a session: so nobody else learns which studies exist.
        key = await key_of(request)
        if key is None:
            raise not_organizer()
        hosted = await hosted_study_of(study, request)
        if key.study not in (None, hosted.study.name):
            raise not_found()
        if not key.allows(role, hosted.study.name):
            raise not_allowed()
        return hosted

    return study_for


OrganizersStudy = Annotated[HostedStudy, Depends(_study_for("own"))]
"""For whoever runs the study: needs a key of the role own."""
WatchedStudy = Annotated[HostedStudy, Depends(_study_for("watch"))]
"""For whoever may see all of it: needs own or watch."""
ShownStudy = Annotated[HostedStudy, Depends(_study_for("result"))]
"""For whoever may see what was chosen: any key of the study."""

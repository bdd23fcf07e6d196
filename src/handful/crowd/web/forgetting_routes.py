"""A person has themselves forgotten, by their own code."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from handful.crowd import person_messages
from handful.crowd.identity import code_of, forget_person, known_worker, person_of_code
from handful.crowd.refusals import Refusal, not_joined, too_fast
from handful.crowd.web.addresses import address_of
from handful.crowd.web.dependencies import WORKER_COOKIE, TheStudy, WorkerCookie, limits_of, registry_of
from handful.crowd.web.error_responses import RESPONSES
from handful.crowd.web.thread_pool import in_thread

router = APIRouter(prefix="/api/s", tags=["worker"], responses=RESPONSES)


@router.get("/{study}/me")
async def myself(hosted: TheStudy, request: Request, cookie: WorkerCookie = None) -> person_messages.Myself:
    """The code of whoever has joined in this browser."""
    secret = registry_of(request).secret
    worker = known_worker(secret, hosted, cookie)
    if worker is None:
        raise not_joined()
    return person_messages.Myself(code=code_of(secret, hosted, worker.id))


@router.post("/{study}/forget")
async def forget(
    hosted: TheStudy, said: person_messages.ForgetMe, request: Request, response: Response, cookie: WorkerCookie = None
) -> person_messages.Forgotten:
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
    return person_messages.Forgotten(done=await in_thread(forget_person, hosted, name, withdraw=said.withdraw))

"""Who is let in: the organizer's key and its sessions, and the link to a study's result."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request, Response

from handful.crowd import organizer_messages
from handful.crowd.refusals import Refusal, too_fast
from handful.crowd.registry import Registry
from handful.crowd.web.addresses import address_of
from handful.crowd.web.dependencies import OrganizersStudy, limits_of, only_organizers, registry_of
from handful.crowd.web.error_responses import RESPONSES
from handful.crowd.web.thread_pool import in_thread

SESSION_S = 12 * 3600

router = APIRouter(prefix="/api/organize", tags=["organizer"], responses=RESPONSES)


@router.post("/login", status_code=204)
async def login(said: organizer_messages.Login, request: Request) -> Response:
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
async def renew(request: Request, response: Response) -> organizer_messages.KeyLink:
    """Make another organizer's key. The one before opens nothing, and all sessions end but this one."""
    registry = registry_of(request)
    await in_thread(registry.keys.renew)
    await _open_session(registry, response)
    return organizer_messages.KeyLink(link=await in_thread(lambda: registry.keys.login))


@router.get("/{study}/share")
async def shared(hosted: OrganizersStudy, request: Request) -> organizer_messages.KeyLink:
    """The link to the result, if there is one."""
    return organizer_messages.KeyLink(link=await in_thread(registry_of(request).keys.link, hosted.study.name))


@router.post("/{study}/share")
async def share(hosted: OrganizersStudy, request: Request) -> organizer_messages.KeyLink:
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

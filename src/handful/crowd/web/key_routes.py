"""Keys of a study's organizers, made and revoked from its page."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from handful.crowd import key_messages
from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.refusals import Refusal, not_allowed, not_found, not_organizer
from handful.crowd.web.dependencies import OrganizersStudy, key_of, registry_of
from handful.crowd.web.error_responses import RESPONSES
from handful.crowd.web.thread_pool import in_thread
from handful.storage.keys import Key, link_of, new_key

router = APIRouter(prefix="/api/organize", tags=["organizer"], responses=RESPONSES)


@router.get("/{study}/keys")
async def keys(hosted: OrganizersStudy, request: Request) -> list[key_messages.KeyLine]:
    """The keys that open this study and are not revoked; those of all studies only for who owns all."""
    mine = await _own(request)
    known = await in_thread(registry_of(request).keys.keys.all)
    return [_line(key, mine) for key in known if key.revoked is None and _visible(key, mine, hosted)]


@router.post("/{study}/keys", status_code=201)
async def make(hosted: OrganizersStudy, said: key_messages.NewKey, request: Request) -> key_messages.KeyLine:
    """A key for somebody else, as a link that is told this once: only a hash is stored."""
    mine, registry = await _own(request), registry_of(request)
    if said.all_studies and not mine.allows("own", None):
        raise not_allowed()
    study = None if said.all_studies else hosted.study.name
    key, typed = await in_thread(new_key, registry.keys.keys, said.role, study, registry.clock())
    return _line(key, mine).model_copy(update={"link": link_of(key, typed)})


@router.delete("/{study}/keys/{key}", status_code=204)
async def revoke(hosted: OrganizersStudy, key: str, request: Request) -> Response:
    """Let a key open nothing any more: sessions end with their next request. The one in use cannot be revoked so."""
    listed = {line.id: line for line in await keys(hosted, request)}
    if key not in listed:
        raise not_found()
    if listed[key].here:
        raise Refusal(409, "own_key", "This is the key that you are logged in with: revoke it with another one.")
    registry = registry_of(request)
    await in_thread(registry.keys.keys.revoke, key, registry.clock())
    return Response(status_code=204)


async def _own(request: Request) -> Key:
    key = await key_of(request)
    if key is None:
        raise not_organizer()
    return key


def _visible(key: Key, mine: Key, hosted: HostedStudy) -> bool:
    return key.study == hosted.study.name or (key.study is None and mine.study is None)


def _line(key: Key, mine: Key) -> key_messages.KeyLine:
    return key_messages.KeyLine(
        id=key.id, role=key.role, all_studies=key.study is None, made=key.made, here=key.id == mine.id
    )

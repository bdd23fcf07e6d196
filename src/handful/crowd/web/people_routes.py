"""Who may take part in a study, as its organizer decides: invitations, and caps that stand in the way."""

from __future__ import annotations

from collections import Counter

from fastapi import APIRouter, Request

from handful.crowd import people_messages as messages
from handful.crowd.host import Host
from handful.crowd.people import Invitations
from handful.crowd.refusals import Refusal
from handful.crowd.registry import Registry
from handful.crowd.web.dependencies import OrganizersStudy, registry_of
from handful.crowd.web.error_responses import RESPONSES
from handful.crowd.web.thread_pool import in_thread

router = APIRouter(prefix="/api/organize", tags=["organizer"], responses=RESPONSES)


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

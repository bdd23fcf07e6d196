"""Excluding people by hand: everybody of one network, or everybody who came in a span of time; and what it means."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request

from handful.crowd import organizer_messages, people_messages
from handful.crowd.hosting.groups import Group, members_of, networks_of, preview_of
from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.refusals import not_found
from handful.crowd.web.dependencies import OrganizersStudy
from handful.crowd.web.error_responses import RESPONSES, explained
from handful.crowd.web.status_replies import status_after
from handful.crowd.web.thread_pool import in_thread
from handful.study.excluding import Excluding

router = APIRouter(prefix="/api/organize", tags=["organizer"], responses=RESPONSES)
_Network = Annotated[str | None, Query(max_length=64, description="as the list of networks names it")]
_Time = Annotated[float | None, Query(ge=0, le=1e11, description="in seconds since 1970")]


@router.get("/{study}/networks")
async def networks(hosted: OrganizersStudy) -> list[people_messages.NetworkLine]:
    """The networks that people came from by an open link, under names that say nothing about addresses."""
    found = await in_thread(networks_of, hosted.study, hosted.people, hosted.statistics)
    return [people_messages.NetworkLine(**vars(one)) for one in found]


@router.get("/{study}/group")
async def preview(
    hosted: OrganizersStudy, network: _Network = None, since: _Time = None, until: _Time = None
) -> people_messages.GroupExcluding:
    """What excluding everybody of a network, or who came between two times, would mean."""
    with explained():
        meant = await in_thread(_meant, hosted, Group(network, since, until))
    return _told(meant)


@router.get("/{study}/exclude")
async def preview_of_one(
    hosted: OrganizersStudy, worker: Annotated[str, Query(max_length=200, description="the pseudonym")]
) -> people_messages.GroupExcluding:
    """What excluding one worker would mean."""
    if not hosted.study.fold.workers.knows(worker):
        raise not_found()
    return _told(await in_thread(hosted.study.excluding, [worker]))


@router.post("/{study}/group/exclude")
async def exclude(
    hosted: OrganizersStudy, said: people_messages.ExcludeGroup, request: Request
) -> organizer_messages.OrganizerStatus:
    """Count none of their answers. By hand this voids the certificate's confidence, and it will say so."""
    with explained():
        await in_thread(_exclude, hosted, Group(said.network, said.since, said.until), said.reason or None)
    return await status_after(hosted, request)


@router.post("/{study}/leave")
async def leave(
    hosted: OrganizersStudy, said: organizer_messages.Restore, request: Request
) -> organizer_messages.OrganizerStatus:
    """Somebody withdraws: their answers leave the open round, unless the rule keeps them. Decided rounds stand."""
    with explained():
        await in_thread(hosted.study.leave, said.worker)
    return await status_after(hosted, request)


def _told(meant: Excluding) -> people_messages.GroupExcluding:
    return people_messages.GroupExcluding(
        people=len(meant.workers), answers=meant.answers, leaving=meant.leaving, rounds=meant.rounds, words=meant.words
    )


def _meant(hosted: HostedStudy, group: Group) -> Excluding:
    return preview_of(group, hosted.study, hosted.people, hosted.statistics)


def _exclude(hosted: HostedStudy, group: Group, reason: str | None) -> None:
    hosted.study.exclude_all(members_of(group, hosted.study, hosted.people, hosted.statistics), reason)

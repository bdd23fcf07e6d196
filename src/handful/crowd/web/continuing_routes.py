"""More answers for a study, and rounds that are done again, from the organizer's page."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from handful.crowd import messages
from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.hosting.organizer_status import organizer_status_of
from handful.crowd.web.dependencies import OrganizersStudy
from handful.crowd.web.error_responses import RESPONSES, explained
from handful.crowd.web.thread_pool import in_thread

router = APIRouter(prefix="/api/organize", tags=["organizer"], responses=RESPONSES)
Round = Annotated[int, Path(ge=1, le=1_000_000, description="a round that is over")]


@router.post("/{study}/extend")
async def extend(hosted: OrganizersStudy, said: messages.MoreAnswers) -> messages.OrganizerStatus:
    """Allow so many more answers. A finished study has nothing left to ask: have a round done again instead."""
    with explained():
        await in_thread(hosted.study.extend, said.answers)
    return await _after(hosted)


@router.get("/{study}/rounds/{round}/redoing")
async def redoing(hosted: OrganizersStudy, round: Round) -> messages.Redoing:
    """What doing a round again, and those after it, would mean."""
    with explained():
        meant = await in_thread(hosted.study.reopening, round)
    return messages.Redoing(words=meant.words, missing=meant.missing)


@router.post("/{study}/rounds/{round}/redo")
async def redo(hosted: OrganizersStudy, round: Round, said: messages.Redo) -> messages.OrganizerStatus:
    """Forget the picks from this round on, and choose again; `extend` adds answers to the budget first."""
    with explained():
        await in_thread(hosted.go_on_after, round, said.extend)
    return await _after(hosted)


async def _after(hosted: HostedStudy) -> messages.OrganizerStatus:
    await in_thread(hosted.refresh_status)
    return await in_thread(organizer_status_of, hosted)

"""How a study goes on from the organizer's page: more answers, and a new study from here."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request

from handful.crowd import organizer_messages, setup_messages
from handful.crowd.refusals import Refusal
from handful.crowd.registry import draft_from
from handful.crowd.web.dependencies import OrganizersStudy, only_organizers, registry_of
from handful.crowd.web.error_responses import RESPONSES, explained
from handful.crowd.web.status_replies import status_after
from handful.crowd.web.thread_pool import in_thread
from handful.errors import InvalidCollection, StorageError
from handful.wording import sentence

router = APIRouter(prefix="/api/organize", tags=["organizer"], responses=RESPONSES)


@router.post("/{study}/extend")
async def extend(
    hosted: OrganizersStudy, said: organizer_messages.MoreAnswers, request: Request
) -> organizer_messages.OrganizerStatus:
    """Allow so many more answers. A finished study has nothing left to ask: begin a new study from here."""
    with explained():
        await in_thread(hosted.study.extend, said.answers)
    return await status_after(hosted, request)


@router.post("/{study}/new-study", status_code=201, dependencies=[Depends(only_organizers)])
async def new_study(
    hosted: OrganizersStudy, said: setup_messages.NewFromHere, request: Request
) -> setup_messages.NewDraft:
    """Begin a draft from this study: with its settings, words and items, and the picks so far chosen from the start.

    The study itself stays as it is. Takes a key that owns all studies.
    """
    registry = registry_of(request)
    if registry.storage is None:
        raise Refusal(409, "in_memory", "This server keeps nothing on disk, so no study can be set up here.")
    try:
        draft = await in_thread(draft_from, registry, hosted, said.items, said.chosen)
    except StorageError as error:
        raise Refusal(507, "storage", sentence(str(error))) from error
    except InvalidCollection as error:
        raise Refusal(409, "not_possible", sentence(str(error))) from error
    return setup_messages.NewDraft(draft=draft.id)

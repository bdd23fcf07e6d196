"""What people read: as it is, as it would look, and changed while the study runs."""

from __future__ import annotations

from fastapi import APIRouter, Request

from handful.crowd import messages, setup_messages
from handful.crowd.hosting.changed_words import change_words, effects_of_change, fixed_words
from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.hosting.organizer_status import organizer_status_of
from handful.crowd.hosting.own_words import own_words
from handful.crowd.hosting.practice import practice_cards
from handful.crowd.hosting.previewing import preview_of_study
from handful.crowd.refusals import Refusal
from handful.crowd.web.dependencies import OrganizersStudy, registry_of
from handful.crowd.web.error_responses import RESPONSES
from handful.crowd.web.thread_pool import in_thread
from handful.errors import InvalidProblem
from handful.wording import sentence

router = APIRouter(prefix="/api/organize", tags=["organizer"], responses=RESPONSES)


@router.get("/{study}/words")
async def words_now(hosted: OrganizersStudy) -> setup_messages.WordsNow:
    """What people read now, and what changing it would mean."""
    return await in_thread(_now, hosted)


@router.post("/{study}/words")
async def words(hosted: OrganizersStudy, said: setup_messages.Words, request: Request) -> messages.OrganizerStatus:
    """Change what people read; what is not named stays. Those who agreed to an earlier text keep their place.

    409 `fixed`: the question once it has answers, a practice that decides who counts, and `goal` in a panel's study.
    """
    try:
        await in_thread(change_words, hosted, said.model_dump(exclude_unset=True))
    except InvalidProblem as error:
        raise Refusal(409, "fixed", sentence(str(error))) from None
    registry = registry_of(request)
    if "practice" in said.model_fields_set:
        await in_thread(registry.let_go_of_practice, hosted.collection.folder)
    await in_thread(registry.note_retention, hosted)
    await in_thread(hosted.refresh_status)
    return await in_thread(organizer_status_of, hosted)


@router.post("/{study}/preview")
async def preview(hosted: OrganizersStudy, said: setup_messages.Words) -> setup_messages.Preview:
    """The study as people would meet it with these words; nothing is changed."""
    return await in_thread(preview_of_study, hosted, said)


def _now(hosted: HostedStudy) -> setup_messages.WordsNow:
    catalogue = hosted.settings.catalogue
    return setup_messages.WordsNow(
        words=own_words(hosted.settings, hosted.retention_days),
        consent=catalogue.said("consent"),
        instructions=catalogue.said("instructions"),
        fixed={name: sentence(why) for name, why in fixed_words(hosted).items()},
        effects=effects_of_change(hosted),
        practice_pictures=practice_cards(hosted.collection.folder),
    )

"""What people read: as it is, as it would look, and changed while the study runs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request

from handful.crowd import organizer_messages, setup_messages
from handful.crowd.changes import change_words, check_consent_was_seen, effects_of_change, fixed_words, with_built_in
from handful.crowd.drafts import preview_of_study
from handful.crowd.host import Host
from handful.crowd.languages import languages
from handful.crowd.practice import practice_cards
from handful.crowd.refusals import Refusal
from handful.crowd.web.dependencies import OrganizersStudy, registry_of
from handful.crowd.web.error_responses import RESPONSES
from handful.crowd.web.status_replies import status_after
from handful.crowd.web.thread_pool import in_thread
from handful.crowd.words import own_words
from handful.errors import InvalidProblem
from handful.wording import sentence

router = APIRouter(prefix="/api/organize", tags=["organizer"], responses=RESPONSES)
_Language = Annotated[str | None, Query(max_length=12, description="a code, as `en`")]


@router.get("/{study}/words")
async def words_now(hosted: OrganizersStudy, language: _Language = None) -> setup_messages.WordsNow:
    """What people read now, and what changing it would mean; the built-in words in this `language`, or else in its."""
    if language not in (None, *languages()):
        raise Refusal(422, "invalid", f"The language is one of {', '.join(languages())}.")
    return await in_thread(_now, hosted, language or hosted.settings.language)


@router.post("/{study}/words")
async def words(
    hosted: OrganizersStudy, said: setup_messages.Words, request: Request
) -> organizer_messages.OrganizerStatus:
    """Change what people read; what is not named stays. Those who agreed to an earlier text keep their place.

    409 `fixed`: the question once it has answers, a practice that decides who counts, and `goal` in a panel's study.
    409 `not_accepted`: another language where the consent is built in, without the consent in that language.
    """
    told = with_built_in(hosted, said).model_dump(exclude_unset=True)
    try:
        check_consent_was_seen(hosted, told)
    except InvalidProblem as error:
        raise Refusal(409, "not_accepted", sentence(str(error))) from None
    try:
        await in_thread(change_words, hosted, told)
    except InvalidProblem as error:
        raise Refusal(409, "fixed", sentence(str(error))) from None
    registry = registry_of(request)
    if "practice" in said.model_fields_set:
        await in_thread(registry.let_go_of_practice, hosted.collection.folder)
    await in_thread(registry.note_retention, hosted)
    return await status_after(hosted, request)


@router.post("/{study}/preview")
async def preview(hosted: OrganizersStudy, said: setup_messages.Words) -> setup_messages.Preview:
    """The study as people would meet it with these words; nothing is changed."""
    return await in_thread(preview_of_study, hosted, with_built_in(hosted, said))


def _now(hosted: Host, code: str) -> setup_messages.WordsNow:
    catalogue = languages()[code]
    return setup_messages.WordsNow(
        words=own_words(hosted.settings, hosted.retention_days),
        question=catalogue.said(f"prompt.{'two' if hosted.showing.options == 2 else 'more'}"),
        consent=catalogue.consent(marked=hosted.marks_networks),
        of_panel=catalogue.said("consent.panel") if hosted.desk is not None or hosted.comes_by("panel") else None,
        instructions=catalogue.said("instructions"),
        fixed={name: sentence(why) for name, why in fixed_words(hosted).items()},
        effects=effects_of_change(hosted),
        practice_pictures=practice_cards(hosted.collection.folder),
    )

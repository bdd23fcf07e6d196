"""A look at what people will read, before they do: nothing of it is stored or counted."""

from __future__ import annotations

from dataclasses import replace

from handful.crowd.collection import Collection
from handful.crowd.hosting.drafts import Draft
from handful.crowd.hosting.expected_minutes import expected_minutes
from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.hosting.item_card import item_card
from handful.crowd.hosting.practice import lessons_shown
from handful.crowd.hosting.shown_consent import consent_in, shown_consent
from handful.crowd.hosting.study_plan import suited
from handful.crowd.hosting.study_words import settings_with
from handful.crowd.messages import About, Option
from handful.crowd.people import DAYS
from handful.crowd.settings import Settings
from handful.crowd.setup_messages import Preview, Words
from handful.errors import InvalidCollection
from handful.study.doors import Door


def preview_of_draft(draft: Draft, settings: Settings) -> Preview:
    """A draft as people would meet it; `settings` are the server's."""
    collection = draft.collection
    if collection is None:
        raise InvalidCollection("there are no items yet: add files or texts, and have them prepared")
    plan, told = suited(draft.plan, collection), draft.settings
    words = settings_with(settings, told.words.model_dump(exclude_none=True))
    words = replace(words, consent=shown_consent(words, Door(told.door)))
    shown, minutes = plan.shown(len(collection)), expected_minutes(words.goal, plan.rule)
    return _preview(draft.id, told.theme, collection, words, plan.k, shown, words.goal, minutes)


def preview_of_study(hosted: HostedStudy, said: Words) -> Preview:
    """A study as people would meet it with these words, where it does not have them already."""
    words = settings_with(hosted.settings, said.model_dump(exclude_unset=True))
    words = replace(words, consent=consent_in(hosted, words))
    goal, minutes = hosted.goal, hosted.minutes
    if words.goal != hosted.settings.goal:
        goal, minutes = words.goal, expected_minutes(words.goal, hosted.study.setup.rule)
    shown = hosted.showing.options
    return _preview(hosted.name, hosted.theme, hosted.collection, words, hosted.k, shown, goal, minutes)


def _preview(
    name: str,
    theme: str,
    collection: Collection,
    words: Settings,
    k: int,
    options: int,
    goal: int | None,
    minutes: int | None,
) -> Preview:
    about = About(
        study=name,
        theme=theme,
        state="open",
        k=k,
        items=len(collection),
        options=options,
        goal=goal,
        minutes=minutes,
        consent=words.consent,
        instructions=words.instructions,
        question=words.question,
        welcome=words.welcome,
        thanks=words.thanks,
        practice=lessons_shown(words.practice, collection),
        texts=collection.only_texts,
        undo_s=words.undo_s,
        solo=False,
        show_result=words.show_result,
        retention_days=DAYS if words.retention_days is None else words.retention_days,
        joined=False,
    )
    first = [item_card(one, words.language) for one in collection.items[:options]]
    return Preview(about=about, options=[Option(id=str(n), **dict(one)) for n, one in enumerate(first)])

"""The words of one study, which its organizer chose: kept in the journal, and how they are cleaned and shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from handful.crowd.languages import built_in, languages
from handful.crowd.lessons import LONGEST, MOST_LESSONS, Lesson
from handful.crowd.messages import LessonTold, Words
from handful.crowd.people import MOST_DAYS
from handful.crowd.settings import Settings
from handful.crowd.sources import clean_text
from handful.errors import InvalidProblem
from handful.rules import Door

WORDS = "words"
"""The topic under which the journal notes them. Later words replace earlier ones; what is not named stays."""

LENGTHS = {
    "question": 300,
    "welcome": 2_000,
    "instructions": 4_000,
    "consent": 20_000,
    "thanks": 2_000,
    "instruction": 80,
}


def cleaned_words(said: Mapping[str, Any]) -> dict[str, Any]:
    """What was said, as it is kept: without control characters, of bounded length, and with nothing unknown."""
    words: dict[str, Any] = {}
    for name, value in said.items():
        if name in LENGTHS:
            words[name] = None if value is None else clean_text(str(value), LENGTHS[name]) or None
        elif name == "practice":
            words[name] = None if value is None else [lesson.to_dict() for lesson in lessons_in(value)]
        elif name == "goal":
            words[name] = None if not value else int(value)
        elif name == "retention_days" and value is not None:
            words[name] = max(0, min(int(value), MOST_DAYS))
        elif name in ("listed", "show_result"):
            words[name] = bool(value)
        elif name == "language" and value in languages():
            words[name] = str(value)
    for name in ("instructions", "instruction"):
        if not words.get(name, True):
            del words[name]  # there are always some to be read
    return words


def lessons_in(said: Sequence[Mapping[str, Any]]) -> tuple[Lesson, ...]:
    """The lessons that were said, without control characters and of bounded length; half a lesson is none."""
    lessons = []
    for one in said[:MOST_LESSONS]:
        right, wrong, why = (clean_text(str(one.get(name) or ""), LONGEST) for name in ("right", "wrong", "why"))
        if right and wrong:
            lessons.append(Lesson(right, wrong, why))
    return tuple(lessons)


def check_lessons(said: Mapping[str, Any]) -> None:
    """Refuse a practice with half a lesson in it, or with one between a card and itself."""
    wanted = said.get("practice") or ()
    lessons = lessons_in(wanted)
    if len(lessons) < len(wanted[:MOST_LESSONS]):
        raise InvalidProblem("a pair of the practice has nothing on one side: give both sides, or leave the pair out")
    for lesson in lessons:
        if lesson.right == lesson.wrong:
            raise InvalidProblem(
                f"a pair of the practice has {lesson.right!r} on both sides: change one of them, or leave the pair out"
            )


def settings_with(settings: Settings, said: object) -> Settings:
    """The settings with the words that a journal notes."""
    if not isinstance(said, Mapping):
        return settings
    words = cleaned_words(said)
    if words.get("practice") is not None:
        words["practice"] = lessons_in(words["practice"])
    return replace(settings, **words).in_its_language()


def own_words(settings: Settings, retention_days: int) -> Words:
    """What people read by these settings; built-in words are not named, so that they follow the language."""

    def own(key: str, word: str) -> str | None:
        return None if word in built_in(key) else word

    return Words(
        question=settings.question,
        welcome=settings.welcome,
        instructions=own("instructions", settings.instructions),
        consent="" if settings.consent is None else own("consent", settings.consent),
        thanks=settings.thanks,
        practice=None if settings.practice is None else [LessonTold(**one.to_dict()) for one in settings.practice],
        instruction=own("instruction", settings.instruction),
        goal=settings.goal,
        language=settings.language,
        retention_days=min(retention_days, MOST_DAYS),
        listed=settings.listed,
        show_result=settings.show_result,
    )


def shown_consent(settings: Settings, door: Door | None, recruited: bool = False) -> str | None:
    """The text that is agreed to where people come by this door; `recruited`: for a panel whatever the door is.

    The built-in text names a mark of the network only where one is kept. People from a panel are also told, in the
    language of the page, what is kept of its id.
    """
    consent = settings.agreed_to(marked=door is not None and door.caps_networks)
    of_panel = recruited or (door is not None and door.kind == "panel")
    return consent if consent is None or not of_panel else f"{consent}\n\n{settings.catalogue.said('consent.panel')}"

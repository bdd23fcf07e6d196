"""The words of one study, which its organizer chose: kept in the journal, and changed while it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from handful.crowd.languages import languages
from handful.crowd.lessons import LONGEST, MOST_LESSONS, Lesson
from handful.crowd.people import MOST_DAYS
from handful.crowd.settings import Settings
from handful.crowd.sources import clean_text
from handful.errors import InvalidProblem

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

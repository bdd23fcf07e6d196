"""The words that an organizer wrote, apart from the built-in ones."""

from __future__ import annotations

from handful.crowd.languages import built_in
from handful.crowd.people import MOST_DAYS
from handful.crowd.settings import Settings
from handful.crowd.setup_messages import LessonTold, Words


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

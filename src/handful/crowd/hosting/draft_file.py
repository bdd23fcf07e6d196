"""The file of a study that is being set up: its settings, and under which name it was opened."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

from handful.crowd.hosting.inherited import Inherited
from handful.crowd.languages import languages
from handful.crowd.setting_bounds import BOUNDS
from handful.crowd.setup_messages import DraftSettings
from handful.errors import StorageError

DRAFT = "draft.json"


def settings_as_made(told: dict[str, Any]) -> DraftSettings:
    """Settings that nobody sends now: of a draft that was stored before, or of a study that was made elsewhere.

    Their numbers may lie beyond what a page may send. They stay what they are, and are checked when a study is made.
    A language that there is not is left out, as it always was when a study was made.
    """
    words = told["words"] if isinstance(told.get("words"), dict) else {}
    if isinstance(words.get("language"), str) and words["language"] not in languages():
        words = words | {"language": None}
    beyond, words_beyond = _beyond(told), _beyond(words)
    within = told | _nearest(beyond) | ({"words": words | _nearest(words_beyond)} if words else {})
    made = DraftSettings.model_validate(within)
    return made.model_copy(update={**beyond, "words": made.words.model_copy(update=words_beyond)})


def _beyond(told: dict[str, Any]) -> dict[str, float]:
    """The numbers that are not within their bounds."""
    numbers = {name: told[name] for name in BOUNDS if type(told.get(name)) in (int, float)}
    return {
        name: value
        for name, value in numbers.items()
        if math.isfinite(value) and not BOUNDS[name].least <= value <= BOUNDS[name].most
    }


def _nearest(beyond: dict[str, float]) -> dict[str, float]:
    """For each number the bound that it is beyond, of the number's own type."""
    return {name: type(value)(min(max(value, BOUNDS[name].least), BOUNDS[name].most)) for name, value in beyond.items()}


def changed_settings(settings: DraftSettings, told: DraftSettings) -> DraftSettings:
    """The settings with those settings and words that were given to `told`; the others stay."""
    given = {name: getattr(told, name) for name in told.model_fields_set}
    words = {name: getattr(told.words, name) for name in told.words.model_fields_set}
    return settings.model_copy(update={**given, "words": settings.words.model_copy(update=words)})


def draft_told(settings: DraftSettings, opened: str | None, made: float, inherited: Inherited) -> dict[str, Any]:
    """What the file says."""
    return {"settings": settings.model_dump(), "opened": opened, "made": made, "inherited": inherited.to_dict()}


def put_draft(folder: Path, told: dict[str, Any]) -> None:
    """Write it, whole or not at all."""
    unfinished = folder / f"{DRAFT}.unfinished"
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            json.dump({"version": 1, **told}, file, ensure_ascii=False, indent=1)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(folder / DRAFT)
    except OSError as error:
        raise StorageError(f"the draft cannot be stored: {error.strerror or error}") from error

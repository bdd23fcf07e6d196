"""`handful serve --words`: what people read, from a file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from handful.errors import InvalidProblem

WordsOption = Annotated[
    Path | None,
    typer.Option(
        "--words",
        help="what people read, as TOML or JSON: question, welcome, instructions, consent, thanks, practice and more",
    ),
]
OPTIONS = {"goal": "--goal", "consent": "--consent", "language": "--language", "retention_days": "--retention"}
"""Words that have an option of their own."""


def words_said(file: Path | None, **typed: Any) -> dict[str, Any]:
    """What a file and the options that were typed (None: it was not) say of the words of a study."""
    words = {} if file is None else _read(file)
    for name, value in typed.items():
        if value is not None:
            if name in words:
                raise InvalidProblem(f"{OPTIONS[name]} and {name} in {file} say the same thing: give one of them")
            words[name] = value
    return words


def practice_files(file: Path | None, words: Mapping[str, Any]) -> dict[str, Path]:
    """The pictures that the practice names, and where they are if they are no items: beside the file."""
    from handful.crowd.intake import is_picture

    lessons = (words.get("practice") or ()) if file is not None else ()
    cards = [lesson[side] for lesson in lessons for side in ("right", "wrong")]
    return {card: file.parent / card for card in cards if is_picture(card)} if file is not None else {}


def _read(file: Path) -> dict[str, Any]:
    from pydantic import ValidationError

    from handful.crowd.languages import languages
    from handful.crowd.setup_messages import Words

    try:
        text = file.read_text(encoding="utf-8")
        told = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as error:
        kind = "JSON" if file.suffix == ".json" else "TOML"
        raise InvalidProblem(f"--words {file} cannot be read as {kind}: {error}") from error
    try:
        words = Words.model_validate(told).model_dump(exclude_unset=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "it"
        known = f"; what can be said is {', '.join(Words.model_fields)}" if first["type"] == "extra_forbidden" else ""
        raise InvalidProblem(f"--words {file}: {where}: {first['msg'].lower()}{known}") from error
    if words.get("language") not in (None, *languages()):
        raise InvalidProblem(f"--words {file}: language is one of {', '.join(languages())}, got {words['language']!r}")
    return words

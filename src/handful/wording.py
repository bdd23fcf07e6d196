"""Numbers and lists in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """So many of something: "1 answer", "1,500 answers"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def sentence(text: str) -> str:
    """A text as a whole sentence: with a capital at its beginning and a full stop at its end."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them: "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))

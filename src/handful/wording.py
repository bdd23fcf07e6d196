"""Numbers in sentences."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """So many of something: "1 answer", "1,500 answers"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

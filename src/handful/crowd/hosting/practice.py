"""The practice before the first real question, judged here: the page says which cards were chosen, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

RIGHT = ("apple", "pear")
"""What most people would choose in each lesson of the page."""


def judged(chosen: Sequence[str]) -> list[bool]:
    """Whether each lesson went as most would have it."""
    return [card == right for card, right in zip(chosen, RIGHT, strict=False)]

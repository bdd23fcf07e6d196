"""What a figure shows, in words: what the paper claims, what was measured, whether it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Holds = Literal["holds", "holds in part", "does not hold", "is undecided"]


@dataclass(frozen=True)
class PaperClaim:
    """One claim of the paper, and what became of it."""

    paper: str
    measured: str
    holds: Holds


@dataclass(frozen=True)
class Finding:
    """A figure's part of the report. `notes` are what a reader must know to judge it."""

    title: str
    setting: str
    claims: tuple[PaperClaim, ...]
    notes: tuple[str, ...] = ()


def verdict(*conditions: bool) -> Holds:
    """All, some or none of what a claim needs."""
    if all(conditions):
        return "holds"
    return "holds in part" if any(conditions) else "does not hold"

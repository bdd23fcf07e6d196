"""Identity, outcome and action: who arrived, what became of them, and what sends them back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["finished", "refused", "not_admitted", "full", "returned", "timed_out"]
"""finished: reached the end, or nothing was left to ask them; refused: did not consent; not_admitted: the checks before
the first question were not passed; full: no place was left when they came; returned: gave their place back;
timed_out: took longer than allowed."""

OUTCOMES: tuple[Outcome, ...] = ("finished", "refused", "not_admitted", "full", "returned", "timed_out")
FREES_ITS_PLACE: frozenset[Outcome] = frozenset({"refused", "full", "returned", "timed_out"})
"""Outcomes after which somebody else may have the place."""


@dataclass(frozen=True)
class Identity:
    """Who says they arrived: the panel's id of the person, of this visit, and of the study over there."""

    participant: str
    session: str | None = None
    study: str | None = None


@dataclass(frozen=True)
class Redirect:
    """The browser goes to this address."""

    address: str


@dataclass(frozen=True)
class ShowCode:
    """The page shows a code, which the person types in at the panel."""

    code: str


@dataclass(frozen=True)
class FormPost:
    """The browser posts a form to this address."""

    address: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ServerCall:
    """Our server calls this address; the person may close the page."""

    address: str


Action = Redirect | ShowCode | FormPost | ServerCall

"""A submission, whichever way the platform names its fields, and what its status means here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

RESERVED, ACTIVE, AWAITING, APPROVED = "RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED"
REJECTED, RETURNED, TIMED_OUT, SCREENED_OUT = "REJECTED", "RETURNED", "TIMED-OUT", "SCREENED OUT"
PARTLY_APPROVED = "PARTIALLY APPROVED"

GONE = frozenset({RETURNED, TIMED_OUT})
OVER = frozenset({AWAITING, APPROVED, REJECTED, SCREENED_OUT, PARTLY_APPROVED})
PAID = frozenset({APPROVED, SCREENED_OUT, PARTLY_APPROVED})


@dataclass(frozen=True)
class Submission:
    """One visit of one participant. Addresses, strata and the like are sent along and never read.

    `bonuses` is None where a list does not tell them.
    """

    id: str
    participant: str
    study: str
    status: str
    code: str | None = None
    return_requested: bool = False
    bonuses: tuple[int, ...] | None = None

    @property
    def inside(self) -> bool:
        """Whether the person may still answer. A status nobody has heard of is taken as yes."""
        return self.status not in GONE | OVER


def from_detail(told: Mapping[str, Any]) -> Submission:
    """As a single submission is told."""
    bonuses = told.get("bonus_payments")
    return Submission(
        str(told.get("id", "")),
        str(told.get("participant", told.get("participant_id", ""))),
        str(told.get("study_id", "")),
        _status(told.get("status")),
        told.get("entered_code"),
        bool(told.get("return_requested")),
        None if bonuses is None else tuple(int(cents) for cents in bonuses),
    )


def from_line(told: Mapping[str, Any], study: str) -> Submission:
    """As a list tells it, which names the participant and the code otherwise, and the study not at all."""
    return Submission(
        str(told.get("id", "")),
        str(told.get("participant_id", told.get("participant", ""))),
        study,
        _status(told.get("status")),
        told.get("study_code"),
        bool(told.get("return_requested")),
    )


def _status(told: object) -> str:
    """Spelled as in the documentation, should a reply spell it with an underscore."""
    text = str(told or "UNKNOWN").upper()
    return {"AWAITING_REVIEW": AWAITING, "TIMED_OUT": TIMED_OUT, "SCREENED_OUT": SCREENED_OUT}.get(text, text)

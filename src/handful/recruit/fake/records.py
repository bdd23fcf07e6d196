"""What the fake Prolific keeps: studies, submissions, payments; and how it refuses."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

FEE = 3  # a third of what people get
TAX = 5  # a fifth of the fee


class FakeRefusal(Exception):
    """A reply with an error, in the shape that the platform gives it."""

    def __init__(self, status: int, detail: object, title: str = "Request refused") -> None:
        super().__init__(str(detail))
        self.status, self.detail, self.title = status, detail, title

    def body(self) -> dict[str, Any]:
        told = {"status": self.status, "error_code": 140_000 + self.status, "title": self.title, "detail": self.detail}
        return {"error": told}


@dataclass(frozen=True)
class Payment:
    """A line of the platform's own books."""

    kind: str  # approve, bonus or screen_out
    submission: str
    cents: int


@dataclass
class FakeSubmission:
    """One visit of one participant."""

    id: str
    participant: str
    study: str
    status: str
    started_at: float
    completed_at: float | None = None
    entered_code: str | None = None
    return_requested: float | None = None
    approving_at: float | None = None
    bonuses: list[int] = field(default_factory=list)

    def detail(self) -> dict[str, Any]:
        """As a single submission is told; the list calls the same things by other names."""
        return {
            "id": self.id,
            "participant": self.participant,
            "study_id": self.study,
            "status": self.status,
            "started_at": iso(self.started_at),
            "completed_at": iso(self.completed_at),
            "entered_code": self.entered_code,
            "return_requested": iso(self.return_requested),
            "bonus_payments": list(self.bonuses),
        }

    def line(self) -> dict[str, Any]:
        """As it stands in a list."""
        return {
            "id": self.id,
            "participant_id": self.participant,
            "status": self.status,
            "started_at": iso(self.started_at),
            "completed_at": iso(self.completed_at),
            "study_code": self.entered_code,
            "has_siblings": False,
            "return_requested": iso(self.return_requested),
            "ip": "203.0.113.7",  # personal data that the real one sends along, and nobody should read
            "strata": {"sex": "unknown"},
        }


@dataclass
class FakeStudy:
    """One study: what the researcher said, and what became of it."""

    id: str
    said: dict[str, Any]
    created: float
    status: str = "UNPUBLISHED"
    turns_active_at: float | None = None
    places: int = 0
    screened_out: int = 0

    @property
    def reward(self) -> int:
        reward: int = self.said["reward"]
        return reward

    @property
    def codes(self) -> list[dict[str, Any]]:
        codes: list[dict[str, Any]] = self.said.get("completion_codes") or []
        return codes

    def code(self, code: str | None) -> dict[str, Any] | None:
        return next((one for one in self.codes if one.get("code") == code), None)


@dataclass
class FakeBonuses:
    """A list of bonuses that was handed in, and may be paid."""

    id: str
    study: str
    lines: list[tuple[str, int]]


def fees(cents: int) -> tuple[int, int]:
    """What the platform takes on top of a payment, and the tax on that."""
    fee = (cents + FEE - 1) // FEE
    return fee, (fee + TAX - 1) // TAX


def cost(reward: int, places: int) -> int:
    """What so many places cost with fee and tax."""
    total = reward * places
    return total + sum(fees(total))


def iso(when: float | None) -> str | None:
    """A time as the platform writes it."""
    return None if when is None else datetime.fromtimestamp(when, UTC).isoformat().replace("+00:00", "Z")


def money(cents: int) -> dict[str, Any]:
    return {"amount": cents, "currency": "GBP"}

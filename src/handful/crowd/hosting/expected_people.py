"""Who will come: how many people an organizer expects, how many answers each of them gives, and what they are paid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handful.errors import InvalidProblem
from handful.recruit.plan import Plan, check_currency
from handful.study.rules import Rule
from handful.study.study import Study

EXPECTED = "people expected"
"""The topic under which the journal notes it."""


@dataclass(frozen=True)
class ExpectedPeople:
    """So many people, with so many answers each, paid so many cents per hour (None: nobody is paid)."""

    people: int
    answers_each: int
    per_hour: int | None = None
    currency: str = "GBP"

    @property
    def answers(self) -> int:
        """What they give together."""
        return self.people * self.answers_each

    def pay(self, rule: Rule | None) -> Plan | None:
        """What they are paid, with the checks that this rule asks of them; None where nobody is."""
        if self.per_hour is None:
            return None
        return Plan(self.people, self.answers_each, per_hour=self.per_hour, currency=self.currency).by_rule(rule)

    def to_dict(self) -> dict[str, Any]:
        """As the journal notes it."""
        pay = {} if self.per_hour is None else {"per_hour": self.per_hour, "currency": self.currency}
        return {"people": self.people, "answers_each": self.answers_each, **pay}


def expected_in(noted: object) -> ExpectedPeople | None:
    """What the journal notes; None where that is something else."""
    if not isinstance(noted, Mapping):
        return None
    people, each = noted.get("people"), noted.get("answers_each")
    if not isinstance(people, int) or not isinstance(each, int) or min(people, each) < 1:
        return None
    per_hour, currency = noted.get("per_hour"), noted.get("currency")
    if not isinstance(per_hour, int) or not isinstance(currency, str):
        return ExpectedPeople(people, each)
    try:
        return ExpectedPeople(people, each, per_hour, check_currency(currency))
    except InvalidProblem:
        return ExpectedPeople(people, each)


def note_expected(study: Study, expected: ExpectedPeople | None) -> None:
    """Note who will come in the journal, if that is known."""
    if expected is not None:
        study.note(EXPECTED, expected.to_dict())

"""How long taking part is expected to take: said the same before the start, in the plan of recruiting and to people."""

from __future__ import annotations

from handful.recruit.plan import MOST_ANSWERS_EACH, Plan
from handful.study.rules import Rule


def expected_minutes(answers: int | None, rule: Rule | None) -> int | None:
    """The minutes for so many answers that count, with reading, practice and this rule's checks; None: no number."""
    return Plan(people=1, answers_each=min(answers, MOST_ANSWERS_EACH)).by_rule(rule).minutes if answers else None

"""Money, and how people, answers, minutes and reward hang together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handful.errors import InvalidProblem
from handful.recruit.plan import Plan, as_decimal, cents_of, money
from handful.rules import Admission, Checks, Rule


def test_money_is_whole_cents_whatever_is_typed() -> None:
    assert [cents_of(text) for text in ("9", "9.5", "£9.50", "0.07")] == [900, 950, 950, 7]
    assert (as_decimal(7), as_decimal(3000), money(123456, "USD"), money(-5)) == (
        "0.07",
        "30.00",
        "$1,234.56",
        "-£0.05",
    )
    for wrong in ("9.505", "-1", "ten", ""):
        with pytest.raises(InvalidProblem):
            cents_of(wrong)


def test_a_plan_says_what_each_is_paid_and_how_long_it_takes() -> None:
    plan = Plan(people=100, answers_each=30, checks=5, seconds=6, other_s=60, per_hour=900)
    assert (plan.budget, plan.minutes, plan.reward, plan.rewards) == (3000, 5, 75, 7500)
    assert plan.longest_minutes == 17
    assert plan.for_budget(6000).people == 200
    assert [replace(plan, answers_each=n, checks=0).longest_minutes for n in (90, 140)] == [29, 40]


def test_the_checks_of_a_plan_are_those_of_the_rule() -> None:
    plan = Plan(people=100, answers_each=30).by_rule(Rule(Admission(2, 3, 3), Checks(every=10), (), 1.0))
    assert (plan.checks_each, plan.minutes) == (6, 5)  # 60 s, and 36 questions of 6 s
    assert plan.by_rule(None).checks_each == 0


def test_pay_below_the_minimum_is_refused() -> None:
    Plan(per_hour=600)
    with pytest.raises(InvalidProblem, match="below the platform's minimum of £6.00"):
        Plan(per_hour=599)
    with pytest.raises(InvalidProblem, match="below the platform's minimum of \\$8.00"):
        Plan(per_hour=799, currency="USD")

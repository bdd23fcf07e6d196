"""The plan of recruiting for a hosted study: what is not said follows from the study and from its rule."""

from __future__ import annotations

import math

from handful.crowd import panel_messages
from handful.crowd.hosting.expected_people import ExpectedPeople
from handful.crowd.hosting.hosted_study import HostedStudy
from handful.errors import InvalidProblem
from handful.recruit.plan import MOST_PEOPLE, Plan
from handful.wording import counted

ANSWERS_EACH = 30
PER_HOUR = 900


def plan_for(hosted: HostedStudy, said: panel_messages.PlanPeople) -> Plan:
    """The plan with what was said. Checks come from the study's rule; people and answers each, where nobody said how
    many, from who is expected or from the budget.
    """
    changed = [name for name in ("budget", "minutes", "rewards") if getattr(said, name) is not None]
    if len(changed) > 1:
        raise InvalidProblem("give one of budget, minutes and rewards: the others follow from it")
    expected, total = hosted.expected, hosted.study.fold.budget
    each = said.answers_each or (expected.answers_each if expected else hosted.settings.goal) or ANSWERS_EACH
    people = said.people or (expected.people if expected else math.ceil((total or 100 * each) / each))
    paid = expected or ExpectedPeople(people, each)
    plan = Plan(
        min(people, MOST_PEOPLE),
        each,
        per_hour=said.per_hour or paid.per_hour or PER_HOUR,
        currency=said.currency or paid.currency,
    )
    plan = plan.by_rule(hosted.study.setup.rule)
    if said.budget is not None:
        return plan.for_budget(said.budget)
    if said.minutes is not None:
        return plan.for_minutes(said.minutes)
    return plan if said.rewards is None else plan.for_rewards(said.rewards)


def plan_told(hosted: HostedStudy, plan: Plan) -> panel_messages.RecruitingPlan:
    """All numbers of a plan, and whether they are those that the study was made for."""
    total, note = hosted.study.fold.budget, ""
    if total is not None and plan.budget < total:
        note = f"The study asks for {counted(total, 'answer')}, more than these people give: it would end unfinished."
    elif total is not None and plan.budget > total:
        note = f"The study ends after {counted(total, 'answer')}: whoever is inside then is paid in full."
    return panel_messages.RecruitingPlan(
        people=plan.people,
        answers_each=plan.answers_each,
        checks_each=plan.checks_each,
        budget=plan.budget,
        minutes=plan.minutes,
        reward=plan.reward,
        rewards=plan.rewards,
        per_hour=plan.per_hour,
        currency=plan.currency,
        first_places=plan.start_with,
        words=f"{plan}. Places open with {plan.start_with} and grow.",
        note=note,
    )

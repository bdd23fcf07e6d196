"""What a plan buys, before it starts: by simulation."""

from __future__ import annotations

import threading

from handful.crowd.collection import Collection
from handful.crowd.hosting.study_plan import DUELS, StudyPlan, suited
from handful.pricing import Bought, bought

MOST_SIMULATED = 100_000
_one_at_a_time = threading.Lock()


def quality_of(plan: StudyPlan, collection: Collection) -> Bought | None:
    """How good a selection the plan's answers are likely to give; None where there are too many to simulate.

    It takes some seconds the first time.
    """
    plan, items = suited(plan, collection), len(collection)
    if plan.answers(items, solo=False) > MOST_SIMULATED or not len(plan.chosen) < plan.k < items:
        return None
    people = 1 if plan.expected is None else plan.expected.people
    with _one_at_a_time:
        return bought(
            items - len(plan.chosen),
            plan.k - len(plan.chosen),
            plan.answers(items, solo=False),
            plan.shown(items),
            plan.explored_by or DUELS,
            min(people, plan.in_flight),
        )

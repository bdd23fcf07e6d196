"""Neither the order in which items are given nor a choice that is none costs or gains anything."""

from __future__ import annotations

import numpy as np
import pytest

from handful.explorers.protocol import Explorer, open_round, propose, put_number, tell
from handful.explorers.registry import Certified, Duels, Pivot, Sharp, TopX, Uniform, Worth
from handful.objectives import Modular
from handful.problem import Feedback, Preferences, Problem, Total, Values
from handful.responses import btl, uniform
from handful.simulation import simulate

VALUES, PAIRS = Values(noise=0.5), Preferences(beta=2.0)
EVERY: list[tuple[Explorer, Feedback]] = [
    (TopX(), VALUES),
    (TopX(), PAIRS),
    (Uniform(), VALUES),
    (Sharp(), VALUES),
    (Certified(), VALUES),
    (Certified(rule="plain"), VALUES),
    (Certified(rule="bank"), VALUES),
    (Worth(), VALUES),
    (Duels(), PAIRS),
    (Pivot(), PAIRS),
]


def named(case: object) -> str:
    return str(case).split("(")[0] if not isinstance(case, Certified) else f"Certified {case.rule}"


@pytest.mark.parametrize(("explorer", "feedback"), EVERY, ids=named)
@pytest.mark.parametrize("budget", [8, 80])
def test_exact_ties_and_items_never_asked_about_are_picked_in_no_order(
    explorer: Explorer, feedback: Feedback, budget: int
) -> None:
    """All items are alike: over many seeds the picks lie in the middle on average, not among the first."""
    size, places = 40, []
    for seed in range(30):
        problem = Problem(size, 2, feedback, epsilon=0.1, budget=budget, seed=seed)
        response = btl(0.0) if feedback.compares else uniform(0.0)
        places += simulate(explorer.build(problem), Modular(np.ones(size)), response, 2, budget=Total(budget)).chosen
    assert 0.33 * size < np.mean(places) < 0.67 * size  # 4.4 standard errors


@pytest.mark.parametrize(("explorer", "feedback"), EVERY, ids=named)
def test_where_every_candidate_will_be_picked_nothing_is_asked(explorer: Explorer, feedback: Feedback) -> None:
    problem = Problem(5, 5, feedback, epsilon=0.01, budget=1000)
    response = btl(2.0) if feedback.compares else uniform(0.5)
    result = simulate(explorer.build(problem), Modular(np.arange(5.0)), response, 5, budget=problem.total)
    assert result.answers == 0
    assert {r.ended for r in result.rounds} == {"alone"}
    assert sorted(result.chosen) == [0, 1, 2, 3, 4]


def test_what_was_in_flight_when_the_pivot_was_named_does_not_count() -> None:
    size, m = 6, 30
    state = Pivot().build(Problem(size, 1, PAIRS, epsilon=0.1, in_flight=m, seed=3))
    open_round(state, 1, -1, 1)
    asked = [propose(state, n) for n in range(m)]
    rules, counted = state.rules[0], state.items["duels"]  # type: ignore[attr-defined]
    for n in range(m):
        put_number(state, n)
        tell(state, *asked[n], 1.0)
    assert rules["pivot"] >= 0
    assert any(item == rules["pivot"] for item, _, _ in asked[size:])  # else nothing is shown here
    assert counted.sum() == 0
    question = propose(state, m)
    put_number(state, m)
    tell(state, *question, 1.0)
    assert counted.sum() == 1

"""`worth`: what is asked under a budget, whatever the unit of answers and wherever their zero is."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from handful.explorers.protocol import drop, open_round, propose, tell
from handful.explorers.registry import Worth
from handful.objectives import Modular
from handful.problem import OPEN, Problem, Total, Values
from handful.responses import gaussian
from handful.simulation import simulate

Answer = Callable[[int], float]


def play(answer: Answer, size: int, k: int, budget: int, seed: int = 1) -> tuple[list[list[int]], list[int]]:
    """The items asked about in each round, and the picks."""
    state = Worth().build(Problem(size, k, Values(), budget=budget, seed=seed))
    asked: list[list[int]] = []
    picks: list[int] = []
    for j in range(1, k + 1):
        open_round(state, j, budget - sum(map(len, asked)), k - j + 1)
        asked.append([])
        while state.board.round["ended"][0] == OPEN:
            item, rival, given = propose(state, len(asked[-1]))
            asked[-1].append(int(item))
            tell(state, item, rival, given, answer(int(item)))
        picks.append(int(state.board.round["pick"][0]))
        drop(state, picks[-1])
    return asked, picks


def drawn(seed: int, size: int, step: float, change: Callable[[float], float]) -> Answer:
    """Answers that are multiples of a step, changed."""
    rng = np.random.default_rng(seed)
    gains = rng.random(size)
    return lambda item: change(float(np.round((gains[item] + rng.normal(0.0, 0.3)) / step) * step))


@pytest.mark.parametrize(
    "change",
    [lambda x: x + 1024.0, lambda x: x - 3.0, lambda x: 2.0**40 * x, lambda x: 2.0**-60 * x],
    ids=["+ 1024", "− 3", "× 2⁴⁰", "× 2⁻⁶⁰"],
)
@pytest.mark.parametrize("size", [30, 150])
def test_answers_plus_a_constant_or_times_a_power_of_two_lead_to_the_same_questions(
    change: Callable[[float], float], size: int
) -> None:
    first = play(drawn(3, size, 2.0**-10, lambda x: x), size, 3, 4 * size)
    assert play(drawn(3, size, 2.0**-10, change), size, 3, 4 * size) == first


def test_answers_times_a_thousand_lead_to_the_same_picks() -> None:
    for seed in range(100):
        picks = [
            play(drawn(seed, 12, 2.0**-40, change), 12, 2, 60, seed)[1] for change in (float, lambda x: 1000.0 * x)
        ]
        assert picks[0] == picks[1]


def test_everybody_is_asked_about_once_before_anybody_twice_where_the_budget_is_for_that() -> None:
    for each in (3, 5):
        asked, _ = play(drawn(5, 300, 2.0**-10, float), 300, 3, each * 300)
        assert len(set(asked[0][:300])) == 300


def test_looking_around_leaves_out_some_after_every_answer() -> None:
    """Halves that are asked about again and again would have as many items at one pass as at the next."""
    asked, _ = play(drawn(5, 1000, 2.0**-10, float), 1000, 2, 5 * 1000)
    counts = np.bincount(asked[0][: int(0.6 * 5 * 1000)])
    several = [int((counts >= times).sum()) for times in range(1, 9)]
    assert several[0] == 1000
    assert all(again < 0.95 * before for before, again in pairwise(several))


def test_a_budget_of_less_is_for_fewer_items_and_most_of_it_for_the_better_of_them() -> None:
    asked, _ = play(drawn(5, 3000, 2.0**-10, float), 3000, 3, 1000)
    questions = [item for round_ in asked for item in round_]
    assert len(questions) == 1000
    assert 150 < len(set(questions)) < 500


def test_what_is_learnt_before_the_first_pick_serves_all_rounds() -> None:
    asked, _ = play(drawn(7, 300, 2.0**-10, float), 300, 5, 1500)
    first, *others = (len(round_) for round_ in asked)
    assert first > 3 * max(others)
    assert max(others) - min(others) <= 1


def test_the_order_of_items_does_not_leak() -> None:
    """The better half of all stands first, and the noise hides all: what is picked is drawn, and not the first."""
    gains = np.linspace(1e-3, 0.0, 400)
    places: list[int] = []
    for seed in range(60):
        state = Worth().build(Problem(400, 4, Values(), budget=100, seed=seed))
        places += simulate(state, Modular(gains), gaussian(10.0), 4, budget=Total(100)).chosen
    assert 0.4 * 400 < np.mean(places) < 0.6 * 400


def test_where_nothing_may_be_asked_the_first_in_a_drawn_order_are_picked() -> None:
    picks = set()
    for seed in range(5):
        state = Worth().build(Problem(50, 2, Values(), budget=1, seed=seed))
        picks |= set(simulate(state, Modular(np.ones(50)), gaussian(1.0), 2, budget=Total(0)).chosen)
    assert len(picks) > 6


def test_exact_answers_are_not_asked_for_again_while_looking_around() -> None:
    gains = np.random.default_rng(0).permutation(400) / 400.0
    asked, picks = play(lambda item: float(gains[item]), 400, 3, 4000)
    assert sorted(picks) == sorted(np.argsort(-gains)[:3].tolist())
    assert len(asked[0][: 400 + 16]) == len({*asked[0][:400]}) + 16

"""An audit of `certified` ends, whatever is asked for, and gives up only what no proof from its picks can reach."""

from __future__ import annotations

import numpy as np
import pytest

from handful.core.explorers.certified.audit_state import gap_of
from handful.core.explorers.registry import Certified
from handful.core.feedback import Values
from handful.core.problem import Problem
from handful.core.responses import gaussian, uniform
from handful.core.simulate import simulate
from handful.objectives import Coverage, Modular

WORLD = Coverage(np.random.default_rng(3).random(8), np.random.default_rng(4).random((15, 8)) * 0.5)


def margins(chosen: tuple[int, ...], share: float) -> list[float]:
    """By how much W exceeds s·U from each anchor, as a share of s·(f(S_i) + U)."""
    walk, found, at = WORLD.start(), [], []
    for item in chosen:
        at.append(walk.value)
        found.append(float(np.sort(walk.gains())[-len(chosen) :].sum()))
        walk.add(item)
    return [(walk.value - share * (f + u)) / (share * (f + u)) for f, u in zip(at, found, strict=True)]


def test_an_audit_tries_other_anchors_before_it_gives_up_and_always_ends() -> None:
    left, given_up = 0, 0
    for seed in range(12):
        state = Certified().build(Problem(15, 4, Values(noise=0.1), ratio=0.75, seed=seed))
        result = simulate(state, WORLD, gaussian(0.1), 4)
        if result.rounds[-1].ended == "out of reach":
            given_up += 1
            assert max(margins(result.chosen, 0.75)) < 0.005
            assert state.given_up.all()
        else:
            assert result.rounds[-1].ended == "rule"
            left += bool(state.given_up.any())
    assert left > 0
    assert given_up > 0


NEARLY = np.column_stack([np.full(10, 0.97), np.linspace(0, 1, 10)])
ALIKE = {
    "ten copies": (Coverage(np.ones(1), np.ones((10, 1))), 0.1),
    "ten that are nearly alike": (Coverage([1.0, 0.02], NEARLY), 0.3),
    "ten of each of two": (Coverage([1.0, 0.7], np.repeat(0.9 * np.eye(2), 10, axis=0)), 0.5),
}


@pytest.mark.parametrize(("world", "noise"), ALIKE.values(), ids=ALIKE.keys())
def test_a_true_claim_about_items_that_are_alike_is_shown(world: Coverage, noise: float) -> None:
    """The scout picks among them without asking, and does not see how far they fall."""
    left = 0
    for seed in range(8):
        state = Certified().build(Problem(world.size, 4, Values(noise=noise), ratio=0.8, seed=seed))
        result = simulate(state, world, gaussian(noise), 4)
        assert result.rounds[-1].ended == "rule"
        left += bool(state.given_up.any())
    assert left > 0


def test_gains_far_below_the_noise_are_told_from_none_where_an_epsilon_is_asked_for() -> None:
    state = Certified().build(Problem(8, 5, Values(noise=1.0), epsilon=0.02, seed=2))
    result = simulate(state, Modular(np.full(8, 0.018)), gaussian(1.0), 5)
    assert result.rounds[-1].ended == "rule"


def test_a_smaller_near_never_asks_less() -> None:
    asked = []
    for near in (1e-9, 1e-12, 1e-40):
        state = Certified(near=near).build(Problem(20, 2, Values(noise=0.5), epsilon=0.5, seed=3))
        asked.append(int(simulate(state, Modular(np.full(20, 0.5)), gaussian(0.5), 2, cap=20_000).answers))
    assert asked == [20_000] * 3


@pytest.mark.parametrize(("share", "ended"), [(0.65, "rule"), (0.9, "out of reach")])
def test_exact_answers_tell_at_once_what_can_be_shown(share: float, ended: str) -> None:
    problem = Problem(15, 4, Values(noise=0), ratio=share, seed=1)
    result = simulate(Certified().build(problem), WORLD, uniform(0), 4, cap=4_000)
    assert result.rounds[-1].ended == ended
    assert result.answers < 200


@pytest.mark.parametrize("seed", range(4))
def test_ties_are_not_fought_out(seed: int) -> None:
    state = Certified().build(Problem(5, 1, Values(noise=0.5), ratio=0.8, seed=seed))
    result = simulate(state, Modular(np.full(5, 0.5)), gaussian(0.5), 1, cap=60_000)
    assert result.rounds[-1].ended == "rule"
    assert result.rounds[0].per_item.sum() <= 2_000


def test_a_function_that_is_nothing_is_given_up() -> None:
    state = Certified().build(Problem(5, 2, Values(range=(0, 1)), ratio=0.6, seed=0))
    result = simulate(state, Modular(np.zeros(5)), uniform(0), 2, cap=60_000)
    assert result.rounds[-1].ended == "out of reach"


def test_no_gain_is_believed_to_fall_below_nothing() -> None:
    world = Modular(np.linspace(0.2, 1.0, 40))
    state = Certified().build(Problem(40, 20, Values(noise=0.05), epsilon=0.5, seed=2))
    simulate(state, world, gaussian(0.05), 18)
    gains = state.scout.gains
    assert (gains.items["mean"] + float(gains.rules["origin"][0])).min() > -0.1


def test_the_most_hopeful_anchor_is_where_least_is_missing() -> None:
    state = Certified().build(Problem(15, 4, Values(noise=0.02), ratio=0.7, seed=5))
    result = simulate(state, WORLD, gaussian(0.02), 4)
    assert np.argmax([gap_of(state, i) for i in range(4)]) == np.argmax(margins(result.chosen, 0.7))

"""An audit of `certified` ends, whatever is asked for, and gives up only what no proof from its picks can reach."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from handful.explorers.audit import GIVEN_UP, IS_NOT, gap_of
from handful.explorers.registry import Certified
from handful.objectives import Coverage, Modular
from handful.problem import Problem, Total, Values
from handful.responses import Response, bernoulli, gaussian, uniform
from handful.simulation import simulate

WORLD = Coverage(np.random.default_rng(3).random(8), np.random.default_rng(4).random((15, 8)) * 0.5)


def margins(chosen: tuple[int, ...], share: float) -> list[float]:
    """By how much W exceeds s·U from each anchor, as a share of s·(f(S_i) + U)."""
    walk, found, at = WORLD.start(), [], []
    for item in chosen:
        at.append(walk.value)
        found.append(float(np.sort(walk.gains())[-len(chosen) :].sum()))
        walk.add(item)
    return [(walk.value - share * (f + u)) / (share * (f + u)) for f, u in zip(at, found, strict=True)]


@pytest.mark.slow
def test_an_audit_tries_other_anchors_before_it_gives_up_and_always_ends() -> None:
    left, given_up = 0, 0
    for seed in range(12):
        state = Certified().build(Problem(15, 4, Values(noise=0.1), ratio=0.75, seed=seed))
        result = simulate(state, WORLD, gaussian(0.1), 4)
        if result.rounds[-1].ended == "out of reach":
            given_up += 1
            assert max(margins(result.chosen, 0.75)) < 0.005
            assert (state.anchors["standing"] == GIVEN_UP).all()
        else:
            assert result.rounds[-1].ended == "rule"
            left += bool(state.anchors["standing"].any())
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
        left += bool(state.anchors["standing"].any())
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


def saturating(weights: list[float]) -> Callable[[float], Coverage]:
    """f(S) = 1 − Π exp(−2w) is the chance that one of S covers the only topic."""
    return lambda rate: Coverage(np.ones(1), 1.0 - np.exp(-rate * np.array(weights))[:, None])


NEAR_THE_EDGE = {  # from ∅ the margin is next to nothing; from a later anchor the claim is soon shown
    "default": (saturating([0.2, 0.5, 0.2, 0.4, 0.2])(2.0), 3, Values(range=(0, 1)), bernoulli(), {"epsilon": 0.05}),
    "ratio": (Coverage([0.5], np.ones((5, 1))), 2, Values(range=(0, 1)), bernoulli(), {"ratio": 0.5}),
    "noise": (Coverage([0.5], np.ones((8, 1))), 2, Values(noise=0.5), uniform(0.5), {"ratio": 0.51}),
}


@pytest.mark.parametrize(("world", "k", "known", "answers", "asked"), NEAR_THE_EDGE.values(), ids=NEAR_THE_EDGE.keys())
def test_an_audit_turns_to_another_anchor_where_the_claim_is_far_away(
    world: Coverage, k: int, known: Values, answers: Response, asked: dict[str, float]
) -> None:
    for seed in range(8):
        problem = Problem(world.size, k, known, seed=seed, **asked)  # type: ignore[arg-type]
        state = Certified().build(problem)
        result = simulate(state, world, answers, k, cap=20_000)
        assert result.rounds[-1].ended == "rule"
        assert (state.anchors["visits"][1:] <= 2).all()


@pytest.mark.parametrize("seed", range(1, 3))
def test_a_function_that_is_nothing_is_given_up_from_later_anchors_too(seed: int) -> None:
    state = Certified().build(Problem(5, 3, Values(noise=1.0), ratio=0.7, seed=seed))
    result = simulate(state, Modular(np.zeros(5)), uniform(1.0), 3, cap=400_000)
    assert result.rounds[-1].ended == "out of reach"


def test_what_looks_like_nothing_from_a_later_anchor_and_is_not_from_the_first_is_shown() -> None:
    """Five copies with a gain of a tenth of the noise: the second adds next to nothing, as does all that follows."""
    left = 0
    for seed in range(3):
        state = Certified().build(Problem(5, 3, Values(noise=0.3), ratio=0.5, delta=0.3, in_flight=7, seed=seed))
        result = simulate(state, Coverage([0.05], np.full((5, 1), 0.8)), gaussian(0.3), 3, cap=1_000_000)
        assert result.rounds[-1].ended == "rule"
        left += state.rules[0]["worthless"] == IS_NOT
    assert left > 0


def test_exact_answers_that_are_all_nothing_need_few_questions() -> None:
    result = simulate(
        Certified().build(Problem(50, 5, Values(noise=0), ratio=0.9, seed=0)), Modular(np.zeros(50)), uniform(0), 5
    )
    assert result.answers < 150


def test_answers_that_end_before_everybody_was_asked_pick_the_best_of_those_who_were() -> None:
    """Ten items, of which an answer is far off: the one with the best answer is picked, whoever was asked first."""
    world = Modular(np.arange(10.0))
    for seed in range(6):
        problem = Problem(10, 1, Values(noise=0.1), epsilon=0.1, budget=Total(5), seed=seed)
        result = simulate(Certified().build(problem), world, uniform(0.1), 1, budget=problem.total)
        (asked,) = np.nonzero(result.rounds[0].per_item)
        assert result.chosen == (asked.max(),)

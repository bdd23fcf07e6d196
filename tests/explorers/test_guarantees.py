"""The theorems as data, and the slack of line 10 in Borda scores: the corrected one holds, the printed one does not."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handful.certificates import (
    NO_GUARANTEE,
    PerRound,
    borda_slack,
    borda_slack_inverse,
    finite_step,
    free_share,
    per_round,
    promise,
)
from handful.explorers.registry import TopX, Uniform
from handful.problem import Feedback, Preferences, Problem, Values


def borda(gains: Sequence[float], beta: float) -> np.ndarray:
    """Σ_{j≠i} P(i > j) / (|C| − 1) under Bradley-Terry-Luce, as the paper writes it."""
    n = len(gains)
    return np.array(
        [sum(1 / (1 + math.exp(-beta * (gains[i] - gains[j]))) for j in range(n) if j != i) / (n - 1) for i in range(n)]
    )


def losses(gains: Sequence[float], beta: float, M: Sequence[int]) -> tuple[float, float]:
    """By how much the best set of its size beats M: in utility per item, and in the sum of Borda scores."""
    best = sorted(range(len(gains)), key=lambda i: -gains[i])[: len(M)]
    scores = borda(gains, beta)
    utility = (sum(gains[i] for i in best) - sum(gains[i] for i in M)) / len(M)
    return utility, float(scores[best].sum() - scores[list(M)].sum())


@st.composite
def instances(draw: st.DrawFn) -> tuple[list[float], float, list[int]]:
    gains = draw(st.lists(st.floats(0, 10), min_size=2, max_size=7))
    M = draw(st.lists(st.integers(0, len(gains) - 1), min_size=1, max_size=len(gains), unique=True))
    return gains, draw(st.floats(0.01, 20)), M


@settings(deadline=None)  # the first example compiles
@given(instances())
def test_a_set_worse_by_epsilon_in_utility_is_worse_by_the_corrected_slack_in_borda_scores(
    instance: tuple[list[float], float, list[int]],
) -> None:
    gains, beta, M = instance
    utility, score = losses(gains, beta, M)
    assert score >= borda_slack(beta, len(M), utility, len(gains)) - 1e-12


def test_the_corrected_slack_is_tight_when_all_others_are_far_away() -> None:
    utility, score = losses([1.0, 0.0, -50.0, -50.0], 2.0, [1])
    assert score == pytest.approx(borda_slack(2.0, 1, utility, 4))


@pytest.mark.parametrize(("beta", "epsilon"), [(4.0, 0.9), (1.0, 0.99), (0.5, 1.0 - 1e-3)])
def test_the_printed_slack_of_appendix_d_lets_a_set_pass_that_breaks_condition_two(beta: float, epsilon: float) -> None:
    gains = [1.0, 0.0, -100.0]
    utility, score = losses(gains, beta, [1])
    printed = beta * epsilon / (2 * (len(gains) - 1))
    assert utility > epsilon
    assert score < printed  # line 10 would return {1}
    assert score > borda_slack(beta, 1, epsilon, len(gains))  # and does not


@settings(deadline=None)  # the first example compiles
@given(st.floats(0.01, 20), st.integers(1, 6), st.floats(1e-3, 0.5), st.integers(2, 60))
def test_the_epsilon_reached_is_the_inverse_of_the_slack(beta: float, l: int, epsilon: float, candidates: int) -> None:
    slack = borda_slack(beta, l, epsilon, candidates)
    back = borda_slack_inverse(beta, l, slack, candidates)
    assert back == pytest.approx(epsilon, rel=1e-3) or math.tanh(beta * l * epsilon / 2) > 1 - 1e-9


def test_an_unknown_sharpness_allows_nothing_and_certifies_nothing() -> None:
    assert borda_slack(math.nan, 3, 0.5, 10) == 0.0
    assert borda_slack_inverse(math.nan, 3, 0.01, 10) == math.inf
    assert borda_slack_inverse(math.nan, 3, 0.0, 10) == 0.0
    assert borda_slack_inverse(2.0, 1, 0.2, 6) == math.inf  # 0.2·5 = 1: no utility is too large for that
    assert borda_slack(math.inf, 1, 0.1, 5) == 0.25


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("full", PerRound(0.1 / 6, 0.05 / 6, 6)),
        ("O", PerRound(0.1 / 6, 0.05 / 6, 1)),
        ("G", PerRound(0.0, 0.05 / 6, 1)),
    ],
)
def test_each_variant_calls_topx_with_the_papers_numbers(variant: str, expected: PerRound) -> None:
    assert per_round(variant, 6, 0.1, 0.05) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [1, 2, 6, 100])
def test_the_free_share_is_the_recursion_of_appendix_a_summed_exactly(k: int) -> None:
    slack = sum((1 - 1 / k) ** i for i in range(k))
    assert free_share(k) * slack == pytest.approx(1.0)
    assert per_round("full", k, 0.1, 0.05, free=True).epsilon == pytest.approx(0.1 / slack)


def test_the_free_epsilon_is_half_as_large_again_for_six_items() -> None:
    assert free_share(6) * 6 == pytest.approx(1.5, abs=0.01)


@pytest.mark.parametrize("k", [1, 2, 6, 100])
def test_k_finite_steps_leave_one_over_e(k: int) -> None:
    assert (1 - finite_step(k)) ** k == pytest.approx(1 / math.e)
    assert finite_step(k) < 1 / k


def problem(feedback: Feedback, **given: object) -> Problem:
    return Problem(20, 6, feedback, **({"epsilon": 0.1} | given))  # type: ignore[arg-type]


OPTIMUM = "f(S) ≥ (1 − 1/e)·f(OPT) − ε"
SENTENCES = [
    (
        TopX(),
        Values(noise=0.1),
        "With 95% confidence the mean of f(S) over the random draws ≥ (1 − 1/e)·f(OPT) − 0.1, provided that",
        "sub-Gaussian with R = 0.1",
    ),
    (
        TopX(variant="O"),
        Values(range=(0.0, 2.0)),
        "With 95% confidence f(S) ≥ (1 − 1/e)·f(OPT) − 0.1, provided that",
        "lie in [0, 2]",
    ),
    (
        TopX(variant="O"),
        Preferences(beta=2.0),
        "With 95% confidence f(S) ≥ (1 − 1/e)·f(OPT) − 0.1, provided that",
        "Bradley-Terry-Luce with β = 2",
    ),
    (
        TopX(variant="G"),
        Preferences(),
        "With 95% confidence f(S) = f(greedy), provided that",
        "more often right the larger the difference in f",
    ),
]


@pytest.mark.parametrize(("explorer", "feedback", "claim", "assumption"), SENTENCES)
def test_every_variant_says_what_it_promises(explorer: TopX, feedback: Feedback, claim: str, assumption: str) -> None:
    guarantee = explorer.guarantee(problem(feedback))
    in_expectation = explorer.variant == "full"
    assert str(guarantee).startswith(f"{claim} f is monotone and submodular, with f(∅) = 0; ")
    assert assumption in guarantee.assumptions[-1]
    assert all(held in str(guarantee) for held in guarantee.assumptions)
    assert guarantee.in_expectation == in_expectation
    assert guarantee.to_dict() == {
        "bound": "f(S) = f(greedy)" if explorer.variant == "G" else OPTIMUM,
        "epsilon": None if explorer.variant == "G" else 0.1,
        "delta": 0.05,
        "in_expectation": in_expectation,
        "assumptions": list(guarantee.assumptions),
    }


def test_a_fixed_size_of_one_needs_no_expectation_and_a_larger_one_does() -> None:
    given = problem(Values(noise=0.1))
    assert not TopX(l=1).guarantee(given).in_expectation
    assert TopX(l=6).guarantee(given).in_expectation


def test_a_fixed_size_above_one_never_promises_greedys_set() -> None:
    # The two best may be known for sure: which of them is picked is a draw all the same.
    given = problem(Values(noise=0.1))
    assert TopX(variant="G", l=1).guarantee(given) == TopX(variant="G").guarantee(given)
    two = TopX(variant="G", l=2).guarantee(given)
    assert (two.bound, two.epsilon, two.in_expectation) == (OPTIMUM, 0.0, True)


def test_the_radius_as_printed_names_what_it_leaves_out_where_an_item_is_sampled_several_times_a_step() -> None:
    given = problem(Values(noise=0.1))
    assert "printed radius is wide enough" in TopX(radius="literal").guarantee(given).assumptions[-1]
    for explorer in (TopX(), TopX(radius="literal", variant="O"), TopX(radius="literal", l=6)):
        assert not any("printed" in held for held in explorer.guarantee(given).assumptions)


@pytest.mark.parametrize("explorer", [TopX(shrink=0.3), TopX(variant="G", shrink=0.9), Uniform(shrink=0.3)])
def test_too_small_a_radius_promises_nothing(explorer: TopX | Uniform) -> None:
    assert explorer.guarantee(problem(Values(noise=0.1))) == NO_GUARANTEE


@pytest.mark.parametrize("explorer", [TopX(), TopX(variant="O"), Uniform(), Uniform(variant="full")])
def test_without_epsilon_nothing_is_promised(explorer: TopX | Uniform) -> None:
    guarantee = explorer.guarantee(problem(Values(noise=0.1), epsilon=None, budget=100))
    assert guarantee == NO_GUARANTEE
    assert str(guarantee) == "No guarantee: the result is the best guess from the answers there were."
    assert guarantee.to_dict()["bound"] is None


def test_uniform_promises_what_topx_of_its_variant_does_and_the_fixed_sample_needs_values() -> None:
    values, comparisons = problem(Values(noise=0.1)), problem(Preferences(beta=1.0))
    assert Uniform().guarantee(values) == TopX(variant="O").guarantee(values)
    assert Uniform(variant="full").guarantee(values) == TopX().guarantee(values)
    assert Uniform(stop="fixed", variant="full").guarantee(values) == TopX(variant="O").guarantee(values)
    assert Uniform(stop="fixed").guarantee(comparisons) == NO_GUARANTEE


def test_questions_in_flight_add_an_assumption() -> None:
    alone, many = (TopX().guarantee(problem(Values(noise=0.1), in_flight=m)) for m in (1, 10))
    assert many.assumptions[:-1] == alone.assumptions
    assert "left unanswered does not depend on what its answer would be" in many.assumptions[-1]


def test_delta_is_said_as_confidence() -> None:
    assert str(promise("O", 0.5, 0.001, ())).startswith("With 99.9% confidence f(S) ≥ (1 − 1/e)·f(OPT) − 0.5,")

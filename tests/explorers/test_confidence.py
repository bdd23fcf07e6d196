"""Each confidence sequence against a golden table, against its own definition, and by simulation over all times.

Each test of coverage is shown to fail when the interval is 0.3 of what it should be.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from handful.confidence import FIRST, WIDEST, bernstein, beta_binomial, normal_mixture, paper_radius, stitched
from handful.kernels import kernel
from tests.explorers.statistics import binomial_p

N, DELTA = 60, 0.05 / 6  # δ′ of one round of six
ALPHA = DELTA / N
TIMES = (100, 1_000, 10_000)
HELD, BROKEN = 0.01, 1e-3

# Half-widths for R = 1 at T = 100, 1,000 and 10,000.
GOLDEN = {
    "paper": (0.69, 0.25, 0.087),
    "normal mixture": (0.47, 0.15, 0.050),
    "stitched": (0.531, 0.171, 0.0548),
}


@pytest.mark.parametrize(
    ("name", "radius"),
    [
        ("paper", lambda T: paper_radius(T, T, 1.0, N, DELTA)),
        ("normal mixture", lambda T: normal_mixture(T, 1.0, ALPHA, 10.0)),
        ("stitched", lambda T: stitched(T, 1.0, ALPHA)),
    ],
)
def test_widths_are_those_of_the_golden_table(name: str, radius: Callable[[float], float]) -> None:
    for T, golden in zip(TIMES, GOLDEN[name], strict=True):
        assert radius(float(T)) == pytest.approx(golden, rel=0.02)


@pytest.mark.parametrize(
    ("share", "golden"),
    [
        (0.5, (0.226, 0.0788, 0.0262)),
        (0.9, (0.198, 0.0541, 0.0164)),
        (1.0, (0.111, 0.0128, 0.00140)),
    ],
)
def test_the_beta_binomial_is_as_narrow_as_in_the_golden_table(share: float, golden: tuple[float, ...]) -> None:
    """Distances from the mean to the lower end."""
    for T, width in zip(TIMES, golden, strict=True):
        low, _ = beta_binomial(share * T, float(T), ALPHA)
        assert share - low == pytest.approx(width, rel=0.005)


@pytest.mark.parametrize("ones", [0, 1, 7, 31, 40])
def test_the_beta_binomial_is_a_ratio_of_the_krichevsky_trofimov_mixture(ones: int) -> None:
    """The mixture's likelihood, answer by answer: (ones so far + ½)/(answers so far + 1)."""
    T = 40
    answers = [1] * ones + [0] * (T - ones)
    mixture, seen = 0.0, 0
    for n, x in enumerate(answers):
        mixture += math.log((seen + 0.5) / (n + 1.0) if x else (n - seen + 0.5) / (n + 1.0))
        seen += x

    def ratio(p: float) -> float:
        return mixture - ones * math.log(p) - (T - ones) * math.log1p(-p)

    low, high = beta_binomial(float(ones), float(T), 0.01)
    assert (low == 0.0) == (ones == 0)
    assert (high == 1.0) == (ones == T)
    for end in (low, high):
        if 0.0 < end < 1.0:
            assert ratio(end) == pytest.approx(math.log(100.0), abs=1e-6)
    if ones not in (0, T):
        assert ratio(0.5 * (low + ones / T)) < math.log(100.0)


@pytest.mark.parametrize(("deviation", "golden"), [(0.01, (0.144, 0.0145, 0.00156)), (0.29, (0.233, 0.0529, 0.0151))])
def test_the_bernstein_width_is_that_of_the_golden_table(deviation: float, golden: tuple[float, ...]) -> None:
    """Answers in [0, 1]; 0.29 is the standard deviation of uniform ones."""
    for T, width in zip(TIMES, golden, strict=True):
        assert bernstein(float(T), T * deviation**2 + FIRST, math.log(2 / ALPHA)) == pytest.approx(width, rel=0.005)


@pytest.mark.parametrize("V", [0.25, 1.0, 10.0, 300.0, 1e4, 1e6])
@pytest.mark.parametrize("log", [3.0, 10.0, 30.0])
def test_the_bernstein_width_is_at_least_that_of_the_mixture_and_hardly_more(V: float, log: float) -> None:
    """The mixture itself, by quadrature: at the width it has reached 1/α, and at 0.88 of it, it has not."""
    bets = WIDEST * (np.arange(400_000) + 0.5) ** 2 / 400_000.0**2  # equally likely

    def mixture(deviation: float) -> float:
        exponents = bets * deviation + V * (np.log1p(-bets) + bets)
        return float(np.logaddexp.reduce(exponents) - math.log(len(bets)))

    width = bernstein(1.0, V, log)
    assert mixture(width) >= log - 1e-6
    assert mixture(0.88 * width) < log


# Coverage at all times at once.

PAPER, NORMAL, STITCHED, BETA, BOUNDED = range(5)


@kernel
def leaves(kind: int, answers: np.ndarray, truth: float, alpha: float, shrink: float) -> bool:
    """Whether the running intersection of the intervals ever leaves out the truth."""
    total = 0.0
    V = FIRST
    for at, x in enumerate(answers):
        T = at + 1.0
        if at > 0:
            V += (x - total / at) ** 2
        total += x
        mean = total / T
        if kind == PAPER:
            low, high = mean - paper_radius(T, T, 1.0, 1.0, alpha), mean + paper_radius(T, T, 1.0, 1.0, alpha)
        elif kind == NORMAL:
            low, high = mean - normal_mixture(T, 1.0, alpha, 10.0), mean + normal_mixture(T, 1.0, alpha, 10.0)
        elif kind == STITCHED:
            low, high = mean - stitched(T, 1.0, alpha), mean + stitched(T, 1.0, alpha)
        elif kind == BETA:
            low, high = beta_binomial(total, T, alpha)
        else:
            wide = bernstein(T, V, math.log(2.0 / alpha))
            low, high = mean - wide, mean + wide
        if truth < mean - shrink * (mean - low) or truth > mean + shrink * (high - mean):
            return True
    return False


def coverage(kind: int, truth: float, runs: int, shrink: float) -> float:
    """The p-value of “at some time up to 2,000 the truth is left out in at most α of the runs”."""
    alpha, rng, missed = 0.05, np.random.default_rng(kind), 0
    for _ in range(runs):
        if kind == BETA:
            answers = (rng.random(2_000) < truth).astype(float)
        elif kind == BOUNDED:
            answers = rng.beta(4 * truth, 4 * (1 - truth), 2_000)
        else:
            answers = truth + rng.standard_normal(2_000)
        missed += leaves(kind, answers, truth, alpha, shrink)
    return binomial_p(missed, runs, alpha)


SEQUENCES = [
    pytest.param(PAPER, 0.3, id="paper"),
    pytest.param(NORMAL, 0.3, id="normal mixture"),
    pytest.param(STITCHED, 0.3, id="stitched"),
    pytest.param(BETA, 0.5, id="beta-binomial, even"),
    pytest.param(BETA, 0.93, id="beta-binomial, lopsided"),
    pytest.param(BOUNDED, 0.5, id="bernstein, even"),
    pytest.param(BOUNDED, 0.2, id="bernstein, skewed"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "truth"), SEQUENCES)
def test_the_truth_is_covered_at_all_times_and_a_smaller_interval_is_caught(kind: int, truth: float) -> None:
    assert coverage(kind, truth, 400, shrink=1.0) > HELD
    assert coverage(kind, truth, 400, shrink=0.3) < BROKEN


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "truth"), SEQUENCES)
def test_the_truth_is_covered_at_all_times_over_many_runs(kind: int, truth: float) -> None:
    assert coverage(kind, truth, 4_000, shrink=1.0) > HELD
    assert coverage(kind, truth, 4_000, shrink=0.3) < BROKEN**2

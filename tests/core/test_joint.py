"""The joint bound U against what it stands for: the largest sum that no mixture martingale of any set rules out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from handful.core.confidence import FIRST, WIDEST
from handful.core.parts.board import new_board
from handful.core.parts.joint import NORMALS, Joint, bound, choices, drop_anchor, learn, new_joint

K, DELTA, LOW, HIGH = 2, 0.05, -1.0, 3.0
SPAN = HIGH - LOW
BETS = WIDEST * ((np.arange(4_000) + 0.5) / 4_000.0) ** 2  # equally likely
LOST = -np.log1p(-BETS) - BETS
GAINS = (1.0, 0.9, 0.5, 0.2, 0.1)


def joint_of(answers: Sequence[np.ndarray], span: float) -> Joint:
    """What is known of items with these answers given nothing chosen."""
    joint = new_joint(len(answers), K, noise=SPAN / 2, span=span, high=HIGH if span else math.inf, delta=DELTA)
    drop_anchor(joint, new_board(len(answers), K, 0, 1), 0)
    for item, some in enumerate(answers):
        for x in some:
            learn(joint, item, float(x))
    bound(joint)
    return joint


def some_answers(half_width: float, counts: Sequence[int]) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [gain + rng.uniform(-half_width, half_width, T) for gain, T in zip(GAINS, counts, strict=True)]


def allowed(size: int, ways: int) -> float:
    """log(choices/δ): sets, ways, and two for the anchors."""
    return math.log(math.comb(size, K) * 2 * ways / DELTA)


class Mixture:
    """The average over bets of exp(λS − ψ(λ)V) for one item, S = T·(v − v̂)/H, by quadrature."""

    def __init__(self, answers: np.ndarray) -> None:
        self.T = len(answers)
        self.mean = float(answers.mean())
        means = np.cumsum(answers)[:-1] / np.arange(1, self.T)
        self.V = float(((answers[1:] - means) ** 2).sum()) / SPAN**2 + FIRST

    def at(self, S: float) -> tuple[float, float]:
        """Its logarithm, and the derivative of that."""
        exponents = BETS * S - LOST * self.V
        top = exponents.max()
        weights = np.exp(exponents - top)
        return top + math.log(weights.mean()), float((weights * BETS).sum() / weights.sum())

    def where(self, slope: float) -> float:
        """The S at which the derivative is `slope`, or the largest that the range allows."""
        low, high = -1e4, self.T * (HIGH - self.mean) / SPAN
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.at(middle)[1] < slope else (low, middle)
        return low


def largest_sum(items: Sequence[Mixture], limit: float) -> float:
    """The largest Σv for which the product of the mixtures stays below exp(limit)."""
    low, high = -6.0, 12.0
    for _ in range(40):
        y = math.exp(0.5 * (low + high))
        used = sum(item.at(item.where(y / item.T))[0] for item in items)
        low, high = (0.5 * (low + high), high) if used < limit else (low, 0.5 * (low + high))
    return sum(item.mean + item.where(math.exp(low) / item.T) / item.T * SPAN for item in items)


@pytest.mark.parametrize(
    ("half_width", "counts"), [(0.02, (60, 60, 60, 60, 60)), (0.3, (900, 600, 500, 400, 400)), (0.9, (3000,) * 5)]
)
def test_the_bound_by_bets_rules_out_no_more_than_the_mixtures_do_and_hardly_less(
    half_width: float, counts: tuple[int, ...]
) -> None:
    answers = some_answers(half_width, counts)
    joint = joint_of(answers, SPAN)
    assert joint.rules["way"][0] == NORMALS  # the range helps
    limit = allowed(len(GAINS), NORMALS + 1)
    true = max(largest_sum([Mixture(answers[i]) for i in B], limit) for B in combinations(range(len(GAINS)), K))
    upper = float(joint.rules["upper"][0])
    assert true - 1e-4 <= upper
    assert upper - sum(GAINS[:K]) < 1.15 * (true - sum(GAINS[:K]))


@pytest.mark.parametrize("counts", [(50,) * 5, (4000, 900, 300, 30, 10)])
def test_the_bound_by_a_known_noise_is_the_largest_over_all_sets(counts: tuple[int, ...]) -> None:
    answers = some_answers(0.9, counts)
    joint = joint_of(answers, 0.0)
    rho = 10.0 ** int(joint.rules["way"][0])
    best = -math.inf
    for B in combinations(range(len(GAINS)), K):
        T = np.array([counts[i] for i in B], float)
        beta = 2 * allowed(len(GAINS), NORMALS) + np.log((T + rho) / rho).sum()
        means = sum(float(answers[i].mean()) for i in B)
        best = max(best, means + SPAN / 2 * math.sqrt(beta * ((T + rho) / T**2).sum()))
    assert float(joint.rules["upper"][0]) == pytest.approx(best, rel=0.02)
    assert float(joint.rules["upper"][0]) > best - 1e-9  # for the best y it is this, for another more


def test_an_item_that_was_never_asked_about_may_be_worth_all_that_the_range_allows() -> None:
    answers = some_answers(0.02, (5000, 5000, 5000, 5000, 0))
    assert float(joint_of(answers, SPAN).rules["upper"][0]) > HIGH + GAINS[0]
    assert float(joint_of(answers, 0.0).rules["upper"][0]) == math.inf


def test_a_first_round_that_is_left_out_is_paid_for() -> None:
    """Of δ: ½ for anchor 0, and 1/2k for each of the k − 1 others and for anchor 0 without its round: 1 in all."""
    k, above = 4, new_joint(9, 4, noise=1.0, high=math.inf, delta=0.1)
    sets = math.log(math.comb(9, k))
    shares = [math.exp(sets - choices(above, k))]
    above.rules["torn"] = 1
    shares.append(math.exp(sets - choices(above, k)))
    for anchor in range(1, k):
        above.rules["anchor"] = anchor
        shares.append(math.exp(sets + k * math.log(anchor + 2.0) - choices(above, k)))
    assert shares == pytest.approx([1 / 2, *k * [1 / (2 * k)]])

"""Sample average: greedy on stored scenarios, and a certificate from fresh ones.

Where a scenario can be asked about any set, all answers are reused, which beats asking one gain at a time. What the
stored scenarios say of the picks is too good, for they chose them; so the certificate is drawn from scenarios that
nothing has seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.errors import InvalidProblem
from handful.numbers import at_least, at_most, confidence, is_finite, whole
from handful.objectives import SampleAverage
from handful.problem import Floats
from handful.simulation import lazy_greedy

Value = Callable[[tuple[Any, ...], int], float]


@dataclass(frozen=True)
class Averaged:
    """What sample average picked, and what fresh scenarios show of it.

    With probability 1 − δ: f(chosen) ≥ `lower`, and, if f is monotone and submodular, f(OPT) ≤ `upper`.
    """

    chosen: tuple[Any, ...]
    stored_value: float  # the mean over the stored scenarios, which is too good
    fresh_value: float
    lower: float
    upper: float
    delta: float
    simulations: int

    @property
    def ratio(self) -> float:
        """The share of the optimum that is shown."""
        return max(0.0, min(1.0, self.lower / self.upper)) if self.upper > 0 else 0.0

    def __str__(self) -> str:
        return (
            f"{len(self.chosen)} chosen by {self.simulations:,} simulations; with {confidence(self.delta)} confidence "
            f"f(S) ≥ {at_least(self.lower, 4)} and f(OPT) ≤ {at_most(self.upper, 4)}, so "
            f"f(S) ≥ {at_least(self.ratio, 2)}·f(OPT), if f is monotone and submodular"
        )


def sample_average(
    simulate: Value,
    items: Sequence[Hashable],
    k: int,
    *,
    most: float,
    scenarios: int = 100,
    fresh: int = 400,
    delta: float = 0.05,
    seed: int = 0,
) -> Averaged:
    """Pick `k` of `items` by lazy greedy on stored scenarios, and certify by fresh ones.

    `simulate(set, seed)` gives f of a set in the scenario of a seed, the same each time, from 0 to `most`. The
    certificate asks every item once in each fresh scenario.
    """
    whole("scenarios", scenarios, 1)
    whole("fresh", fresh, 2)
    if not (is_finite(most) and most > 0):
        raise InvalidProblem(f"most must be a positive number that no simulation exceeds, got {most!r}")
    if not 0 < delta < 1:
        raise InvalidProblem(f"delta must lie between 0 and 1, got {delta!r}")
    drawn = np.random.SeedSequence(seed).generate_state(scenarios + fresh, np.uint64) >> np.uint64(1)
    stored, unseen = [int(s) for s in drawn[:scenarios]], [int(s) for s in drawn[scenarios:]]
    calls = 0

    def value(positions: tuple[int, ...], scenario: int) -> float:
        nonlocal calls
        calls += 1
        found = float(simulate(tuple(items[p] for p in positions), scenario))
        if not 0 <= found <= most:
            raise InvalidProblem(f"a simulation gave {found:g}: expected a number from 0 to most={most:g}")
        return found

    picked = lazy_greedy(SampleAverage.of(value, stored, len(items)), k)
    here = picked.chosen
    base = np.array([value(here, scenario) for scenario in unseen])
    others = [p for p in range(len(items)) if p not in here]
    gains = np.array([[value((*here, p), scenario) for scenario in unseen] for p in others]) - base
    # Half of δ for the picks, on either side; half for the gains, of which the k largest bound what is missing.
    lower = float(base.mean()) - radius(base, most, delta / 4)
    above = float(base.mean()) + radius(base, most, delta / 4)
    bounds = sorted((float(g.mean()) + radius(g, most, delta / (2 * len(others))) for g in gains), reverse=True)
    upper = min(float(most), above + sum(max(0.0, bound) for bound in bounds[:k]))
    return Averaged(
        tuple(items[p] for p in here), picked.value, float(base.mean()), max(0.0, lower), upper, delta, calls
    )


def radius(values: Floats, span: float, alpha: float) -> float:
    """How far the mean of independent values of a known span is from the truth, on one side, but for probability α.

    The empirical Bernstein bound of Maurer and Pontil (COLT 2009, Theorem 4).
    """
    count, log = len(values), math.log(2 / alpha)
    return math.sqrt(2 * float(values.var(ddof=1)) * log / count) + 7 * span * log / (3 * (count - 1))

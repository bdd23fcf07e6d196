"""What answers refute: whether they vary more than was said, or gains grow as more is picked.

Both are tested at LEVEL, at all times at once, apart from δ: to withhold a claim takes nothing from it.

Noise. If answers about an item given some picks have mean v and are sub-Gaussian with R, then for every λ, drawn anew
for each answer from N(0, τ²), exp(λ(X − v) − λ²R²/2) has a mean of at most 1. Averaged over λ that is
√(1−2t)·exp(t(X − v)²/R²) with t = τ²R²/(2 + 2τ²R²) < ½. So the product over all answers (from an item's second on: one
that is asked about once says nothing) is a supermartingale at the true means, whoever decides what is asked; and it is
least at the means of the answers. It exceeds 1/LEVEL with probability at most LEVEL if the noise is as was said.

Growth. A gain given more picks is at most the one given fewer. It is refuted where the lower bound of the former lies
above the upper bound of the latter, for normal mixtures with LEVEL shared by all items and numbers of picks.

Answers without noise are to refute nothing, however they are rounded: deviations are taken from the first answer about
the same thing, and what is within ROUNDING of the largest answer counts as equal.
"""

from __future__ import annotations

import math

import numpy as np

from handful.core.confidence import normal_mixture
from handful.core.feedback import Values
from handful.core.objective import Floats, Ints
from handful.core.problem import Problem
from handful.core.rounding import exactly

LEVEL = 0.01
T = 0.125  # t
RHO = 10.0
ROUNDING = 1e-12


def refuted(problem: Problem, item: Ints, given: Ints, answer: Floats) -> str | None:
    """Which assumption these answers refute, and how strongly; None if none. They are in the order asked, and `given`
    says how many picks each was given.
    """
    known = problem.feedback
    if not isinstance(known, Values) or known.sub_gaussian is None or len(item) == 0:
        return None
    accounts, first, at = np.unique(item * (problem.k + 1) + given, return_index=True, return_inverse=True)
    at = at.reshape(-1)
    start = answer[first]
    slack = ROUNDING * float(np.abs(answer).max())
    return _noise(known, at, first, answer - start[at], slack) or _growth(
        problem, known.sub_gaussian, accounts, at, start, answer - start[at], slack
    )


def _noise(known: Values, at: Ints, first: Ints, deviation: Floats, slack: float) -> str | None:
    if known.noise is None:  # no answer outside a range is taken
        return None
    later = np.ones(len(deviation), bool)
    later[first] = False
    count = np.bincount(at[later], minlength=len(first))
    total = np.bincount(at[later], weights=deviation[later], minlength=len(first))
    mean = np.divide(total, count, out=np.zeros(len(first)), where=count > 0)
    off = deviation[later] - mean[at[later]]
    n, means = int(count.sum()), int((count > 0).sum())
    if n == means or not off.any():
        return None
    R = max(known.noise, slack)
    squares = float(((off / R) ** 2).sum())
    if 0.5 * n * math.log1p(-2 * T) + T * squares < -math.log(LEVEL):
        return None
    spread = R * math.sqrt(squares / (n - means))
    said = exactly(known.noise)
    return f"answers about the same thing vary by {spread:.3g} (standard deviation), where R = {said} was said"


def _growth(
    problem: Problem, R: float, accounts: Ints, at: Ints, start: Floats, deviation: Floats, slack: float
) -> str | None:
    count = np.bincount(at)
    mean = start + np.bincount(at, weights=deviation) / count
    alpha = LEVEL / (problem.size * (problem.k + 1))
    radius = np.zeros(len(count))
    for n in np.unique(count):
        radius[count == n] = normal_mixture(float(n), R, alpha, RHO)
    item, given = accounts // (problem.k + 1), accounts % (problem.k + 1)
    low, high = mean - radius, mean + radius
    for p in range(1, len(accounts)):  # in order of items, and of how many picks were given
        q = p - 1
        while q >= 0 and item[q] == item[p]:
            if low[p] > high[q] + slack:
                grown = f"{mean[q]:.3g} given {given[q]} picks and {mean[p]:.3g} given {given[p]}"
                return f"the gain of an item grew as more was picked (it was about {grown}), so f is not submodular"
            q -= 1
    return None

"""How few answers could prove the claim of a selection, if somebody knew f and only had to prove it.

The claim is f(S) ≥ s·f(OPT) − ε with s = 1 − 1/e. For every anchor i it follows from W ≥ s·Σ_B v − ε for every set B of
k items, where W = f(S) − s·f(S_i), S_i are the first i picks, and v_b = f(b | S_i). W weighs the gains of the first i
picks with 1 − s and those of the others with 1. It is shown by Ŵ − s·Σ_B v̂ ≥ −ε + width for every B, at one time that
is fixed beforehand: Ŵ is made of n_j answers about pick j, which has the weight c_j, given those before it, v̂_b is the
mean of T_b answers given S_i, and width = √(2·log(1/δ)·R²·(Σ c_j²/n_j + s²·Σ_B 1/T_b)).

For any w > 0, √x ≤ (x/w + w)/2. So with z = √(2·log(1/δ)) and a = z·R²·s²/(2w) it is enough that the k largest of
s·v_b + a/T_b, and z·R²/(2w)·Σ c_j²/n_j, and z·w/2 add up to no more than W + ε. Somebody who knows f asks t times about
each of the k largest gains, about any other item so often (once at least) that it is not among the k largest, and about
each pick, in proportion to its weight, as often as is needed then. The best i, w and t are looked for.
"""

from __future__ import annotations

import math

import numpy as np

from handful.problem import Floats, Objective

_SHARE = 1.0 - 1.0 / math.e
_STEPS, _FEWEST_STEPS = 100, 10  # values of w that are tried: the fewer, the more items there are
_LOOKED_AT = 100_000
_MOST = 100_000  # answers about an item


def clairvoyant(
    objective: Objective, chosen: tuple[int, ...], noise: float, epsilon: float, delta: float, *, anchors: int = _MOST
) -> float:
    """The least number of answers for the claim about `chosen`, from one of the first anchors; ∞ if none shows it."""
    progress, k = objective.start(), len(chosen)
    before = []
    for i in range(k + 1):
        before.append((progress.value, np.sort(np.delete(progress.gains(), chosen[:i]))[::-1]))
        if i < k:
            progress.add(chosen[i])
    least = math.inf
    for i, (value, gains) in enumerate(before[:anchors]):
        worth = progress.value - _SHARE * value
        least = min(least, _from_anchor(gains, i, k, worth + epsilon, noise, delta, least))
    return least


def _from_anchor(gains: Floats, i: int, k: int, worth: float, noise: float, delta: float, least: float) -> float:
    """The least from one anchor, if it is less than `least`; of `gains` the largest come first."""
    z, largest = math.sqrt(2.0 * math.log(1.0 / delta)), min(k, len(gains))
    gap = worth - _SHARE * float(gains[:largest].sum())
    behind = _SHARE * (gains[largest - 1] - gains[largest:]) if largest else gains
    weights = np.where(np.arange(k) < i, 1.0 - _SHARE, 1.0)
    steps = min(_STEPS, max(_FEWEST_STEPS, _LOOKED_AT // (len(gains) + 1)))
    w = 2.0 * gap / z * np.linspace(0.0, 1.0, steps + 1)[1:-1]
    t = 1.0
    while gap > 0.0 and t < _MOST and k + len(behind) + largest * t < least:
        pulls = z * noise * noise / (2.0 * w)
        rests = gap - 0.5 * z * w - largest * pulls * _SHARE * _SHARE / t
        for pull, rest in zip(pulls[rests > 0.0], rests[rests > 0.0], strict=True):
            one = pull * _SHARE * _SHARE / t
            picks = np.maximum(np.ceil(weights * pull * weights.sum() / rest), 1.0).sum()
            if picks + len(behind) + largest * t < least:
                others = np.maximum(np.ceil(t * one / (behind + one)), 1.0).sum()
                least = min(least, float(picks + others) + largest * t)
        t = max(t + 1.0, math.floor(1.1 * t))
    return least

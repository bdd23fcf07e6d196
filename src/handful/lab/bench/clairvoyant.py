"""How few answers could prove the claim of a selection, if somebody knew f and only had to prove it.

The claim is f(S) ≥ s·f(OPT) − ε with s = 1 − 1/e. It is shown by Ŵ − s·Σ_B v̂ ≥ −ε + width for every set B of k items,
at one time that is fixed beforehand: Ŵ is the mean of n answers about each pick given those before it, v̂_b that of T_b
answers given nothing, and width = √(2·log(1/δ)·R²·(k/n + s²·Σ_B 1/T_b)).

For any w > 0, √x ≤ (x/w + w)/2. So with z = √(2·log(1/δ)) and a = z·R²·s²/(2w) it is enough that the k largest of
s·v_b + a/T_b, and z·R²·k/(2w·n), and z·w/2 add up to no more than f(S) + ε. Somebody who knows f asks t times about
each of the k largest gains, about any other item so often (once at least) that it is not among the k largest, and
n times about each pick, as often as is needed then. The best w and t are looked for.
"""

from __future__ import annotations

import math

import numpy as np

from handful.core.objective import Floats, Objective

_SHARE = 1.0 - 1.0 / math.e
_STEPS = 100
_MOST = 100_000  # answers about an item


def clairvoyant(objective: Objective, chosen: tuple[int, ...], noise: float, epsilon: float, delta: float) -> float:
    """The least number of answers for the claim about `chosen`; ∞ if it cannot be shown so."""
    progress = objective.start()
    gains: Floats = np.sort(progress.gains())[::-1]
    for item in chosen:
        progress.add(item)
    k, z = len(chosen), math.sqrt(2.0 * math.log(1.0 / delta))
    gap = progress.value + epsilon - _SHARE * float(gains[:k].sum())
    behind = _SHARE * (gains[k - 1] - gains[k:])
    least, t = math.inf, 1.0
    while gap > 0.0 and t < _MOST:
        for w in 2.0 * gap / z * np.linspace(0.0, 1.0, _STEPS + 1)[1:-1]:
            pull = z * noise * noise / (2.0 * w)
            one = pull * _SHARE * _SHARE / t
            rest = gap - 0.5 * z * w - k * one
            if rest > 0.0:
                others = np.maximum(np.ceil(t * one / (behind + one)), 1.0).sum()
                least = min(least, k * (math.ceil(pull * k / rest) + t) + float(others))
        t = max(t + 1.0, math.floor(1.1 * t))
    return least

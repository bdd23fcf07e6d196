"""Whether a gain stays as it was when something is picked, or falls: as likely as the answers make it.

`rules` and rows are those of `gains.py`. A gain that falls loses some share of what it is above the usual; where zero
is known, at most some share of itself: else an item that is not asked about for many rounds would be believed to have
fallen far below nothing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from handful.core.kernels import kernel, rare
from handful.core.objective import Floats

STAY, _FALL = 0.5, 0.4  # how likely a gain stays as it is; else how much of what is above the usual it loses, about
STAYING = np.array([0.02, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.98])  # how often gains may stay; at first all alike
_SUREST = 30.0  # no item's answers speak more strongly for staying or falling than this, in logarithms


@kernel
def fallen(rules: Any, row: Any) -> tuple[float, float]:
    """The mean and variance with which an item enters this round if its gain has fallen."""
    lost = _FALL * max(row.before - rules.level, math.sqrt(rules.spread))
    if rules.most < np.inf:
        lost = min(lost, rules.most * max(row.before + rules.origin, 0.0))
    return row.before - lost, row.doubt + lost * lost


@kernel
def fit_of_staying(rules: Any, row: Any) -> float:
    """How much likelier, in logarithms, the answers of this round are if the gain stayed as it was."""
    low, wide = fallen(rules, row)
    error, here = rules.noise / row.count, row.total / row.count
    u, w = row.doubt + error, wide + error
    away, below = here - row.before, here - low
    return 0.5 * (below * below / w - away * away / u + math.log(w / u))


@rare
def learn_staying(rules: Any, items: Any, staying: Floats) -> float:
    """How often gains stay as they are, by the answers of the round that is over and of those before it.

    `staying` has the logarithm of how likely each of STAYING made them, and grows.
    """
    for i in range(len(items)):
        if items[i].count > 0:
            ratio = math.exp(min(max(fit_of_staying(rules, items[i]), -_SUREST), _SUREST))
            for g in range(len(staying)):
                staying[g] += math.log(STAYING[g] * ratio + 1.0 - STAYING[g])
    top, total, stay = staying[0], 0.0, 0.0
    for g in range(len(staying)):
        top = max(top, staying[g])
    for g in range(len(staying)):
        weight = math.exp(staying[g] - top)
        total += weight
        stay += weight * STAYING[g]
    return stay / total

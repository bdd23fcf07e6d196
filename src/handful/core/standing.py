"""What a belief about strengths says of a pick: how likely it is among the best few candidates, and who comes next.

Strengths are believed to be independent and normal. Given the strength of the item, the number of candidates that are
better is then a sum of independent coins, whose distribution is reckoned exactly; over the item's own strength it is
averaged at `_POINTS` equally likely values. Nothing here is proved: it holds as far as the belief does
(`handful bench answers` says how far that is).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from handful.core.objective import Floats
from handful.core.views import STRENGTH, View

SAID = 0.9  # how likely "among the best j" must be, to be said
NEAR = 0.9  # a runner-up whom the pick beats with less than this is a near-tie
_POINTS = 65  # of the item's own strength
_below = np.vectorize(lambda z: 0.5 * math.erfc(-z / math.sqrt(2.0)), otypes=[np.float64])


@dataclass(frozen=True)
class RunnerUp:
    """A candidate that may be better, and how likely the item is better than it."""

    item: int
    chance: float

    @property
    def near(self) -> bool:
        """Whether the two are a near-tie."""
        return self.chance < NEAR


@dataclass(frozen=True)
class PickStanding:
    """What the belief says of `item`: it is among the best `best_of` of `candidates` with probability `chance`.

    `best_of` is the smallest number of which that is at least `SAID` likely. `chance_of_best` is the same for 1.
    `runners_up` are those most likely to be better, that first.
    """

    item: int
    candidates: int
    best_of: int
    chance: float
    chance_of_best: float
    runners_up: tuple[RunnerUp, ...]


def standing_of(view: View, item: int, runners_up: int = 3, said: float = SAID) -> PickStanding | None:
    """What the view of a round, as it closed, says of a candidate; None if the view is of no belief about strengths,
    or the item had no rival."""
    if not view.believed or view.scale != STRENGTH or not np.isfinite(view.mean[item]):
        return None
    others = np.flatnonzero(np.isfinite(view.mean))
    others = others[others != item]
    if len(others) == 0:
        return None
    sd = (view.upper - view.mean) / 2.0
    over = _below((view.mean[item] - view.mean[others]) / np.hypot(sd[item], sd[others]))
    next_best = others[np.argsort(over, kind="stable")][:runners_up]
    chances = np.sort(over)[:runners_up]
    among = chances_among_best(view.mean[item], sd[item], view.mean[others], sd[others], said)
    return PickStanding(
        item,
        len(others) + 1,
        len(among),
        float(among[-1]),
        float(among[0]),
        tuple(RunnerUp(int(i), float(p)) for i, p in zip(next_best, chances, strict=True)),
    )


def chances_among_best(mean: float, sd: float, means: Floats, sds: Floats, until: float) -> Floats:
    """How likely an item is among the best 1, 2, … of it and the others, up to the first that is `until` or more."""
    middles = (np.arange(_POINTS) + 0.5) / _POINTS
    strengths = mean + sd * np.array([NormalDist().inv_cdf(share) for share in middles])
    better = 1.0 - _below((strengths[:, None] - means) / sds)
    most = 8
    while True:
        among = np.minimum(np.cumsum(_counts(better, min(most, len(means) + 1)).mean(axis=0)), 1.0)
        if among[-1] >= until or len(among) == len(means) + 1:
            among[len(means) :] = 1.0  # among all of them it is for certain
            return among[: int(np.argmax(among >= until)) + 1]
        most *= 8


def _counts(chances: Floats, most: int) -> Floats:
    """Per row, how likely 0, 1, …, most − 1 of independent events happen."""
    counts = np.zeros((len(chances), most))
    counts[:, 0] = 1.0
    for p in chances.T[:, :, None]:
        if p.max() > 1e-12:
            happened = counts[:, :-1] * p
            counts *= 1.0 - p
            counts[:, 1:] += happened
    return counts

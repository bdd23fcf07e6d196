"""The instance's own bound: f(OPT) ≤ f(S) + the most that any allowed set can add to S, for every S on the way."""

from __future__ import annotations

import math

import numpy as np

from handful.exact.candidates import Candidates
from handful.exact.limits import Limits
from handful.problem import Floats

EVERY = 100_000  # items times picks up to which every prefix is looked at; beyond, the first and then each doubling
ROUNDS = 6  # looks at the items that the last bound rests on, at twice as many each time


class LeastBound:
    """The least bound found, over the empty set, the prefixes of the ranking and the ranking itself."""

    def __init__(self, limits: Limits, given: tuple[int, ...], size: int) -> None:
        self.bound = math.inf
        self._room = _room(limits, given)
        self._every = size * limits.count <= EVERY
        self._given = len(given)

    def note(self, pool: Candidates) -> None:
        """The set is at a prefix; what is known of gains there is an upper bound of them."""
        picked = len(pool.progress.chosen) - self._given
        if self._every or picked & (picked - 1) == 0:
            self._lower(pool)

    def finish(self, pool: Candidates) -> None:
        """Look at the items that the bound at the whole set rests on, until it rests on gains."""
        pool.sharpen(np.flatnonzero((pool.upper == np.inf) & pool.open))  # a sample may never have looked at some
        for doubled in range(ROUNDS):
            _, items = self._room.more(np.maximum(pool.upper, 0.0))
            if pool.knows(items):
                break
            many = min(len(items) << doubled, len(pool.upper))
            pool.sharpen(items if many == len(items) else np.argpartition(-pool.upper, many - 1)[:many])
        self._lower(pool)

    def _lower(self, pool: Candidates) -> None:
        upper: Floats = np.maximum(pool.upper, 0.0)
        self.bound = min(self.bound, pool.progress.value + self._room.more(upper)[0])


def _room(limits: Limits, given: tuple[int, ...]) -> Limits:
    """What the optimum may add to the items that were there already."""
    taken = list(given)
    if not taken:
        return limits
    most = limits.most
    if most is not None and limits.codes is not None:
        most = np.maximum(most - np.bincount(limits.codes[taken], minlength=len(most)), 0)
    budget = limits.budget if limits.costs is None else limits.budget - limits.costs[taken].sum()
    return Limits(limits.count, limits.costs, budget, limits.codes, most)

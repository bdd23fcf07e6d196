"""Bounds of a feature-based function's gains under √, computed in single precision and only where they may matter.

Two bounds are had for less than a gain. One is the gain itself in single precision, with what rounding may take left
in. The other needs no look at the item: √(g+x) − √g = x/(√(g+x) + √g), so as g grows to g′ each term falls at least by
the factor (√(g+X) + √g)/(√(g′+X) + √g′), X the largest x of the column, and the gain by the largest of these factors.
Compiled; gains themselves are always computed by NumPy, so the picks are the same.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from handful.kernels import kernel
from handful.objectives.arrays import Real, blocks
from handful.objectives.prefetch import fetch
from handful.problem import Floats, Ints

SINGLE = float(np.finfo(np.float32).eps)
LINE = 16  # numbers that are fetched together
TILE = 256  # terms added up in single precision before they go into a sum in double precision
REMEMBERED = 64  # picks back to which factors are computed


@kernel
def _sum_of_rises(row: Any, gathered: Any, roots: Any, weights: Any, room: Any) -> float:
    """Σ w·(√(g + x) − √g): the terms first, then eight sums of them: the processor does eight at a time."""
    total = 0.0
    for start in range(0, len(row), TILE):
        end = min(start + TILE, len(row))
        x, g, w, r = row[start:end], gathered[start:end], weights[start:end], roots[start:end]
        for j in range(len(x)):
            room[j] = w[j] * (math.sqrt(g[j] + x[j]) - r[j])
        a = b = c = d = e = f = m = n = x[0] - x[0]
        rest = len(x) % 8
        for j in range(0, len(x) - rest, 8):
            a += room[j]
            b += room[j + 1]
            c += room[j + 2]
            d += room[j + 3]
            e += room[j + 4]
            f += room[j + 5]
            m += room[j + 6]
            n += room[j + 7]
        for j in range(len(x) - rest, len(x)):
            a += room[j]
        total += ((a + b) + (c + d)) + ((e + f) + (m + n))
    return total


@kernel
def _lower(
    items: Any, floor: float, keep: bool, looked: Any, table: Any, gathered: Any, roots: Any, weights: Any, room: Any,
    there: Any, factors: Any, upper: Any, allowed: Any, costs: Any, base: Any, seen: Any,
    wait: Any,
) -> float:  # fmt: skip
    """Lower the bounds of those of these items that may be the next; the largest gain per cost is at least this.

    `there` has the absolute and the relative error, the last of the times, and how many items were looked at; these
    are put into `looked`. With `keep` the floor stays as it is.
    """
    now, count = int(there[2]), int(there[3])
    waiting = 0
    for i in items:  # who waits is found first, without a jump: rows are then read one after the other
        upper[i] = min(upper[i], base[i] * factors[seen[i]])
        wait[waiting] = i
        waiting += (upper[i] >= floor * costs[i]) & allowed[i] & (seen[i] != now)
    for at in range(waiting):
        i = wait[at]
        later = table[wait[min(at + 2, waiting - 1)]]
        for j in range(0, len(later), LINE):
            fetch(later, j)
        if upper[i] < floor * costs[i]:
            continue
        rise = _sum_of_rises(table[i], gathered, roots, weights, room)
        slack = there[0] + there[1] * abs(rise)
        base[i], seen[i] = rise + slack, now
        upper[i] = min(upper[i], base[i])
        looked[count] = i
        count += 1
        if not keep:
            floor = max(floor, (rise - slack) / costs[i])
    there[3] = count
    return floor


class RootTightener:
    """Lowers bounds of gains at a growing set, those of items that may be the next."""

    def __init__(self, matrix: Real, weights: Real, gathered: Real) -> None:
        self._table: Any = matrix.astype(np.float32, copy=False)
        self._weights: Any = weights.astype(np.float32)
        largest = np.zeros(matrix.shape[1])
        for at in blocks(*matrix.shape):
            np.maximum(largest, matrix[at].max(axis=0), out=largest)
        self._used = (largest > 0.0) & (weights > 0.0)
        self._largest: Floats = largest[self._used]
        self._base: Floats = np.full(len(matrix), np.inf)
        self._seen: Ints = np.zeros(len(matrix), dtype=np.int64)
        self._ones: Floats = np.ones(len(matrix))
        self._room: Any = np.empty(TILE, dtype=np.float32)
        self._front: Ints = np.empty(len(matrix), dtype=np.int64)  # the first _count: those looked at last
        self._spare: Ints = np.empty(len(matrix), dtype=np.int64)
        self._wait: Ints = np.empty(len(matrix) + 1, dtype=np.int64)
        self._count = 0
        self._past: Floats = np.empty((REMEMBERED, len(self._largest)))
        self._past[0] = self._width(gathered)
        self._time = 0

    def tighten(self, upper: Floats, allowed: Any, costs: Floats | None, gathered: Real) -> None:
        """Lower the bounds of all items that could be the next."""
        if not len(self._largest):
            return
        common = self._common(upper, allowed, costs, gathered)
        there = common[5]
        last, self._front, self._spare = self._front, self._spare, self._front
        # Those looked at last are the likeliest: with their gains known, most of the others can be passed over.
        floor = _lower(last[: self._count], -np.inf, False, self._front, *common)
        possible = np.flatnonzero(upper >= (floor if costs is None else floor * costs))
        _lower(possible, floor, False, self._front, *common)
        self._count = int(there[3])

    def sharpen(self, upper: Floats, items: Ints, gathered: Real) -> None:
        """Lower the bounds of these items."""
        if len(self._largest):
            common = self._common(upper, self._ones > 0.0, None, gathered)
            _lower(items, -np.inf, True, self._spare, *common)

    def bounds(self, gathered: Real) -> Floats:
        """What each item adds at most."""
        upper = np.full(len(self._base), np.inf if len(self._largest) else 0.0)
        self.tighten(upper, self._ones > 0.0, None, gathered)
        return upper

    def _common(self, upper: Floats, allowed: Any, costs: Floats | None, gathered: Real) -> Any:
        factors = self._factors(gathered)
        single = gathered.astype(np.float32)
        roots = np.sqrt(single)
        absolute = 3.0 * SINGLE * float(self._weights.astype(np.float64) @ roots)  # of g, x and the roots
        relative = SINGLE * (TILE / 8 + 10.0)  # for each number added, and for x, w and products
        there = np.array([absolute, relative, self._time, 0.0])
        divided = self._ones if costs is None else costs
        return (self._table, single, roots, self._weights, self._room, there, factors, upper, allowed, divided,
                self._base, self._seen, self._wait)  # fmt: skip

    def _factors(self, gathered: Real) -> Floats:
        """By how much every gain has fallen at least, since each of the times remembered."""
        now = self._width(gathered)
        if self._time + 1 == REMEMBERED:  # what is known of each item is brought up to date, and the past forgotten
            self._base *= self._by_time(now)[self._seen]
            self._seen[:] = self._time = 0
        else:
            self._time += 1
        self._past[self._time] = now
        return self._by_time(now)

    def _by_time(self, now: Floats) -> Floats:
        fallen: Floats = (self._past[: self._time + 1] / now).max(axis=1)
        return np.minimum(fallen, 1.0) * (1.0 + 1e-12)

    def _width(self, gathered: Real) -> Floats:
        kept = gathered[self._used].astype(np.float64)
        return np.asarray(np.sqrt(kept + self._largest) + np.sqrt(kept))

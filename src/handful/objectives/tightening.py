"""Bounds of facility location's gains, kept tight by looking only at the clients that the last picks serve better.

Compiled. The first large run of a process does without, since compiling takes longer than that run; from the second
on, and for very large tables, bounds are tightened. Gains themselves are always computed by NumPy, so the picks are
the same.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from handful.core.kernels import kernel
from handful.core.objective import Floats, Ints
from handful.objectives.arrays import Real
from handful.objectives.threads import cores

SLACK = 1e-9  # what rounding could have taken, and more, is left in a bound
PARALLEL = 25_000_000  # cells from which on all cores share the work


@kernel
def _whole(row: Any, served: Any) -> float:
    """Σ max(row − served, 0), in eight sums that the processor can work on at once."""
    zero = row[0] - row[0]
    a = b = c = d = e = f = g = h = 0.0
    rest = len(row) % 8
    for i in range(0, len(row) - rest, 8):
        a += max(row[i] - served[i], zero)
        b += max(row[i + 1] - served[i + 1], zero)
        c += max(row[i + 2] - served[i + 2], zero)
        d += max(row[i + 3] - served[i + 3], zero)
        e += max(row[i + 4] - served[i + 4], zero)
        f += max(row[i + 5] - served[i + 5], zero)
        g += max(row[i + 6] - served[i + 6], zero)
        h += max(row[i + 7] - served[i + 7], zero)
    for i in range(len(row) - rest, len(row)):
        a += max(row[i] - served[i], zero)
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@kernel
def _tighten(
    first: int, last: int, matrix: Any, served: Any, upper: Any, allowed: Any, costs: Any, seen: Any, clients: Any,
    old: Any, new: Any, least: float, end: int, floor: float,
) -> float:  # fmt: skip
    """Tighten the bounds of those items first..last that may be the next; the largest bound per cost."""
    zero = served[0] - served[0]
    for i in range(first, last):
        if not allowed[i] or upper[i] < floor * costs[i]:
            continue
        row = matrix[i]
        if end - seen[i] > len(served) // 12:  # jumping about in a row costs more than reading it
            upper[i] = min(upper[i], _whole(row, served) * (1.0 + SLACK))
        else:
            less, size = 0.0, 0.0
            for e in range(seen[i], end):  # what is lost by a client that is served better now
                x = row[clients[e]]
                less += max(min(x, new[e]) - old[e], zero)
                size += x
            upper[i] += least * size + SLACK * less - less
        seen[i] = end
        floor = max(floor, upper[i] / costs[i])
    return floor


class Tightener:
    """The changes that picks have made, and up to which of them each item's bound has been tightened."""

    def __init__(self, matrix: Real) -> None:
        size = len(matrix)
        self._matrix = matrix
        self._seen: Ints = np.zeros(size, dtype=np.int64)
        self._end = 0
        self._clients: Ints = np.empty(1024, dtype=np.int64)
        self._old: Real = np.empty(1024, dtype=matrix.dtype)
        self._new: Real = np.empty(1024, dtype=matrix.dtype)
        self._ones: Floats = np.ones(size)
        self._least = 8.0 * float(np.finfo(matrix.dtype).eps)  # what rounding may take of a similarity

    def changed(self, before: Real, after: Real) -> None:
        """A pick: clients are served better."""
        better = np.flatnonzero(after > before)
        start, end = self._end, self._end + len(better)
        while end > len(self._clients):
            self._clients, self._old, self._new = (_longer(x) for x in (self._clients, self._old, self._new))
        self._clients[start:end] = better
        self._old[start:end] = before[better]
        self._new[start:end] = after[better]
        self._end = end

    def known(self, items: Ints | None) -> None:
        """The gains of these items (None: of all) were computed now: there is nothing to be taken off them."""
        self._seen[slice(None) if items is None else items] = self._end

    def tighten(self, upper: Floats, allowed: Any, costs: Floats | None, served: Real) -> None:
        """Lower the bounds of all items that could be the next."""
        divided = self._ones if costs is None else costs
        keys = np.where(allowed, upper if costs is None else upper / costs, -np.inf)
        top = int(keys.argmax())
        if not allowed[top]:
            return
        common = (self._matrix, served, upper, allowed, divided, self._seen)
        more = (self._clients, self._old, self._new, self._least, self._end)
        floor = _tighten(top, top + 1, *common, *more, -np.inf)
        _in_parts(_tighten, len(upper), self._matrix.size, (*common, *more), floor)


def _in_parts(work: Any, size: int, cells: int, common: tuple[Any, ...], floor: float) -> None:
    """Do the work on all items, on all cores where it is much."""
    threads = cores() if cells >= PARALLEL else 1
    if threads == 1:
        work(0, size, *common, floor)
        return
    edges = np.linspace(0, size, threads + 1).astype(int).tolist()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda first, last: work(first, last, *common, floor), edges[:-1], edges[1:]))


@kernel
def _tighten_roots(
    first: int, last: int, matrix: Any, weights: Any, gathered: Any, roots: Any, relative: float, slack: float,
    upper: Any, allowed: Any, costs: Any, seen: Any, now: int, floor: float,
) -> float:  # fmt: skip
    """Bounds of Σ w·(√(g + x) − √g) for those items first..last that may be the next; the largest bound per cost."""
    width = len(weights)
    rest = width % 4
    for i in range(first, last):
        if not allowed[i] or upper[i] < floor * costs[i]:
            continue
        if seen[i] != now:
            row = matrix[i]
            a = b = c = d = 0.0
            for j in range(0, width - rest, 4):
                a += weights[j] * (math.sqrt(gathered[j] + row[j]) - roots[j])
                b += weights[j + 1] * (math.sqrt(gathered[j + 1] + row[j + 1]) - roots[j + 1])
                c += weights[j + 2] * (math.sqrt(gathered[j + 2] + row[j + 2]) - roots[j + 2])
                d += weights[j + 3] * (math.sqrt(gathered[j + 3] + row[j + 3]) - roots[j + 3])
            for j in range(width - rest, width):
                a += weights[j] * (math.sqrt(gathered[j] + row[j]) - roots[j])
            upper[i] = min(upper[i], ((a + b) + (c + d)) * (1.0 + relative) + slack)
            seen[i] = now
        floor = max(floor, upper[i] / costs[i])
    return floor


class RootTightener:
    """Bounds of a feature-based function's gains, computed with fewer steps than the gains themselves."""

    def __init__(self, matrix: Real, weights: Real) -> None:
        self._matrix = matrix
        self._weights = weights
        self._seen: Ints = np.zeros(len(matrix), dtype=np.int64)
        self._now = 0
        self._ones: Floats = np.ones(len(matrix))

    def tighten(self, upper: Floats, allowed: Any, costs: Floats | None, gathered: Real) -> None:
        """Lower the bounds of all items that could be the next."""
        keys = np.where(allowed, upper if costs is None else upper / costs, -np.inf)
        top = int(keys.argmax())
        if not allowed[top]:
            return
        self._now += 1
        wide = gathered.astype(np.float64)
        roots = np.sqrt(wide)
        relative = SLACK + 8.0 * float(np.finfo(self._matrix.dtype).eps)
        slack = 8.0 * float(np.finfo(self._matrix.dtype).eps) * float(self._weights @ roots)  # of the differences
        more = (upper, allowed, self._ones if costs is None else costs, self._seen, self._now)
        common = (self._matrix, self._weights, wide, roots, relative, slack, *more)
        floor = _tighten_roots(top, top + 1, *common, -np.inf)
        _in_parts(_tighten_roots, len(upper), self._matrix.size, common, floor)


def _longer(array: Any) -> Any:
    longer = np.zeros(2 * len(array), dtype=array.dtype)
    longer[: len(array)] = array
    return longer

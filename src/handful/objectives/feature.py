"""Feature-based functions and saturated coverage: a concave function of how much of each feature was gathered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from handful.errors import InvalidProblem
from handful.objectives.arrays import Real, Sparse, Table2D, ids_of, numbers, refuse_zeros, table, weights_for
from handful.objectives.progress import Columns
from handful.problem import Floats, Ints

REMEMBERED = 64  # picks back to which it is known by how much gains have fallen
ROUNDING = 1e-6  # what single precision can take

Concave = Callable[[Real], Real]


def _root(gathered: Real, more: Real) -> Real:
    """√(g+x) − √g, written as x/(√(g+x) + √g): nothing cancels, so rounding keeps it non-increasing in g."""
    roots = np.sqrt(gathered + more)
    roots += np.sqrt(gathered)
    if roots.min(initial=1.0) > 0.0:
        return np.divide(more, roots, out=roots)
    return np.divide(more, roots, out=np.zeros_like(roots), where=roots > 0.0)


def _log(gathered: Real, more: Real) -> Real:
    """log(1+g+x) − log(1+g)."""
    return np.log1p(more / (1.0 + gathered))


def _ratio(gathered: Real, more: Real) -> Real:
    """(g+x)/(1+g+x) − g/(1+g)."""
    return more / ((1.0 + gathered) * (1.0 + gathered + more))


RISES = {"sqrt": _root, "log": _log, "ratio": _ratio}


class FeatureBased:
    """f(S) = Σ_d weights[d] · φ(Σ_{s∈S} features[s, d]), features ≥ 0; one row per item, one column per feature.

    `concave` is φ: "sqrt", "log" for log(1 + x), "ratio" for x/(1 + x), or a function of an array that is increasing
    and concave from φ(0) = 0 on: the second helping of a feature is worth less than the first.
    `avoid` are rows of features that are there already: only what is new counts.
    Monotone and submodular.
    """

    monotone = True
    submodular = True

    def __init__(
        self, features: object, weights: object = None, concave: str | Concave = "sqrt", avoid: object = None
    ) -> None:
        self.features: Table2D = table("features", features)
        refuse_zeros(self.features.data if isinstance(self.features, Sparse) else self.features)
        self.ids = ids_of(features)
        columns = self.features.shape[1]
        self.weights: Floats = weights_for("weights", weights, columns, "feature")
        if not callable(concave) and concave not in RISES:
            raise InvalidProblem(f"concave is {concave!r}: give one of {', '.join(RISES)}, or a function of an array")
        self.concave = concave
        self.gathered: Floats = column_sums("avoid", avoid, columns)

    @property
    def size(self) -> int:
        """N, the number of items."""
        return self.features.shape[0]

    def start(self) -> FeatureProgress:
        """Progress at the empty set."""
        return FeatureProgress(self.features, self.weights, self.concave, self.gathered)


class FeatureProgress(Columns):
    """A feature-based function at a growing set: how much of each feature is gathered."""

    def __init__(self, features: Table2D, weights: Floats, concave: str | Concave, gathered: Floats) -> None:
        super().__init__(features)
        self._type = (features.data if isinstance(features, Sparse) else features).dtype
        self._weights: Real = weights.astype(self._type)
        self._gathered = gathered.copy()
        self._now: Real = gathered.astype(self._type)
        self._concave = concave
        self._fall: _Fall | None = None
        if concave == "sqrt" and not isinstance(features, Sparse):
            self._fall = _Fall(features, weights, self._now)

    def gains(self, items: Ints | None = None) -> Floats:
        """f(a | S) for every item a, or for these items; zero on S."""
        gains = super().gains(items)
        if self._fall is not None:
            self._fall.learn(items, gains)
        return gains

    def tighten(self, upper: Floats, allowed: Any, costs: Floats | None) -> None:
        """Lower the bounds of what could be picked next."""
        if self._fall is not None:
            np.minimum(upper, self._fall.bounds(self._now), out=upper)

    def _rises(self, entries: Real, columns: Any) -> Real:
        rises: Real
        if callable(self._concave):
            rises = self._concave(self._now[columns] + entries) - self._concave(self._now[columns])
        else:
            rises = RISES[self._concave](self._now[columns], entries)
        return np.asarray(rises * self._weights[columns])

    def _take(self, entries: Real, columns: Any) -> None:
        self._gathered[columns] += entries
        self._now = self._gathered.astype(self._type)


class _Fall:
    """By how much gains under √ have fallen at least since they were computed, without a look at the items.

    √(g+x) − √g = x/(√(g+x) + √g): as g grows to g′ each term falls at least by the factor
    (√(g+X) + √g)/(√(g′+X) + √g′), X the largest x of the column, and the gain by the largest of these factors.
    """

    def __init__(self, matrix: Real, weights: Floats, gathered: Real) -> None:
        largest = matrix.max(axis=0).astype(np.float64)
        self._used = (largest > 0.0) & (weights > 0.0)
        self._largest = largest[self._used]
        self._gains: Floats = np.full(len(matrix), np.inf)
        self._since: Ints = np.zeros(len(matrix), dtype=np.int64)
        self._widths = [self._width(gathered)]  # at each pick since

    def learn(self, items: Ints | None, gains: Floats) -> None:
        """These are the gains of these items now."""
        at = slice(None) if items is None else items
        self._gains[at], self._since[at] = gains, len(self._widths) - 1

    def bounds(self, gathered: Real) -> Floats:
        """What each item adds at most, at a set that has just grown."""
        now = self._width(gathered)
        if not len(now):
            return self._gains
        if len(self._widths) == REMEMBERED:  # what is known of each item is brought up to date, and the past forgotten
            self._gains *= self._factors(now)[self._since]
            self._since[:] = 0
            self._widths = [now]
            return self._gains
        factors = self._factors(now)
        self._widths.append(now)
        return self._gains * factors[self._since]

    def _factors(self, now: Floats) -> Floats:
        fallen: Floats = (np.array(self._widths) / now).max(axis=1)
        return np.append(np.minimum(fallen, 1.0) * (1.0 + ROUNDING), 1.0)

    def _width(self, gathered: Real) -> Floats:
        kept = gathered[self._used].astype(np.float64)
        return np.asarray(np.sqrt(kept + self._largest) + np.sqrt(kept))


class SaturatedCoverage:
    """f(S) = Σ_c min(Σ_{s∈S} similarity[s, c], saturation · Σ_{all a} similarity[a, c]), similarities ≥ 0.

    A client c is content once S gives it the share `saturation` of all there is; more of the same adds nothing.
    Monotone and submodular.
    """

    monotone = True
    submodular = True

    def __init__(self, similarity: object, saturation: float = 0.25, avoid: object = None) -> None:
        if not 0.0 < saturation <= 1.0:
            raise InvalidProblem(f"saturation is {saturation}: give a share of the whole, 0 < saturation ≤ 1")
        self.similarity: Table2D = table("similarity", similarity)
        self.ids = ids_of(similarity)
        self.saturation = saturation
        self.caps: Floats = saturation * _sums(self.similarity)
        self.gathered: Floats = column_sums("avoid", avoid, self.similarity.shape[1])

    @property
    def size(self) -> int:
        """N, the number of items."""
        return self.similarity.shape[0]

    def start(self) -> SaturatedProgress:
        """Progress at the empty set."""
        return SaturatedProgress(self.similarity, np.maximum(self.caps - self.gathered, 0.0))


class SaturatedProgress(Columns):
    """Saturated coverage at a growing set: how much each client can still take."""

    def __init__(self, similarity: Table2D, room: Floats) -> None:
        super().__init__(similarity)
        self._type = (similarity.data if isinstance(similarity, Sparse) else similarity).dtype
        self._room = room
        self._now = room.astype(self._type)

    def _rises(self, entries: Real, columns: Any) -> Real:
        return np.minimum(entries, self._now[columns])

    def _take(self, entries: Real, columns: Any) -> None:
        self._room[columns] = np.maximum(self._room[columns] - entries, 0.0)
        self._now = self._room.astype(self._type)


def column_sums(what: str, given: object, columns: int) -> Floats:
    """Σ over the rows of what is there already; zeros where nothing is given."""
    if given is None:
        return np.zeros(columns)
    rows = numbers(what, given, 2)
    if rows.shape[1] != columns:
        raise InvalidProblem(f"{what} has {rows.shape[1]} columns, the items have {columns}: give the same columns")
    return rows.sum(axis=0, dtype=np.float64)


def _sums(matrix: Table2D) -> Floats:
    if isinstance(matrix, Sparse):
        return np.bincount(matrix.indices, weights=matrix.data, minlength=matrix.shape[1]).astype(np.float64)
    return matrix.sum(axis=0, dtype=np.float64)

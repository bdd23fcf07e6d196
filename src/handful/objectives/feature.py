"""Feature-based functions and saturated coverage: a concave function of how much of each feature was gathered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from handful.errors import InvalidProblem
from handful.objectives.arrays import Real, Sparse, Table2D, ids_of, numbers, refuse_zeros, table, weights_for
from handful.objectives.growing import Columns
from handful.objectives.tiers import compiling_pays, run_made
from handful.problem import Floats, Ints

Concave = Callable[[Real], Real]


def _root(gathered: Real, more: Real) -> Real:
    """√(g+x) − √g, written as x/(√(g+x) + √g): nothing cancels, so rounding keeps it non-increasing in g."""
    roots = np.sqrt(gathered + more)
    roots += np.sqrt(gathered)
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
        self._tightener: Any = None
        self._pays = concave == "sqrt" and not isinstance(features, Sparse) and compiling_pays(features.size)

    def tighten(self, upper: Floats, allowed: Any, costs: Floats | None) -> None:
        """Lower the bounds of what could be picked next; nothing where that would not pay."""
        if self._pays:
            self._compiled().tighten(upper, allowed, costs, self._now)

    def sharpen(self, upper: Floats, items: Ints) -> bool:
        """Lower the bounds of these items nearly to their gains, if that is quicker than computing them."""
        if self._pays:
            self._compiled().sharpen(upper, items, self._now)
        return self._pays

    def bounds(self) -> Floats | None:
        """What each item adds at most, where that is known sooner than what it adds."""
        return self._compiled().bounds(self._now) if self._pays else None

    def _compiled(self) -> Any:
        if self._tightener is None:
            from handful.objectives.roots import RootTightener  # it compiles: not before it is needed

            self._tightener = RootTightener(np.asarray(self._matrix), self._weights, self._now)
        return self._tightener

    def _rises(self, entries: Real, columns: Any) -> Real:
        rises: Real
        if callable(self._concave):
            rises = self._concave(self._now[columns] + entries) - self._concave(self._now[columns])
        else:
            rises = RISES[self._concave](self._now[columns], entries)
        return np.asarray(rises * self._weights[columns])

    def _take(self, entries: Real, columns: Any) -> None:
        if not isinstance(self._matrix, Sparse):
            run_made(self._matrix.size)
        self._gathered[columns] += entries
        self._now = self._gathered.astype(self._type)


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

"""Graph cut: what a set stands for, less what it says twice. And tables of how alike items are to items."""

from __future__ import annotations

import math

import numpy as np

from handful.errors import InvalidProblem
from handful.objectives.arrays import Real, Sparse, Table2D, blocks, ids_of, numbers, table, weights_for
from handful.objectives.growing import Kept
from handful.objectives.relevance import against, relevance
from handful.objectives.similarity import Alike, Metric, alike
from handful.problem import Floats

Pairs = Table2D | Alike

SYMMETRY = 1e-6  # relative: how far similarity[a, b] may be from similarity[b, a]


class GraphCut:
    """f(S) = Σ_c Σ_{s∈S} similarity[s, c] − λ·Σ_{s,t∈S} similarity[s, t]: what S stands for, less what it says twice.

    Similarities are symmetric and ≥ 0; `query` weights the clients c in the first sum. `avoid` are rows of similarities
    for what is there already: f(S) is then what S adds to that. Submodular for λ ≥ 0; monotone only for λ ≤ ½ (and no
    query, and nothing to avoid): beyond, a large S is worth less than a small one and no ratio is promised.
    """

    submodular = True
    keeps_gains = True

    def __init__(self, similarity: object, trade: float = 0.5, *, query: object = None, avoid: object = None) -> None:
        self.similarity: Pairs = square("similarity", similarity, negative=False)
        self.ids = ids_of(similarity)
        weights = None if query is None else weights_for("query weights", query, self.size, "item")
        there = None if avoid is None else numbers("avoid", avoid, 2)
        if there is not None and there.shape[1] != self.size:
            raise InvalidProblem(f"avoid has {there.shape[1]} columns for {self.size} items: give one per item")
        self._settle(trade, weights, there)

    @classmethod
    def from_features(
        cls,
        features: object,
        trade: float = 0.5,
        *,
        metric: str = "cosine",
        negatives: str = "refuse",
        gamma: float | None = None,
        query: object = None,
        avoid: object = None,
    ) -> GraphCut:
        """From one row of features per item; similarities are computed when needed.

        query: relevance weights, one per item; or a table of queries, in which case an item weighs as much as it
        resembles the query most like it. avoid: rows of features that are there already.
        """
        found = cls.__new__(cls)
        pairs = found.similarity = alike(features, Metric(metric, negatives, gamma))
        found.ids = ids_of(features)
        there = None if avoid is None else against(avoid, pairs, "avoid")
        found._settle(trade, None if query is None else relevance(query, pairs), there)
        return found

    def _settle(self, trade: float, weights: Floats | None, avoid: Real | None) -> None:
        if not (0.0 <= trade < math.inf):
            raise InvalidProblem(f"trade (λ) is {trade}: give a number ≥ 0; f is monotone for λ ≤ 0.5")
        self.trade = trade
        self.monotone = trade <= 0.5 and weights is None and avoid is None
        self.stands_for: Floats = _row_sums(self.similarity, weights)
        if avoid is not None:
            self.stands_for -= 2.0 * trade * avoid.sum(axis=0, dtype=np.float64)

    @property
    def size(self) -> int:
        """N, the number of items."""
        return self.similarity.shape[0]

    def start(self) -> GraphCutProgress:
        """Progress at the empty set."""
        return GraphCutProgress(self.similarity, self.trade, self.stands_for)


class GraphCutProgress(Kept):
    """Graph cut at a growing set."""

    def __init__(self, similarity: Pairs, trade: float, stands_for: Floats) -> None:
        super().__init__(stands_for - trade * diagonal_of(similarity))
        self._similarity = similarity
        self._trade = trade

    def _absorb(self, item: int) -> None:
        self._kept = self._kept - 2.0 * self._trade * row_of(self._similarity, item)


def square(what: str, given: object, *, negative: bool) -> Table2D:
    """How alike items are to items: a table that is square and symmetric."""
    matrix = table(what, given, negative=negative)
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidProblem(f"{what} has shape {matrix.shape}: give a square one, how alike items are to items")
    size = matrix.shape[0]
    scale = 0.0
    for item in range(0, size, max(1, size // 64)):  # some rows: an asymmetric table shows in most of them
        row, column = row_of(matrix, item), _column(matrix, item)
        scale = max(scale, float(np.abs(row).max()))
        if np.abs(row - column).max() > SYMMETRY * max(scale, 1e-300):
            other = int(np.abs(row - column).argmax())
            raise InvalidProblem(
                f"{what}[{item}, {other}] is {row[other]:g} but {what}[{other}, {item}] is {column[other]:g}: "
                "give a symmetric table"
            )
    return matrix


def row_of(pairs: Pairs, item: int) -> Floats:
    """How alike one item is to all."""
    if isinstance(pairs, Sparse):
        full = np.zeros(pairs.shape[1])
        entries, columns = pairs.row(item)
        full[columns] = entries
        return full
    row: Real = pairs.row(item) if isinstance(pairs, Alike) else pairs[item]
    return row.astype(np.float64)


def _column(matrix: Table2D, item: int) -> Floats:
    if isinstance(matrix, Sparse):
        at = np.flatnonzero(matrix.indices == item)
        full = np.zeros(matrix.shape[0])
        full[np.searchsorted(matrix.indptr, at, side="right") - 1] = matrix.data[at]
        return full
    return matrix[:, item].astype(np.float64)


def diagonal_of(pairs: Pairs) -> Floats:
    """How alike each item is to itself."""
    if isinstance(pairs, Alike):
        return pairs.diagonal()
    if isinstance(pairs, Sparse):
        return np.array([row_of(pairs, item)[item] for item in range(pairs.shape[0])])
    return np.diagonal(pairs).astype(np.float64)


def _row_sums(pairs: Pairs, weights: Floats | None) -> Floats:
    count, width = pairs.shape
    ones = np.ones(width) if weights is None else weights
    if isinstance(pairs, Sparse):
        rows = np.repeat(np.arange(count), np.diff(pairs.indptr))
        return np.bincount(rows, weights=pairs.data * ones[pairs.indices], minlength=count).astype(np.float64)
    sums = np.empty(count)
    for at in blocks(count, width):
        block = pairs.rows(at) if isinstance(pairs, Alike) else pairs[at]
        if isinstance(pairs, Alike) and block.min() < 0.0:
            raise InvalidProblem(
                f"similarities fall to {block.min():.3g}, and graph cut needs them ≥ 0: say negatives='clip'"
            )
        sums[at] = block @ ones
    return sums

"""Functions of how alike the chosen items are to one another: graph cut, log det, maximal marginal relevance.

Each keeps the gains of all items up to date: a pick costs one row of similarities.
"""

from __future__ import annotations

import math

import numpy as np

from handful.core.objective import Floats
from handful.errors import InvalidProblem
from handful.objectives.arrays import Real, Sparse, Table2D, blocks, ids_of, numbers, real, table
from handful.objectives.growing import Kept
from handful.objectives.similarity import Alike, Metric, alike

Pairs = Table2D | Alike

SYMMETRY = 1e-6  # relative: how far similarity[a, b] may be from similarity[b, a]
ROUNDING = 1e-4  # how far below 1 rounding may bring a pivot of I + αL


class GraphCut:
    """f(S) = Σ_c Σ_{s∈S} similarity[s, c] − λ·Σ_{s,t∈S} similarity[s, t]: what S stands for, less what it says twice.

    Similarities are symmetric and ≥ 0; `query` weights the clients c in the first sum. Submodular for λ ≥ 0; monotone
    only for λ ≤ ½ (and no query): beyond, a large S is worth less than a small one and no ratio is promised.
    """

    submodular = True
    keeps_gains = True

    def __init__(self, similarity: object, trade: float = 0.5, *, query: object = None) -> None:
        self.similarity: Pairs = _square("similarity", similarity, negative=False)
        self.ids = ids_of(similarity)
        self._settle(trade, query)

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
    ) -> GraphCut:
        """From one row of features per item; similarities are computed when needed."""
        found = cls.__new__(cls)
        found.similarity = alike(features, Metric(metric, negatives, gamma))
        found.ids = ids_of(features)
        found._settle(trade, query)
        return found

    def _settle(self, trade: float, query: object) -> None:
        if not (0.0 <= trade < math.inf):
            raise InvalidProblem(f"trade (λ) is {trade}: give a number ≥ 0; f is monotone for λ ≤ 0.5")
        self.trade = trade
        self.monotone = trade <= 0.5 and query is None
        weights = None if query is None else numbers("query", query, 1).astype(np.float64)
        if weights is not None and len(weights) != self.size:
            raise InvalidProblem(f"query has {len(weights)} weights for {self.size} items: give one per item")
        self.stands_for: Floats = _row_sums(self.similarity, weights)

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
        super().__init__(stands_for - trade * _diagonal(similarity))
        self._similarity = similarity
        self._trade = trade

    def _absorb(self, item: int) -> None:
        self._kept = self._kept - 2.0 * self._trade * _row(self._similarity, item)


class LogDet:
    """f(S) = log det(I + α·L_S) for a positive semidefinite similarity L: the volume that S spans (a DPP's).

    Greedy by incremental Cholesky (Chen, Zhang, Zhou 2018): O(N·k²) in all. The I makes it monotone, which
    log det(L_S) is not; the larger α, the nearer to it. Monotone and submodular.
    """

    monotone = True
    submodular = True
    keeps_gains = True

    def __init__(self, similarity: object, alpha: float = 1.0) -> None:
        self.similarity: Pairs = _square("similarity", similarity, negative=True)
        self.ids = ids_of(similarity)
        self.alpha = _positive("alpha", alpha)

    @classmethod
    def from_features(
        cls, features: object, alpha: float = 1.0, *, metric: str = "cosine", gamma: float | None = None
    ) -> LogDet:
        """From one row of features per item; metric "cosine", "dot" or "rbf", which are positive semidefinite."""
        if metric == "euclidean":
            raise InvalidProblem('metric="euclidean" is not positive semidefinite: use "rbf"')
        found = cls.__new__(cls)
        found.similarity = alike(features, Metric(metric, gamma=gamma))
        found.ids = ids_of(features)
        found.alpha = _positive("alpha", alpha)
        return found

    @property
    def size(self) -> int:
        """N, the number of items."""
        return self.similarity.shape[0]

    def memory(self, k: int) -> int:
        """Bytes that picking k items takes: the Cholesky factor, and a copy when it grows."""
        return 8 * self.size * (3 * k + 16)

    def start(self) -> LogDetProgress:
        """Progress at the empty set."""
        return LogDetProgress(self.similarity, self.alpha)


class LogDetProgress(Kept):
    """log det at a growing set: a Cholesky factor that grows by a row with each pick."""

    def __init__(self, similarity: Pairs, alpha: float) -> None:
        self._pivots: Floats = 1.0 + alpha * _diagonal(similarity)
        if self._pivots.min() < 1.0 - ROUNDING:
            raise InvalidProblem(
                f"similarity is not positive semidefinite: its diagonal holds {self._pivots.min() - 1:g}"
            )
        super().__init__(np.log(np.maximum(self._pivots, 1.0)))
        self._similarity = similarity
        self._alpha = alpha
        self._factor: Floats = np.empty((8, len(self._pivots)))

    def _absorb(self, item: int) -> None:
        count = len(self._chosen)
        if count == len(self._factor):
            grown = np.empty((2 * count, self._size))
            grown[:count] = self._factor
            self._factor = grown
        known = self._factor[:count]
        row = self._alpha * _row(self._similarity, item) - known[:, item] @ known
        row /= math.sqrt(max(self._pivots[item], 1.0))
        self._factor[count] = row
        self._pivots = self._pivots - row**2
        self._pivots[[*self._chosen, item]] = 1.0  # their own pivots fall to the noise of the unit matrix: never used
        if self._pivots.min() < 1.0 - ROUNDING * max(1.0, self._alpha):
            raise InvalidProblem(
                "similarity is not positive semidefinite: after "
                f"{count + 1} picks a pivot of I + αL is {self._pivots.min():g}, below 1; use a kernel such as rbf"
            )
        self._kept = np.log(np.maximum(self._pivots, 1.0))


class MarginalRelevance:
    """Maximal marginal relevance (MMR): the next item has the largest (1 − d)·relevance − d·(similarity to the nearest
    chosen item), d = diversity.

    A rule for ranking, not a function of a set: what an item adds depends on what is there already, but the sum of what
    was added depends on the order. What an item adds only falls, so all optimizers agree; no ratio is promised.
    Similarities below zero count as 0, before the first pick as well; they are computed in single precision.
    """

    monotone = False
    submodular = True  # in the sense that gains only fall
    keeps_gains = True
    ordered = True  # the value depends on the order: there is no bound

    def __init__(self, features: object, relevance: object, diversity: float = 0.5, *, metric: str = "cosine") -> None:
        if not 0.0 <= diversity <= 1.0:
            raise InvalidProblem(f"diversity is {diversity}: give a number between 0 (relevance alone) and 1")
        rows = real("features", features).astype(np.float32, copy=False)
        self.similarity = alike(rows, Metric(metric, "clip"))
        self.ids = ids_of(features)
        self.relevance: Floats = numbers("relevance", relevance, 1, negative=True).astype(np.float64)
        if len(self.relevance) != self.size:
            raise InvalidProblem(f"{len(self.relevance)} relevances for {self.size} items: give one per item")
        self.diversity = diversity

    @property
    def size(self) -> int:
        """N, the number of items."""
        return self.similarity.shape[0]

    def start(self) -> MarginalRelevanceProgress:
        """Progress at the empty set."""
        return MarginalRelevanceProgress(self.similarity, self.relevance, self.diversity)


class MarginalRelevanceProgress(Kept):
    """MMR at a growing ranking: how near each item is to what is ranked already."""

    def __init__(self, similarity: Alike, relevance: Floats, diversity: float) -> None:
        self._worth = (1.0 - diversity) * relevance
        super().__init__(self._worth)
        self._similarity = similarity
        self._diversity = diversity
        self._nearest = np.zeros(len(relevance), dtype=similarity.items.dtype)

    def _absorb(self, item: int) -> None:
        np.maximum(self._nearest, self._similarity.row(item), out=self._nearest)
        self._kept = self._worth - self._diversity * self._nearest


def _square(what: str, given: object, *, negative: bool) -> Table2D:
    matrix = table(what, given, negative=negative)
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidProblem(f"{what} has shape {matrix.shape}: give a square one, how alike items are to items")
    size = matrix.shape[0]
    scale = 0.0
    for item in range(0, size, max(1, size // 64)):  # some rows: an asymmetric table shows in most of them
        row, column = _row(matrix, item), _column(matrix, item)
        scale = max(scale, float(np.abs(row).max()))
        if np.abs(row - column).max() > SYMMETRY * max(scale, 1e-300):
            other = int(np.abs(row - column).argmax())
            raise InvalidProblem(
                f"{what}[{item}, {other}] is {row[other]:g} but {what}[{other}, {item}] is {column[other]:g}: "
                "give a symmetric table"
            )
    return matrix


def _positive(what: str, x: float) -> float:
    if not 0.0 < x < math.inf:
        raise InvalidProblem(f"{what} is {x}: give a number above 0")
    return x


def _row(pairs: Pairs, item: int) -> Floats:
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


def _diagonal(pairs: Pairs) -> Floats:
    if isinstance(pairs, Alike):
        return pairs.diagonal()
    if isinstance(pairs, Sparse):
        return np.array([_row(pairs, item)[item] for item in range(pairs.shape[0])])
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

"""Sets of items that are unlike one another: graph cut, log det, and maximal marginal relevance."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from handful.errors import InvalidProblem
from handful.objectives.arrays import Real, RowIndex, Sparse, Table2D, blocks, ids_of, numbers, real, table, weights_for
from handful.objectives.progress import KnownGains, Progress
from handful.objectives.similarity import Alike, Metric, against, alike, alike_to, relevance
from handful.problem import Floats, Ints

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


class GraphCutProgress(KnownGains):
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


ROUNDING = 1e-4  # how far below 1 rounding may bring a pivot of I + αL


class LogDet:
    """f(S) = log det(I + α·L_S) for a positive semidefinite similarity L: the volume that S spans (a DPP's).

    Greedy by incremental Cholesky (Chen, Zhang, Zhou 2018): O(N·k²) in all. The I makes it monotone, which
    log det(L_S) is not; the larger α, the nearer to it. `query` are relevance weights q, one per item: L becomes
    q_i·L_ij·q_j, so that the volume of what matters counts. `avoid` is what is there already, f(S) then what S adds to
    it: one row of similarities for each, first to the items and then to all that is avoided. Monotone and submodular.
    """

    monotone = True
    submodular = True
    keeps_gains = True

    def __init__(self, similarity: object, alpha: float = 1.0, *, query: object = None, avoid: object = None) -> None:
        self.similarity: Pairs = square("similarity", similarity, negative=True)
        self.ids = ids_of(similarity)
        weights = None if query is None else weights_for("query weights", query, self.size, "item")
        there = None
        if avoid is not None:
            given = numbers("avoid", avoid, 2, negative=True)
            if given.shape[1] != self.size + len(given):
                raise InvalidProblem(
                    f"avoid has shape {given.shape}: for {self.size} items and {len(given)} to be avoided give rows of "
                    f"{self.size + len(given)} similarities, to the items and then to one another"
                )
            there = given[:, : self.size], given[:, self.size :]
        self._settle(alpha, weights, there)

    @classmethod
    def from_features(
        cls,
        features: object,
        alpha: float = 1.0,
        *,
        metric: str = "cosine",
        gamma: float | None = None,
        query: object = None,
        avoid: object = None,
    ) -> LogDet:
        """From one row of features per item; metric "cosine", "dot" or "rbf", which are positive semidefinite.

        query: relevance weights, one per item; or a table of queries, in which case an item weighs as much as it
        resembles the query most like it. avoid: rows of features that are there already.
        """
        if metric == "euclidean":
            raise InvalidProblem('metric="euclidean" is not positive semidefinite: use "rbf"')
        found = cls.__new__(cls)
        pairs = found.similarity = alike(features, Metric(metric, gamma=gamma))
        found.ids = ids_of(features)
        there = None
        if avoid is not None:
            rows = alike_to(avoid, pairs, "avoid")
            to_one_another = replace(rows, clients=rows.items, client_lengths=rows.item_lengths)
            there = rows.all(), to_one_another.all()
        found._settle(alpha, None if query is None else relevance(query, pairs), there)
        return found

    def _settle(self, alpha: float, weights: Floats | None, avoid: tuple[Real, Real] | None) -> None:
        if not 0.0 < alpha < math.inf:
            raise InvalidProblem(f"alpha is {alpha}: give a number above 0")
        self.alpha = alpha
        self.weights = weights
        self.before: Floats | None = None  # the rows of the Cholesky factor for what is there already
        if avoid is not None:
            to_items, to_one_another = (x.astype(np.float64) for x in avoid)
            try:
                factor = np.linalg.cholesky(np.eye(len(to_items)) + alpha * to_one_another)
            except np.linalg.LinAlgError:
                raise InvalidProblem("what is avoided has similarities that are not positive semidefinite") from None
            scaled = alpha * to_items if weights is None else alpha * to_items * weights
            self.before = np.linalg.solve(factor, scaled)

    @property
    def size(self) -> int:
        """N, the number of items."""
        return self.similarity.shape[0]

    def memory(self, k: int) -> int:
        """Bytes that picking k items takes: the Cholesky factor, and a copy when it grows."""
        return 8 * self.size * (3 * k + 16)

    def start(self) -> LogDetProgress:
        """Progress at the empty set."""
        return LogDetProgress(self.similarity, self.alpha, self.weights, self.before)


class LogDetProgress(KnownGains):
    """log det at a growing set: a Cholesky factor that grows by a row with each pick."""

    def __init__(
        self, similarity: Pairs, alpha: float, weights: Floats | None = None, before: Floats | None = None
    ) -> None:
        own = diagonal_of(similarity)
        self._pivots: Floats = 1.0 + alpha * (own if weights is None else own * weights**2)
        self._rows = 0 if before is None else len(before)
        self._factor: Floats = np.empty((8 + self._rows, len(self._pivots)))
        if before is not None:
            self._factor[: self._rows] = before
            self._pivots -= (before**2).sum(axis=0)
        if self._pivots.min() < 1.0 - ROUNDING * max(1.0, alpha):
            raise InvalidProblem(
                f"similarity is not positive semidefinite: a pivot of I + αL is {self._pivots.min():g}, below 1"
            )
        super().__init__(np.log(np.maximum(self._pivots, 1.0)))
        self._similarity = similarity
        self._alpha = alpha
        self._weights = weights

    def _absorb(self, item: int) -> None:
        count = self._rows
        if count == len(self._factor):
            grown = np.empty((2 * count, self._size))
            grown[:count] = self._factor
            self._factor = grown
        known = self._factor[:count]
        row = self._alpha * row_of(self._similarity, item)
        if self._weights is not None:
            row *= self._weights[item] * self._weights
        row -= known[:, item] @ known
        row /= math.sqrt(max(self._pivots[item], 1.0))
        self._factor[count] = row
        self._rows += 1
        self._pivots = self._pivots - row**2
        self._pivots[[*self._chosen, item]] = 1.0  # their own pivots fall to the noise of the unit matrix: never used
        if self._pivots.min() < 1.0 - ROUNDING * max(1.0, self._alpha):
            raise InvalidProblem(
                "similarity is not positive semidefinite: after "
                f"{count + 1} picks a pivot of I + αL is {self._pivots.min():g}, below 1; use a kernel such as rbf"
            )
        self._kept = np.log(np.maximum(self._pivots, 1.0))


FRONT = 512  # items kept up to date at first: the most relevant ones


class MarginalRelevance:
    """Maximal marginal relevance (MMR): the next item has the largest (1 − d)·relevance − d·(similarity to the nearest
    chosen item), d = diversity.

    A rule for ranking, not a function of a set: what an item adds depends on what is there already, but the sum of what
    was added depends on the order. What an item adds only falls, so all optimizers agree; no ratio is promised.
    Similarities below zero count as 0, before the first pick as well; they are computed in single precision.
    """

    monotone = False
    submodular = True  # in the sense that gains only fall
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


class MarginalRelevanceProgress(Progress):
    """MMR at a growing ranking: how near each item is to what is ranked already, as far as that was asked.

    What an item adds is at most its relevance. So only the most relevant items, the front, are compared with each new
    pick; the front grows when an item behind it might be the next.
    """

    def __init__(self, similarity: Alike, relevance: Floats, diversity: float) -> None:
        super().__init__(len(relevance))
        self._pairs = similarity
        self._worth = (1.0 - diversity) * relevance
        self._diversity = diversity
        self._nearest: Real = np.zeros(len(relevance), dtype=similarity.items.dtype)
        self._seen: Ints = np.zeros(len(relevance), dtype=np.int64)  # so many picks it was compared with
        self._front: _Front | None = None

    def gains(self, items: Ints | None = None) -> Floats:
        """What each item, or each of these, would add; zero on S."""
        wanted = np.arange(self._size) if items is None else items
        gains = self._gains(wanted)
        gains[self._inside[wanted]] = 0.0
        if len(wanted) == 1:
            self._last = int(wanted[0]), float(gains[0])
        return gains

    def bounds(self) -> Floats:
        """What each item adds at most, before any pick: its relevance."""
        return self._worth

    def tighten(self, upper: Floats, allowed: Any, costs: Floats | None) -> None:
        """Lower the bounds of what could be picked next."""
        if costs is not None or self._pairs.metric.name not in ("cosine", "dot"):
            return
        if self._front is None:
            self._front = _Front(self._pairs, self._worth, self._diversity)
        self._front.tighten(upper, allowed, self._chosen)

    def _gains(self, rows: RowIndex) -> Floats:
        items = np.arange(self._size)[rows] if isinstance(rows, slice) else rows
        self._catch_up(items)
        return np.asarray(self._worth[items] - self._diversity * self._nearest[items].astype(np.float64))

    def _catch_up(self, items: Ints) -> None:
        """Compare these items with the picks they have not been compared with.

        Dot products are added up row by row, in the same order whoever asks, so that a gain is the same to the bit.
        """
        stale = items[self._seen[items] < len(self._chosen)]
        if not len(stale):
            return
        pairs, finish = self._pairs, self._pairs.metric.finish
        picks = np.array(self._chosen[int(self._seen[stale].min()) :])
        if len(stale) == 1:
            dots = np.einsum("ij,j->i", pairs.items[picks], pairs.items[stale[0]])[:, np.newaxis]
            near = finish(dots, pairs.item_lengths[picks], pairs.item_lengths[stale]).max(axis=0)
            self._nearest[stale] = np.maximum(self._nearest[stale], near)
        else:
            rows, lengths = pairs.items[stale], pairs.item_lengths[stale]
            for pick in picks.tolist():
                dots = np.einsum("ij,j->i", rows, pairs.items[pick])[np.newaxis]
                near = finish(dots, pairs.item_lengths[pick : pick + 1], lengths)[0]
                self._nearest[stale] = np.maximum(self._nearest[stale], near)
        self._seen[stale] = len(self._chosen)

    def _absorb(self, item: int) -> None:
        pass  # the item is compared with others when they are asked for


class _Front:
    """The most relevant items, and bounds of what they would add."""

    def __init__(self, pairs: Alike, worth: Floats, diversity: float) -> None:
        self._pairs = pairs
        self._worth = worth
        self._order: Ints = np.argsort(-worth, kind="stable")
        self._diversity = diversity
        longest = float(pairs.item_lengths.max())
        rounding = 4.0 * pairs.items.shape[1] * float(np.finfo(pairs.items.dtype).eps) * longest
        self._slack = diversity * rounding
        self._picks = 0  # so many picks the front was compared with
        self._grow(min(FRONT, len(worth)), ())

    def tighten(self, upper: Floats, allowed: Any, chosen: tuple[int, ...]) -> None:
        """Compare the front with the picks since, and let it grow as long as an item behind it could be the next."""
        for pick in chosen[self._picks :]:
            np.dot(self._rows, self._pairs.items[pick], out=self._dots)
            np.maximum(self._nearest, self._dots, out=self._nearest)
        self._picks = len(chosen)
        while True:
            bounds = self._relevance - self._diversity * self._nearest
            upper[self._items] = bounds
            best = np.where(allowed[self._items], bounds, -np.inf).max()
            if self._behind < best or len(self._items) == len(self._worth):
                return
            self._grow(min(2 * len(self._items), len(self._worth)), chosen)

    def _grow(self, count: int, chosen: tuple[int, ...]) -> None:
        self._items = self._order[:count]
        self._rows: Real = self._pairs.items[self._items]
        self._relevance: Floats = self._worth[self._items] + self._slack
        self._behind = self._worth[self._order[count]] if count < len(self._order) else -np.inf
        self._dots: Real = np.empty(count, dtype=self._rows.dtype)
        self._nearest: Real = np.zeros(count, dtype=self._rows.dtype)
        for start in range(0, len(chosen), 64):
            near = (self._rows @ self._pairs.items[list(chosen[start : start + 64])].T).max(axis=1)
            np.maximum(self._nearest, near, out=self._nearest)
        self._picks = len(chosen)

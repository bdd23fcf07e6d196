"""log det(I + αL): the volume that the chosen items span. Greedy by a Cholesky factor that grows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from handful.errors import InvalidProblem
from handful.objectives.arrays import Real, ids_of, numbers, weights_for
from handful.objectives.growing import Kept
from handful.objectives.pairs import Pairs, diagonal_of, row_of, square
from handful.objectives.relevance import relevance
from handful.objectives.similarity import Metric, alike, alike_to
from handful.problem import Floats

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


class LogDetProgress(Kept):
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

"""Facility location: every client is served by the chosen item most similar to it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from handful.errors import InvalidProblem
from handful.objectives.arrays import Real, Sparse, Table2D, ids_of, numbers, real, table, weights_for
from handful.objectives.growing import Columns, Growing
from handful.objectives.machine import SHARE, free_memory
from handful.objectives.relevance import against, relevance
from handful.objectives.similarity import Alike, Metric, alike, dense_rows
from handful.objectives.streamed import StreamedProgress, gains_of_all, refuse_negatives
from handful.problem import Floats, Ints

LARGE = 1_000_000  # cells: where compiled bounds pay, from the second such run of a process on
RUNS = [0]  # made over large tables in this process
ROUNDING = 1e-9  # what the order of additions can change in a sum, and more


class FacilityLocation:
    """f(S) = Σ_c max_{s∈S} similarity[s, c], similarities ≥ 0; one row per item, one column per client.

    With items as their own clients it picks representatives: a summary in which everything finds something like itself.
    `query` weights the clients: what matters more, counts more. `avoid` are rows of similarities for what is there
    already: only what serves a client better than that counts. Monotone and submodular.
    """

    monotone = True
    submodular = True

    def __init__(self, similarity: object, *, query: object = None, avoid: object = None) -> None:
        sums: list[Floats] = []
        self.alone: Floats | None = None  # what each item adds to nothing, where that is known
        self.packed: Any = _packed(similarity)  # the table in bytes, where compiled code pays
        self.similarity: Table2D | Alike
        if self.packed is None:
            self.similarity = table("similarity", similarity, sums=sums)
        else:
            self.similarity = self.packed.table
        if sums and query is None and avoid is None:
            self.alone = sums[0]
        self.ids = ids_of(similarity)
        self.weights: Floats | None = None  # of the clients; where a table is kept, they are multiplied into it
        self.sampled: tuple[int, int] | None = None  # so many clients were drawn of so many
        self.most: float | None = None  # the largest similarity there can be, where that is known
        clients = self.similarity.shape[1]
        if query is not None:
            self.weights = weights_for("query weights", query, clients, "client")
        self.served: Floats = np.zeros(clients)
        if avoid is not None:
            there = numbers("avoid", avoid, 2)
            if there.shape[1] != clients:
                raise InvalidProblem(f"avoid has {there.shape[1]} columns, similarity has {clients}: give as many")
            self.served = there.max(axis=0).astype(np.float64)
        self._keep()

    @classmethod
    def from_features(
        cls,
        features: object,
        *,
        metric: str = "cosine",
        negatives: str = "refuse",
        gamma: float | None = None,
        represent: int | object | None = None,
        query: object = None,
        avoid: object = None,
        seed: int = 0,
        dtype: type = np.float32,
    ) -> FacilityLocation:
        """From one row of features per item; similarities are kept where they fit into a quarter of the free memory,
        else computed in portions. The picks are the same, but for ties within rounding.

        metric: "cosine", "dot", "rbf" or "euclidean", see `handful.objectives.Metric`; `negatives` says what is done
        with similarities below zero: "refuse", "clip", or "shift" (cosines, by 1).
        represent: the rows to be represented, if not the items themselves; a whole number draws so many items by
        `seed` (f is then an estimate of the whole: see `error`).
        query: relevance weights, one per row to be represented; or a table of queries, in which case a row weighs as
        much as it resembles the query most like it. avoid: rows that are there already.
        dtype: the precision of similarities, numpy.float32 or numpy.float64, which takes twice the time and memory.
        """
        if dtype not in (np.float32, np.float64):
            raise InvalidProblem(f"dtype is {dtype!r}: give numpy.float32 or numpy.float64")
        how = Metric(metric, negatives, gamma)
        items = real("features", dense_rows("features", features))
        if items.ndim != 2:
            items = numbers("features", items, 2, negative=True)
        others, drawn = _represented(items, represent, seed)
        pairs = alike(items, how, others, "represent", dtype)
        weights = relevance(query, pairs)
        served = None if avoid is None else against(avoid, pairs, "avoid").max(axis=0)
        found = cls.__new__(cls)
        found.similarity, found.ids, found.alone, found.packed = pairs, ids_of(features), None, None
        found.weights = weights if drawn is None else weights * (len(items) / drawn)
        found.most = None if pairs.metric.most is None else pairs.metric.most * float(weights.max())
        found.sampled = None if drawn is None else (drawn, len(items))
        found.served = np.zeros(pairs.shape[1]) if served is None else np.maximum(served, 0.0).astype(np.float64)
        if found.weights is not None and (found.weights == 1.0).all():
            found.weights = None
        if math.prod(pairs.shape) * pairs.items.itemsize <= SHARE * free_memory():
            found.similarity = kept = pairs.all()
            least = float(kept.min())
            refuse_negatives(least, pairs)
            if least < 0.0:
                np.maximum(kept, 0.0, out=kept)
        elif not found.served.any() and (sums := pairs.sums(found.weights)) is not None:
            found.alone = sums
        elif pairs.may_fall_below_zero:
            found.alone = gains_of_all(pairs, found.served, found.weights, refuse=True)
        found._keep()
        return found

    def _keep(self) -> None:
        """Multiply the weights into a kept table, so that only one thing is to be looked at from then on."""
        if self.weights is None or isinstance(self.similarity, Alike):
            return
        if isinstance(self.similarity, Sparse):
            s = self.similarity
            self.similarity = Sparse(
                s.data * self.weights[s.indices].astype(s.data.dtype), s.indices, s.indptr, s.shape
            )
        else:
            self.similarity = self.similarity * self.weights.astype(self.similarity.dtype)
        self.served = self.served * self.weights
        self.weights = self.packed = None

    @property
    def size(self) -> int:
        """N, the number of items."""
        return self.similarity.shape[0]

    def start(self) -> Growing:
        """Progress at the empty set."""
        if isinstance(self.similarity, Alike):
            return StreamedProgress(self.similarity, self.weights, self.served, self.alone)
        return FacilityProgress(self.similarity, self.served, self.alone, self.packed)

    def error(self, k: int, delta: float = 0.05) -> float:
        """How far f may be from the f of all clients, with probability 1 − delta, for all sets of k items at once.

        Zero where no clients were drawn; infinite for "dot", which has no largest value. By Hoeffding's inequality and
        a union bound over the sets.
        """
        if self.sampled is None:
            return 0.0
        drawn, of = self.sampled
        if self.most is None:
            return math.inf
        sets = k * math.log(math.e * self.size / k)
        return of * self.most * math.sqrt((sets + math.log(2.0 / delta)) / (2.0 * drawn))


class FacilityProgress(Columns):
    """Facility location at a growing set: how well each client is served already."""

    def __init__(self, similarity: Table2D, served: Floats, alone: Floats | None, packed: Any = None) -> None:
        super().__init__(similarity)
        self._served: Real = served.astype((similarity.data if isinstance(similarity, Sparse) else similarity).dtype)
        self._alone = alone
        self._packed = packed
        self._tightener: Any = None
        self._pays = not isinstance(similarity, Sparse) and _compiling_pays(similarity.size)

    def gains(self, items: Ints | None = None) -> Floats:
        """f(a | S) for every item a, or for these items; zero on S."""
        if self._alone is not None and not self._chosen:
            return self._alone.copy() if items is None else self._alone[items]
        if self._tightener is not None:
            self._tightener.exact(items)
        return super().gains(items)

    def bounds(self) -> Floats | None:
        """What each item adds at most, where that is known before any gain is computed."""
        return None if self._packed is None or self._chosen else self._packed.sums * (1.0 + ROUNDING)

    def tighten(self, upper: Floats, allowed: Any, costs: Floats | None) -> None:
        """Lower the bounds of what could be picked next; nothing where that would not pay."""
        if self._pays:
            self._compiled().tighten(upper, allowed, costs, self._served)

    def sharpen(self, upper: Floats, items: Ints) -> bool:
        """Lower the bounds of these items nearly to their gains, if that is quicker than computing them."""
        if self._pays:
            self._compiled().sharpen(upper, items, self._served)
        return self._pays

    def _compiled(self) -> Any:
        if self._tightener is None:
            from handful.objectives.packed import Tightener

            if self._packed is None:
                self._packed = _packed(self._matrix)
            self._tightener = Tightener(self._packed)
        return self._tightener

    def _rises(self, entries: Real, columns: Any) -> Real:
        rises = entries - self._served[columns]
        return np.maximum(rises, 0.0, out=rises)

    def _take(self, entries: Real, columns: Any) -> None:
        if not isinstance(self._matrix, Sparse):
            RUNS[0] += self._matrix.size >= LARGE
        self._served = self._served.copy()
        self._served[columns] = np.maximum(self._served[columns], entries)
        if self._tightener is not None:
            self._tightener.changed()


def _compiling_pays(cells: int) -> bool:
    """Whether bounds from a table of so many cells shall be tightened by compiled code."""
    return cells >= LARGE and RUNS[0] > 0


def _packed(similarity: object) -> Any:
    """The table in bytes, where compiled code pays; None elsewhere, and for one that is to be refused."""
    if hasattr(similarity, "tocsr") or isinstance(similarity, Sparse):
        return None
    given = real("similarity", similarity)
    if given.ndim != 2 or not _compiling_pays(given.size):
        return None
    from handful.objectives.packed import packed  # it compiles: not before it is needed

    return packed(given)


def _represented(items: Real, represent: object, seed: int) -> tuple[object, int | None]:
    """The rows to be represented (None: the items), and how many were drawn."""
    if represent is None:
        return None, None
    if isinstance(represent, (int, np.integer)) and not isinstance(represent, bool):
        if represent < 1:
            raise InvalidProblem(f"represent is {represent}: draw at least one row")
        if represent >= len(items):
            return None, None
        drawn: Ints = np.sort(np.random.default_rng(seed).choice(len(items), size=int(represent), replace=False))
        return items[drawn], int(represent)
    return represent, None

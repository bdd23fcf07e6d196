"""Facility location: every client is served by the chosen item most similar to it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from handful.errors import InvalidProblem
from handful.objectives.arrays import (
    SHARE,
    Real,
    RowIndex,
    Sparse,
    Table2D,
    blocks,
    free_memory,
    ids_of,
    numbers,
    real,
    table,
    weights_for,
)
from handful.objectives.progress import Columns, Progress
from handful.objectives.similarity import Alike, Metric, against, alike, dense_rows, relevance, squares
from handful.problem import Floats, Ints

LARGE = 1_000_000  # cells: where compiled bounds pay, from the second such run of a process on
RUNS = [0]  # made over large tables in this process
ROUNDING = 1e-9  # what the order of additions can change in a sum, and more
WIDE = 2048  # clients at once: with them a portion of similarities fits a cache, and all cores have work
FEW = 512  # as many items are asked for together when they are candidates for the next pick
NEGATIVE = (
    "similarities fall to {least:.3g}, and facility location needs them ≥ 0: "
    "say negatives='clip' (take them for 0){or_}"
)


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
            least, sums = _least_and_sums(kept)
            refuse_negatives(least, pairs)
            if least < 0.0:
                np.maximum(kept, 0.0, out=kept)
            elif found.weights is None and not found.served.any():
                found.alone = sums
        elif not found.served.any() and (added := pairs.sums(found.weights)) is not None:
            found.alone = added
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

    def start(self) -> Progress:
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
            from handful.objectives.bytes_table import Tightener

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


def _least_and_sums(kept: Real) -> tuple[float, Floats]:
    """The least number of a table, and the sum of each row."""
    least, sums = 0.0, np.empty(len(kept))
    for at in blocks(*kept.shape):
        least = min(least, float(kept[at].min()))
        sums[at] = kept[at].sum(axis=-1, dtype=np.float64)
    return least, sums


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
    from handful.objectives.bytes_table import bytes_table  # it compiles: not before it is needed

    return bytes_table(given)


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


class StreamedProgress(Progress):
    """Facility location at a growing set, from features where the table of similarities would be too large to keep.

    Similarities are computed in squares by products of matrices, and used at once. Rows that are asked for again and
    again, those of the items that come next, are kept as far as a quarter of the free memory goes. What is picked is
    what the table would give, but for ties within rounding.
    """

    at_once = FEW

    def __init__(self, alike: Alike, weights: Floats | None, served: Floats, alone: Floats | None) -> None:
        super().__init__(alike.shape[0])
        kind = alike.items.dtype
        self._alike = alike
        self._alone = alone
        self._served: Real = served.astype(kind)
        self._weights: Real | None = None if weights is None else weights.astype(kind)
        self._places: Ints = np.full(alike.shape[0], -1)  # of the rows that are kept
        self._count = 0
        room = SHARE * free_memory() / (kind.itemsize * alike.shape[1])
        self._kept: Real = np.empty((min(alike.shape[0], int(room)), alike.shape[1]), dtype=kind)

    def gains(self, items: Ints | None = None) -> Floats:
        """f(a | S) for every item a, or for these items; zero on S."""
        gains = self._gains(slice(None) if items is None else items)
        if self._chosen:
            gains[self._inside if items is None else self._inside[items]] = 0.0
        return gains

    def _gain(self, item: int) -> float:
        return float(self._gains(np.array([item]))[0])

    def _gains(self, rows: RowIndex) -> Floats:
        if self._alone is not None and not self._chosen:
            return self._alone[rows].copy()
        wanted = np.arange(self._size)[rows] if isinstance(rows, slice) else rows
        if self._alike.symmetric and 2 * len(wanted) > self._size:
            return gains_of_all(self._alike, self._served, self._weights)[wanted]
        gains = np.empty(len(wanted))
        keeps = len(wanted) <= FEW
        for at in squares(len(wanted)):
            items = wanted[at]
            known = self._places[items] >= 0
            gains[at][known] = self._of_kept(self._places[items[known]])
            gains[at][~known] = self._of_computed(items[~known], keeps)
        return gains

    def _of_kept(self, places: Ints) -> Floats:
        return np.array([_excess(self._kept[place : place + 1], self._served, self._weights)[0] for place in places])

    def _of_computed(self, items: Ints, keep: bool) -> Floats:
        gains = np.zeros(len(items))
        first, last = self._count, self._count + len(items)
        keep = keep and last <= len(self._kept)
        for start in range(0, self._alike.shape[1] if len(items) else 0, WIDE):
            columns = slice(start, start + WIDE)
            part = self._alike.rows(items, columns)
            if keep:
                self._kept[first:last, columns] = part
            weights = None if self._weights is None else self._weights[columns]
            gains += _excess(part, self._served[columns], weights)
        if keep:
            self._places[items] = np.arange(first, last)
            self._count = last
        return gains

    def _absorb(self, item: int) -> None:
        place = self._places[item]
        row = self._alike.rows(np.array([item]))[0] if place < 0 else self._kept[place]
        self._served = np.maximum(self._served, row)


def gains_of_all(alike: Alike, served: Real, weights: Real | None, *, refuse: bool = False) -> Floats:
    """Σ_c weights[c]·max(similarity to c − served[c], 0) of all items; with `refuse` no similarity may be below zero.

    Where items are the clients, a similarity is computed once for both.
    """
    items, clients = alike.shape
    gains = np.zeros(items)
    for at in squares(items):
        for start in range(at.start if alike.symmetric else 0, clients, WIDE):
            columns = slice(start, min(start + WIDE, clients))
            part = alike.rows(at, columns)
            if refuse:
                refuse_negatives(float(part.min()), alike)
            if alike.symmetric and columns.stop > at.stop:  # the other half: items as clients of the later ones
                beyond = max(at.stop, start)
                theirs = None if weights is None else weights[at]
                gains[beyond : columns.stop] += _excess_below(part[:, beyond - start :], served[at], theirs)
            gains[at] += _excess(part, served[columns], None if weights is None else weights[columns])
    return gains


def _excess(part: Real, served: Real, weights: Real | None) -> Floats:
    """Σ_c weights[c]·max(part[i, c] − served[c], 0) for each row."""
    rises = part - served
    np.maximum(rises, 0.0, out=rises)
    sums: Real = rises.sum(axis=1, dtype=np.float64) if weights is None else rises @ weights
    return sums.astype(np.float64, copy=False)


def _excess_below(part: Real, served: Real, weights: Real | None) -> Floats:
    """Σ_i weights[i]·max(part[i, c] − served[i], 0) for each column."""
    rises = part - served[:, np.newaxis]
    np.maximum(rises, 0.0, out=rises)
    sums: Real = (np.ones(len(part), dtype=part.dtype) if weights is None else weights) @ rises
    return sums.astype(np.float64)


def refuse_negatives(least: float, alike: Alike) -> None:
    """Facility location needs similarities ≥ 0; what rounding takes off them is none of the user's doing."""
    if least < -alike.rounding:
        also = ", or negatives='shift' (add 1 to every cosine)" if alike.metric.name == "cosine" else ""
        raise InvalidProblem(NEGATIVE.format(least=least, or_=also))

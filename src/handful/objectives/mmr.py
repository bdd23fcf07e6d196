"""Maximal marginal relevance: a rule for ranking by relevance and by how unlike the items ranked so far an item is."""

from __future__ import annotations

from typing import Any

import numpy as np

from handful.errors import InvalidProblem
from handful.objectives.arrays import Real, RowIndex, ids_of, numbers, real
from handful.objectives.growing import Growing
from handful.objectives.similarity import Alike, Metric, alike
from handful.problem import Floats, Ints

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


class MarginalRelevanceProgress(Growing):
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

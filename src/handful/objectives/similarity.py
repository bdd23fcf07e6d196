"""How alike rows of features are; what matters more (`query`) and what is there already (`avoid`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.errors import InvalidProblem
from handful.objectives.arrays import Real, RowIndex, blocks, numbers, real, refuse_zeros, weights_for
from handful.problem import Floats

ALL = slice(None)
SQUARE = 512  # rows at once in a product of matrices
TINY = {4: 1e-30, 8: 1e-290}  # squared lengths below this are computed again, of rows that were scaled
METRICS = ("cosine", "dot", "rbf", "euclidean")
DENSE = 2e9  # bytes that sparse features may take with their zeros
NEGATIVES = ("refuse", "clip", "shift")


@dataclass(frozen=True)
class Metric:
    """How alike two rows x and y are.

    "cosine": x·y/(‖x‖‖y‖), 0 if a row is zero. "dot": x·y. "rbf": exp(−γ‖x − y‖²), γ = 1/columns if not given.
    "euclidean": reach − ‖x − y‖, where reach is at least the largest distance, so that nothing is below zero.

    What is done where a similarity is below zero: "refuse" it, "clip" it to 0, or "shift" all cosines by 1.
    """

    name: str = "cosine"
    negatives: str = "refuse"
    gamma: float | None = None
    reach: float = 0.0

    def __post_init__(self) -> None:
        if self.name not in METRICS:
            raise InvalidProblem(f"metric is {self.name!r}: give one of {', '.join(METRICS)}")
        if self.negatives not in NEGATIVES:
            raise InvalidProblem(f"negatives is {self.negatives!r}: give one of {', '.join(NEGATIVES)}")
        if self.negatives == "shift" and self.name != "cosine":
            raise InvalidProblem('negatives="shift" is for cosines, whose least value is known: use "clip"')
        if self.gamma is not None and not 0.0 < self.gamma < float("inf"):
            raise InvalidProblem(f"gamma is {self.gamma}: give a number above 0")

    def finish(self, dots: Real, left: Real, right: Real) -> Real:
        """Dot products of prepared rows, made similarities in place; `left`, `right` are the rows' squared lengths."""
        if self.name in ("rbf", "euclidean"):
            dots *= -2.0
            dots += left[:, np.newaxis]
            dots += right
            np.maximum(dots, 0.0, out=dots)  # squared distances; rounding may fall below 0
            if self.name == "rbf":
                dots *= -float(self.gamma or 1.0)
                return np.exp(dots, out=dots)
            np.sqrt(dots, out=dots)
            return np.subtract(dots.dtype.type(self.reach), dots, out=dots)
        if self.negatives == "clip":
            return np.maximum(dots, 0.0, out=dots)
        if self.negatives == "shift":
            np.maximum(dots, -1.0, out=dots)
            dots += 1.0
        return dots

    @property
    def most(self) -> float | None:
        """The largest similarity there can be, where that is known."""
        return {"cosine": 2.0 if self.negatives == "shift" else 1.0, "rbf": 1.0, "euclidean": self.reach}.get(self.name)


@dataclass(frozen=True)
class Alike:
    """The similarities of items to clients: rows of features, prepared for the metric."""

    items: Real
    clients: Real
    metric: Metric
    item_lengths: Real
    client_lengths: Real
    centre: Floats | None = None  # what was taken off all rows: distances are the same, and rounding is less

    @property
    def shape(self) -> tuple[int, int]:
        """Items, clients."""
        return len(self.items), len(self.clients)

    @property
    def symmetric(self) -> bool:
        """Whether the items are the clients."""
        return self.items is self.clients

    def rows(self, rows: RowIndex, columns: slice = ALL, out: Real | None = None) -> Real:
        """The similarities of these items to all clients, or to these."""
        dots = np.matmul(self.items[rows], self.clients[columns].T, out=out)
        return self.metric.finish(dots, self.item_lengths[rows], self.client_lengths[columns])

    def row(self, item: int) -> Real:
        """The similarities of one item to all clients."""
        dots = (self.clients @ self.items[item])[np.newaxis]
        row: Real = self.metric.finish(dots, self.item_lengths[item : item + 1], self.client_lengths)[0]
        return row

    def all(self) -> Real:
        """The whole table; where items are the clients, half of it is computed."""
        table: Real = np.empty(self.shape, dtype=self.items.dtype)
        for at in squares(len(self.items)):
            if not self.symmetric:
                self.rows(at, out=table[at])
                continue
            self.rows(at, slice(at.start, None), out=table[at, at.start :])
            for other in squares(len(self.items), at.stop):
                table[other, at] = table[at, other].T
        return table

    @property
    def rounding(self) -> float:
        """How far below zero rounding may bring a similarity."""
        longest = float(np.sqrt(self.item_lengths.max() * self.client_lengths.max()))
        scale = self.metric.reach if self.metric.name == "euclidean" else longest
        return 32.0 * float(np.finfo(self.items.dtype).eps) * scale

    @property
    def may_fall_below_zero(self) -> bool:
        """Whether similarities below zero are possible as far as the metric and the signs of features tell."""
        return self.metric.name in ("cosine", "dot") and self.metric.negatives == "refuse" and self._signed

    @property
    def _signed(self) -> bool:
        return bool(self.items.min() < 0.0 or self.clients.min() < 0.0)

    def sums(self, weights: Floats | None) -> Floats | None:
        """Σ_c weights[c]·similarity to c for each item, where no similarity is below zero and they add up by rows."""
        if self.metric.name not in ("cosine", "dot"):
            return None
        shift = self.metric.negatives == "shift"
        if not shift and self._signed:
            return None
        weigh = np.ones(self.shape[1]) if weights is None else weights
        whole = np.zeros(self.items.shape[1])
        for at in blocks(*self.clients.shape):
            whole += weigh[at] @ self.clients[at].astype(np.float64)
        sums = np.empty(len(self.items))
        for at in blocks(*self.items.shape):
            sums[at] = self.items[at].astype(np.float64) @ whole
        return sums + weigh.sum() if shift else sums

    def diagonal(self) -> Floats:
        """How alike each item is to itself, where items are the clients."""
        if self.metric.name in ("rbf", "euclidean"):
            return np.full(len(self.items), 1.0 if self.metric.name == "rbf" else self.metric.reach)
        if self.metric.name == "cosine":
            return np.where(self.item_lengths > 0.0, 1.0, 0.0) + (1.0 if self.metric.negatives == "shift" else 0.0)
        return self.item_lengths.astype(np.float64)


def squares(count: int, start: int = 0) -> Iterator[slice]:
    """Rows in portions for products of matrices: long enough to be quick, and a square of them fits a cache."""
    for first in range(start, count, SQUARE):
        yield slice(first, min(first + SQUARE, count))


def alike(features: object, metric: Metric, others: object = None, what: str = "features", dtype: Any = None) -> Alike:
    """Items' similarities to the rows of `others`, or to one another; computed in `dtype`, or the features' own."""
    given = _table("features", features)
    theirs = given if others is None else _table(what, others)
    if theirs.shape[1] != given.shape[1]:
        raise InvalidProblem(f"{what} has {theirs.shape[1]} columns, features has {given.shape[1]}: give as many")
    kind = np.dtype(given.dtype if dtype is None else dtype)
    centre = _mean(given) if metric.name in ("rbf", "euclidean") else None
    items, lengths = _prepared("features", given, metric, kind, centre)
    refuse_zeros(given)
    clients, their_lengths = (items, lengths) if others is None else _prepared(what, theirs, metric, kind, centre)
    return Alike(items, clients, _fitted(metric, items, clients), lengths, their_lengths, centre)


def alike_to(rows: object, pairs: Alike, what: str) -> Alike:
    """The similarities of these rows to the clients of `pairs`."""
    given = _table(what, rows)
    columns = pairs.clients.shape[1]
    if given.shape[1] != columns:
        raise InvalidProblem(f"{what} has {given.shape[1]} columns, features has {columns}: give as many")
    items, lengths = _prepared(what, given, pairs.metric, pairs.clients.dtype, pairs.centre)
    return Alike(items, pairs.clients, pairs.metric, lengths, pairs.client_lengths, pairs.centre)


def dense_rows(what: str, given: Any) -> object:
    """Sparse features with their zeros, where that is not too much: two rows are compared in all their columns."""
    if not hasattr(given, "tocsr"):
        return given
    size = float(np.prod(given.shape)) * np.dtype(given.dtype).itemsize
    if size > DENSE:
        raise InvalidProblem(
            f"{what} would take {size / 1e9:.1f} GB with its zeros, and rows are compared with them: give fewer "
            "columns (such as TruncatedSVD's), a sparse similarity, or use FeatureBased, which takes it as it is"
        )
    return given.toarray()


def _table(what: str, given: object) -> Real:
    """Rows of numbers, with their zeros."""
    rows = real(what, dense_rows(what, given))
    return rows if rows.ndim == 2 and rows.size else numbers(what, rows, 2, negative=True)


def _prepared(what: str, given: Real, metric: Metric, kind: np.dtype[Any], centre: Floats | None) -> tuple[Real, Real]:
    """Rows as the metric compares them, and the squares of their lengths: where these are finite, so are the rows."""
    unit = metric.name == "cosine"
    same = not unit and centre is None and given.dtype == kind
    rows: Real = given if same else np.empty(given.shape, dtype=kind)
    lengths: Real = np.empty(len(given), dtype=kind)
    least = TINY[given.dtype.itemsize]
    for at in blocks(*given.shape):
        with np.errstate(over="ignore", invalid="ignore"):
            block: Real = given[at] if centre is None else given[at] - centre
            own = np.einsum("ij,ij->i", block, block)
            if not np.isfinite(own).all() or (unit and own.min() < least):
                numbers(what, given, 2, negative=True)
                block, own = _scaled(block) if unit else (block, own)
            if unit:
                some = own > 0.0
                np.divide(block, np.sqrt(np.where(some, own, 1.0))[:, np.newaxis], out=rows[at], casting="same_kind")
                own = some
            elif not same:
                rows[at] = block
            lengths[at] = own
    if not np.isfinite(lengths).all():
        raise InvalidProblem(f"{what} has numbers whose squares are too large for {kind}: divide by the largest")
    return rows, lengths


def _mean(rows: Real) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):  # what is no number is refused afterwards, by name
        return rows.mean(axis=0, dtype=np.float64)


def _scaled(block: Real) -> tuple[Real, Real]:
    """Rows divided by their largest number, so that squares neither overflow nor vanish; and their squared lengths."""
    largest = np.abs(block).max(axis=1)
    scaled: Real = block / np.where(largest > 0.0, largest, 1.0)[:, np.newaxis]
    return scaled, np.einsum("ij,ij->i", scaled, scaled)


def _fitted(metric: Metric, items: Real, clients: Real) -> Metric:
    """With γ and reach as the rows need them, where the user left them open."""
    if metric.name == "rbf" and metric.gamma is None:
        return Metric("rbf", metric.negatives, 1.0 / items.shape[1])
    if metric.name == "euclidean" and metric.reach == 0.0:
        centre = items.mean(axis=0, dtype=np.float64)
        furthest = max(_furthest(items, centre), _furthest(clients, centre))
        return Metric("euclidean", metric.negatives, None, 2.0 * furthest * (1.0 + 1e-6))
    return metric


def _furthest(rows: Real, centre: Floats) -> float:
    return max(float(np.sqrt(((rows[at] - centre) ** 2).sum(axis=1).max())) for at in blocks(*rows.shape))


def relevance(query: object, pairs: Alike) -> Floats:
    """A weight for each client: those given, or how much it resembles the query most like it, at least 0."""
    clients = pairs.shape[1]
    if query is None:
        return np.ones(clients)
    if real("query", query).ndim == 1:
        return weights_for("query weights", query, clients, "client")
    return np.maximum(against(query, pairs, "query").max(axis=0), 0.0).astype(np.float64)


def against(rows: object, pairs: Alike, what: str) -> Real:
    """The similarities of these rows to the clients."""
    one = alike_to(rows, pairs, what)
    return np.concatenate([one.rows(at) for at in blocks(*one.shape)])

"""Similarities between rows of features, computed when needed. Each metric is exactly what its name says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.errors import InvalidProblem
from handful.objectives.arrays import Real, RowIndex, blocks, numbers, real
from handful.problem import Floats

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

    @property
    def shape(self) -> tuple[int, int]:
        """Items, clients."""
        return len(self.items), len(self.clients)

    def rows(self, rows: RowIndex) -> Real:
        """The similarities of these items to all clients, in an array of their own."""
        return self.metric.finish(self.items[rows] @ self.clients.T, self.item_lengths[rows], self.client_lengths)

    def row(self, item: int) -> Real:
        """The similarities of one item to all clients."""
        dots = (self.clients @ self.items[item])[np.newaxis]
        row: Real = self.metric.finish(dots, self.item_lengths[item : item + 1], self.client_lengths)[0]
        return row

    def all(self) -> Real:
        """The whole table."""
        table: Real = np.empty(self.shape, dtype=self.items.dtype)
        for at in blocks(len(self.items), len(self.clients) // 8):
            table[at] = self.rows(at)
        return table

    def diagonal(self) -> Floats:
        """How alike each item is to itself, where items are the clients."""
        if self.metric.name in ("rbf", "euclidean"):
            return np.full(len(self.items), 1.0 if self.metric.name == "rbf" else self.metric.reach)
        if self.metric.name == "cosine":
            return np.where(self.item_lengths > 0.0, 1.0, 0.0) + (1.0 if self.metric.negatives == "shift" else 0.0)
        return self.item_lengths.astype(np.float64)


def alike(features: object, metric: Metric, others: object = None, what: str = "features") -> Alike:
    """Items' similarities to the rows of `others`, or to one another."""
    items, lengths = _rows("features", features)
    clients, theirs = (items, lengths) if others is None else _rows(what, others, items.dtype)
    if clients.shape[1] != items.shape[1]:
        raise InvalidProblem(f"{what} has {clients.shape[1]} columns, features has {items.shape[1]}: give as many")
    if metric.name == "cosine":
        unit, lengths = _unit(items, lengths)
        if others is None:
            items = clients = unit
            theirs = lengths
        else:
            items, (clients, theirs) = unit, _unit(clients, theirs)
    return Alike(items, clients, _fitted(metric, items, clients), lengths, theirs)


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


def _rows(what: str, given: object, kind: Any = None) -> tuple[Real, Real]:
    """Rows of finite numbers, and the squares of their lengths: where these are finite, so are the numbers."""
    rows = real(what, dense_rows(what, given))
    if rows.ndim != 2 or rows.size == 0:
        rows = numbers(what, rows, 2, negative=True)
    rows = rows if kind is None else rows.astype(kind, copy=False)
    squares = _squares(rows)
    if not np.isfinite(squares).all():
        numbers(what, rows, 2, negative=True)
    return rows, squares


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


def _unit(rows: Real, squares: Real) -> tuple[Real, Real]:
    """The rows at length 1, zeros as they are; and the squares of their lengths then."""
    some = squares > 0.0
    lengths = np.sqrt(squares)[:, np.newaxis]
    if some.all():
        return rows / lengths, np.ones_like(squares)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=some[:, np.newaxis]), some.astype(squares.dtype)


def _squares(rows: Real) -> Real:
    squares: Real = np.einsum("ij,ij->i", rows, rows)
    return squares

"""Similarities between rows of features, computed when needed. Each metric is exactly what its name says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handful.core.objective import Floats
from handful.errors import InvalidProblem
from handful.objectives.arrays import Real, Rows, blocks, numbers

METRICS = ("cosine", "dot", "rbf", "euclidean")
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

    def rows(self, rows: Rows) -> Real:
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
    items = numbers("features", features, 2, negative=True)
    clients = items if others is None else numbers(what, others, 2, negative=True).astype(items.dtype, copy=False)
    if clients.shape[1] != items.shape[1]:
        raise InvalidProblem(f"{what} has {clients.shape[1]} columns, features has {items.shape[1]}: give as many")
    if metric.name == "cosine":
        unit = _unit(items)
        items, clients = unit, unit if others is None else _unit(clients)
    lengths = _squares(items)
    theirs = lengths if others is None else _squares(clients)
    return Alike(items, clients, _fitted(metric, items, clients), lengths, theirs)


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


def _unit(rows: Real) -> Real:
    lengths = np.sqrt(_squares(rows))[:, np.newaxis]
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def _squares(rows: Real) -> Real:
    squares: Real = np.einsum("ij,ij->i", rows, rows)
    return squares

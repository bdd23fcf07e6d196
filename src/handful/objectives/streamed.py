"""Facility location from features where the table of similarities would be too large to keep.

Similarities are computed in squares by products of matrices, and used at once. Rows that are asked for again and again,
those of the items that come next, are kept as far as a quarter of the free memory goes. What is picked is what the
table would give, but for ties within rounding.
"""

from __future__ import annotations

import numpy as np

from handful.errors import InvalidProblem
from handful.objectives.arrays import Real, RowIndex
from handful.objectives.growing import Growing
from handful.objectives.machine import SHARE, free_memory
from handful.objectives.similarity import Alike, squares
from handful.problem import Floats, Ints

WIDE = 2048  # clients at once: with them a portion of similarities fits a cache, and all cores have work
FEW = 128  # as many items are asked for together when they are candidates for the next pick
NEGATIVE = (
    "similarities fall to {least:.3g}, and facility location needs them ≥ 0: "
    "say negatives='clip' (take them for 0){or_}"
)


class StreamedProgress(Growing):
    """Facility location at a growing set, from features."""

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

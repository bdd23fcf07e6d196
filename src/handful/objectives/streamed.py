"""Facility location from features where the table of similarities would be too large to keep.

Similarities are computed in portions that stay in the processor's cache, on all cores, and used at once. The order of
all additions is the same for one item and for many, so a gain is the same number to the bit whoever asks for it.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from handful.kernels import kernel
from handful.objectives.arrays import Real, RowIndex
from handful.objectives.facility import refuse_negatives
from handful.objectives.growing import Growing
from handful.objectives.similarity import Alike, Metric
from handful.objectives.threads import cores
from handful.problem import Floats, Ints

WIDTH = 512  # clients at once; a power of two, for sums by halves
PORTION = 2e9  # multiplications between two looks at the keyboard
DOT, RBF, EUCLIDEAN = 0, 1, 2


@kernel
def _alike_to(
    row: Any, columns: Any, start: int, kind: int, length: Any, lengths: Any, gamma: Any, reach: Any, floor: Any,
    shift: Any, out: Any,
) -> None:  # fmt: skip
    """The similarities of one row to WIDTH clients from `start` on."""
    features, end = len(row), start + WIDTH
    for c in range(WIDTH):
        out[c] = 0.0
    whole = features - features % 4
    for j in range(0, whole, 4):
        a0, a1, a2, a3 = row[j], row[j + 1], row[j + 2], row[j + 3]
        x0, x1 = columns[j, start:end], columns[j + 1, start:end]  # slices: loops over them need no check of bounds
        x2, x3 = columns[j + 2, start:end], columns[j + 3, start:end]
        for c in range(WIDTH):
            out[c] = out[c] + (a0 * x0[c] + a1 * x1[c]) + (a2 * x2[c] + a3 * x3[c])
    for j in range(whole, features):
        a0, x0 = row[j], columns[j, start:end]
        for c in range(WIDTH):
            out[c] += a0 * x0[c]
    if kind == DOT:
        for c in range(WIDTH):
            out[c] = max(out[c] + shift, floor)
        return
    theirs = lengths[start:end]
    for c in range(WIDTH):
        out[c] = max(length + theirs[c] - (out[c] + out[c]), floor)  # squared distances; floor is 0
    if kind == RBF:
        for c in range(WIDTH):
            out[c] = math.exp(-gamma * out[c])
    else:
        for c in range(WIDTH):
            out[c] = reach - math.sqrt(out[c])


@kernel
def _gains_of(
    rows: Any, items: Any, item_lengths: Any, columns: Any, lengths: Any, kind: int, numbers: Any, served: Any,
    weights: Any, room: Any, lowest: Any, out: Any,
) -> None:  # fmt: skip
    """out[r] = Σ_c weights[c]·max(similarity(rows[r], c) − served[c], 0); `lowest` keeps the least similarities."""
    zero = numbers[4]
    for r in range(len(rows)):
        out[r] = 0.0
    for start in range(0, columns.shape[1], WIDTH):
        for r in range(len(rows)):
            i = rows[r]
            _alike_to(items[i], columns, start, kind, item_lengths[i], lengths, numbers[0], numbers[1], numbers[2],
                      numbers[3], room)  # fmt: skip
            done, weigh = served[start : start + WIDTH], weights[start : start + WIDTH]
            for c in range(WIDTH):
                lowest[c] = min(lowest[c], room[c])
            for c in range(WIDTH):
                room[c] = max(room[c] - done[c], zero) * weigh[c]
            half = WIDTH // 2
            while half >= 1:
                for c in range(half):
                    room[c] += room[c + half]
                half //= 2
            out[r] += room[0]


@kernel
def _row_of(
    i: int, items: Any, item_lengths: Any, columns: Any, lengths: Any, kind: int, numbers: Any, room: Any, out: Any
) -> None:
    """The similarities of item i to all clients, by the same arithmetic."""
    for start in range(0, columns.shape[1], WIDTH):
        _alike_to(items[i], columns, start, kind, item_lengths[i], lengths, numbers[0], numbers[1], numbers[2],
                  numbers[3], room)  # fmt: skip
        for c in range(WIDTH):
            out[start + c] = room[c]


class StreamedProgress(Growing):
    """Facility location at a growing set, from features."""

    def __init__(self, alike: Alike, weights: Floats | None, served: Floats) -> None:
        super().__init__(alike.shape[0])
        kind = alike.items.dtype
        clients = alike.shape[1]
        padded = -(-clients // WIDTH) * WIDTH
        self._items, self._metric = alike.items, alike.metric
        self._columns: Real = np.zeros((alike.items.shape[1], padded), dtype=kind)
        self._columns[:, :clients] = alike.clients.T
        self._item_lengths = alike.item_lengths
        self._lengths = _padded(alike.client_lengths, padded, kind)
        self._weights = _padded(np.ones(clients) if weights is None else weights, padded, kind)
        self._served = _padded(served, padded, kind)
        self._clients = clients
        self._kind = {"rbf": RBF, "euclidean": EUCLIDEAN}.get(alike.metric.name, DOT)
        self._numbers: Real = _constants(alike.metric, kind)
        self._pad = padded - clients

    def gains(self, items: Ints | None = None) -> Floats:
        """f(a | S) for every item a, or for these items; zero on S."""
        wanted = np.arange(self._size) if items is None else np.asarray(items, dtype=np.int64)
        gains = np.empty(len(wanted))
        step = max(1, int(PORTION / self._columns.size))
        for start in range(0, len(wanted), step):
            gains[start : start + step] = self._gains(wanted[start : start + step])
        if self._chosen:
            gains[self._inside[wanted]] = 0.0
        return gains

    def _gain(self, item: int) -> float:
        return float(self._gains(np.array([item]))[0])

    def _gains(self, rows: RowIndex) -> Floats:
        assert not isinstance(rows, slice)
        out = np.empty(len(rows))
        threads = max(1, min(cores(), len(rows), len(rows) * self._columns.size // 2_000_000))
        if threads == 1:
            self._work(rows, out)
        else:
            with ThreadPoolExecutor(threads) as pool:
                parts = np.array_split(np.arange(len(rows)), threads)
                list(pool.map(lambda at: self._work(rows[at[0] : at[-1] + 1], out[at[0] : at[-1] + 1]), parts))
        return out

    def _work(self, rows: Ints, out: Floats) -> None:
        kind = self._items.dtype
        room, lowest = np.empty(WIDTH, kind), np.zeros(WIDTH, kind)
        _gains_of(
            rows, self._items, self._item_lengths, self._columns, self._lengths, self._kind, self._numbers,
            self._served, self._weights, room, lowest, out,
        )  # fmt: skip
        if self._kind == DOT and lowest.min() < 0.0:
            refuse_negatives(float(lowest.min()), self._metric)

    def _absorb(self, item: int) -> None:
        row = np.empty_like(self._served)
        room = np.empty(WIDTH, row.dtype)
        _row_of(
            item, self._items, self._item_lengths, self._columns, self._lengths, self._kind, self._numbers, room, row
        )
        np.maximum(self._served, row, out=self._served)


def _padded(values: Real, size: int, kind: Any) -> Real:
    padded: Real = np.zeros(size, dtype=kind)
    padded[: len(values)] = values
    return padded


def _constants(metric: Metric, kind: Any) -> Real:
    """γ, reach, the floor of what is computed, the shift of cosines, and 0, all in the type of the features."""
    distance = metric.name in ("rbf", "euclidean")
    floor = 0.0 if distance or metric.negatives != "refuse" else -math.inf
    shift = 1.0 if metric.negatives == "shift" and not distance else 0.0
    return np.array([metric.gamma or 0.0, metric.reach, floor, shift, 0.0], dtype=kind)

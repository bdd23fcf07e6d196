"""Bounds of facility location's gains from a copy of the table in bytes, which is read eight times as fast.

Similarities are rounded up to one of 256 levels, what clients have already is rounded down: what an item would add by
these is never below its gain. Only items whose bound is at the top are looked at in the table itself. Compiled; gains
themselves are always computed by NumPy, so the picks are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.kernels import kernel
from handful.objectives.arrays import Real
from handful.problem import Floats, Ints

SLACK = 1e-9  # what rounding could have taken, and more, is left in a bound
TILE = 256  # cells worked on together: they stay in the nearest cache, and as many bytes add up to 16 bits
LEVELS = 255
MARGIN = 1.0 / 64.0  # of a level: more than rounding can take
STALE, ROUGH, EXACT = 0, 1, 2  # what is known of an item's bound at the present set


@kernel
def _excess(row: Any, served: Any) -> float:
    """Σ max(row − served, 0), in eight sums that the processor can work on at once."""
    zero = row[0] - row[0]
    a = b = c = d = e = f = g = h = 0.0
    rest = len(row) % 8
    for i in range(0, len(row) - rest, 8):
        a += max(row[i] - served[i], zero)
        b += max(row[i + 1] - served[i + 1], zero)
        c += max(row[i + 2] - served[i + 2], zero)
        d += max(row[i + 3] - served[i + 3], zero)
        e += max(row[i + 4] - served[i + 4], zero)
        f += max(row[i + 5] - served[i + 5], zero)
        g += max(row[i + 6] - served[i + 6], zero)
        h += max(row[i + 7] - served[i + 7], zero)
    for i in range(len(row) - rest, len(row)):
        a += max(row[i] - served[i], zero)
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@kernel
def _sum(row: Any) -> float:
    """Σ row, in eight sums."""
    a = b = c = d = e = f = g = h = 0.0
    rest = len(row) % 8
    for i in range(0, len(row) - rest, 8):
        a += row[i]
        b += row[i + 1]
        c += row[i + 2]
        d += row[i + 3]
        e += row[i + 4]
        f += row[i + 5]
        g += row[i + 6]
        h += row[i + 7]
    for i in range(len(row) - rest, len(row)):
        a += row[i]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@kernel
def _pack(
    matrix: Any, bits: Any, scale: Any, highest: Any, packed: Any, sums: Any, over: Any,
    worst: Any,
) -> None:  # fmt: skip
    """Read all rows once: into bytes, their sums, what lies above the highest level, and the largest bits.

    Bits of numbers ≥ 0 are in the order of the numbers; infinity, what is no number, and all below 0 come after these.
    """
    width = matrix.shape[1]
    factor, shift, zero, most, high = scale[0], scale[1], scale[2], scale[3], scale[4:]
    for i in range(len(matrix)):
        row, signed, out = matrix[i], bits[i], packed[i]
        total, above = 0.0, 0.0
        largest = signed[0]
        for start in range(0, width, TILE):
            end = min(start + TILE, width)
            values, marks, levels = row[start:end], signed[start:end], out[start:end]
            total += _sum(values)
            top = marks[0]
            for c in range(len(values)):
                x = values[c] * factor + shift
                x = x if x > zero else zero
                x = x if x < most else most
                levels[c] = np.uint8(np.int32(x))
                top = max(top, marks[c])
            if top > highest[0]:
                for c in range(len(values)):
                    above += max(values[c] - high[0], zero)
            largest = max(largest, top)
        sums[i], over[i], worst[i] = total, above, largest


@kernel
def _levels_above(row: Any, served: Any) -> int:
    """Σ max(row − served, 0) over bytes: those of a tile fit into 16 bits."""
    total = 0
    for start in range(0, len(row), TILE):
        end = min(start + TILE, len(row))
        a, b = row[start:end], served[start:end]
        some = np.uint16(0)
        for c in range(len(a)):
            some = np.uint16(some + np.uint16(np.uint8(max(a[c], b[c]) - b[c])))
        total += int(some)
    return total


@kernel
def _exactly(items: Any, matrix: Any, served: Any, upper: Any, costs: Any, known: Any, floor: float) -> float:
    """Lower the bounds of these items by the table itself, until one is below the floor; the largest per cost."""
    for i in items:
        if upper[i] < floor * costs[i]:
            break
        if known[i] != EXACT:
            upper[i] = min(upper[i], _excess(matrix[i], served) * (1.0 + SLACK))
            known[i] = EXACT
        floor = max(floor, upper[i] / costs[i])
    return floor


@kernel
def _all_at_once(
    packed: Any, matrix: Any, served: Any, least: float, step: float, over: Any, upper: Any, allowed: Any, costs: Any,
    known: Any, levels: Any, room: Any,
) -> None:  # fmt: skip
    """Lower the bounds of all items that could be the next."""
    top, floor = -1, -np.inf
    for i in range(len(upper)):
        if upper[i] > floor * costs[i] and allowed[i]:
            top, floor = i, upper[i] / costs[i]
    if top < 0:
        return
    room[0] = top
    floor = _exactly(room[:1], matrix, served, upper, costs, known, -np.inf)
    base = 0.0
    for c in range(len(served)):
        level = (served[c] - least) / step
        levels[c] = np.uint8(np.int32(min(max(level, 0.0), 255.0)))
        base += max(least - served[c], 0.0)
    record = floor
    for i in range(len(upper)):
        if upper[i] >= floor * costs[i] and allowed[i] and known[i] == STALE:
            rough = (_levels_above(packed[i], levels) * step + base + over[i]) * (1.0 + SLACK)
            upper[i] = min(upper[i], rough)
            known[i] = ROUGH
            if upper[i] > record * costs[i]:  # a record is worth a look: it raises the floor for all that follow
                record = upper[i] / costs[i]
                room[0] = i
                floor = _exactly(room[:1], matrix, served, upper, costs, known, floor)
    count = 0
    for i in range(len(upper)):
        if upper[i] >= floor * costs[i] and allowed[i]:
            room[count] = i
            count += 1
    while count > 0:  # the largest first; what falls below the floor need not be looked at
        at = 0
        for j in range(1, count):
            if upper[room[j]] * costs[room[at]] > upper[room[at]] * costs[room[j]]:
                at = j
        i = room[at]
        if upper[i] < floor * costs[i] or known[i] == EXACT:
            return
        upper[i] = min(upper[i], _excess(matrix[i], served) * (1.0 + SLACK))
        known[i] = EXACT
        floor = max(floor, upper[i] / costs[i])


@dataclass(frozen=True)
class BytesTable:
    """A table in bytes: level l stands for least + l·step; sums are of its rows."""

    table: Real
    levels: Any
    sums: Floats
    over: Floats
    least: float
    step: float


def bytes_table(table: Real) -> BytesTable | None:
    """The table in bytes; None where a number in it is negative or not finite."""
    rows, columns = table.shape
    some = np.sort(table[:: max(1, rows // 64), :: max(1, columns // 64)], axis=None).astype(np.float64)
    if not np.isfinite(some).all():
        return None
    least, high = float(some[len(some) // 10]), float(some[-1 - len(some) // 1000])
    coarsest = 1024.0 * float(np.finfo(table.dtype).eps) * max(abs(high), abs(least))
    step = max((high - least) / LEVELS, coarsest, float(np.finfo(table.dtype).tiny) * 2.0**20)
    kind = table.dtype.type
    scale = np.array(
        [1.0 / step, 1.0 + MARGIN - least / step, 0.0, LEVELS, least + LEVELS * step * (1.0 - 1e-6)], dtype=kind
    )
    levels = np.empty(table.shape, dtype=np.uint8)
    unsigned = np.dtype(np.uint32 if kind is np.float32 else np.uint64)
    sums, over, worst = np.empty(rows), np.empty(rows), np.empty(rows, dtype=unsigned)
    _pack(table, table.view(unsigned), scale, scale[4:].view(unsigned), levels, sums, over, worst)
    odd = worst >= kind(np.inf).view(unsigned)  # where a zero has a sign, nothing is bad
    if not np.isfinite(sums).all() or (odd.any() and min(row.min() for row in table[odd]) < 0):
        return None
    return BytesTable(table, levels, sums, over, least, step)


class Tightener:
    """Lowers bounds of gains at a growing set, those of items that may be the next."""

    def __init__(self, table: BytesTable) -> None:
        size = len(table.sums)
        self._packed = table
        self._known: Any = np.zeros(size, dtype=np.uint8)
        self._ones: Floats = np.ones(size)
        self._levels: Any = np.empty(table.levels.shape[1], dtype=np.uint8)
        self._room: Ints = np.empty(size, dtype=np.int64)

    def changed(self) -> None:
        """A pick: clients are served better."""
        self._known[:] = STALE

    def exact(self, items: Ints | None) -> None:
        """The gains of these items (None: of all) were computed now: there is nothing to be taken off them."""
        self._known[slice(None) if items is None else items] = EXACT

    def tighten(self, upper: Floats, allowed: Any, costs: Floats | None, served: Real) -> None:
        """Lower the bounds of all items that could be the next."""
        table, divided = self._packed, self._ones if costs is None else costs
        state = (upper, allowed, divided, self._known, self._levels, self._room)
        _all_at_once(table.levels, table.table, served, table.least, table.step, table.over, *state)

    def sharpen(self, upper: Floats, items: Ints, served: Real) -> None:
        """Lower the bounds of these items."""
        _exactly(items, self._packed.table, served, upper, self._ones, self._known, -np.inf)

"""What every objective's progress shares: the set so far, its value, and items that must exist."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from handful.errors import InvalidProblem
from handful.objectives.arrays import CELLS_AT_ONCE, Real, RowIndex, Sparse, Table2D, blocks, segment_sums
from handful.problem import Floats, Ints

ALL = slice(None)


class Progress(ABC):
    """A progress that only has to say what items add and how its own state takes an item in.

    `gain(a)` and `gains()[a]` are the same number to the bit, and (but for tables, which say what they say) rounding
    never makes a gain grow as S grows: lazy greedy and greedy then agree on ties as well.
    """

    def __init__(self, size: int, width: int = 1) -> None:
        self._chosen: tuple[int, ...] = ()
        self._value = 0.0
        self._size = size
        self._width = width  # numbers that one gain takes: so many items are worked on together
        self._inside: Any = np.zeros(size, dtype=bool)
        self._last = -1, 0.0  # the item whose gain alone was asked for last, and that gain

    @property
    def chosen(self) -> tuple[int, ...]:
        """S, in the order added."""
        return self._chosen

    @property
    def value(self) -> float:
        """f(S)."""
        return self._value

    def gain(self, item: int) -> float:
        """f(item | S); zero for an item of S."""
        self._check(item)
        return 0.0 if item in self._chosen else self._gain(item)

    def gains(self, items: Ints | None = None) -> Floats:
        """f(a | S) for every item a, or for these items; zero on S."""
        count = self._size if items is None else len(items)
        if items is not None and count == 1:
            item = int(items[0])
            self._last = item, self.gain(item)
            return np.array([self._last[1]])
        gains = np.empty(count)
        for at in blocks(count, self._width):
            gains[at] = self._gains(at if items is None else items[at])
        if self._chosen:
            gains[self._inside if items is None else self._inside[items]] = 0.0
        return gains

    def add(self, item: int) -> None:
        """S = S ∪ {item}; an item of S changes nothing."""
        self._check(item)
        if item in self._chosen:
            return
        self._value += self._last[1] if self._last[0] == item else self._gain(item)
        self._absorb(int(item))
        self._last = -1, 0.0
        self._chosen = (*self._chosen, int(item))
        self._inside[item] = True

    def _check(self, item: int) -> None:
        if not 0 <= item < self._size:
            raise InvalidProblem(f"item {item} is not there: this objective has items 0..{self._size - 1}")

    def _gain(self, item: int) -> float:
        return float(self._gains(slice(item, item + 1))[0])

    @abstractmethod
    def _gains(self, rows: RowIndex) -> Floats:
        """f(a | S) for these items; what stands at items of S does not matter."""

    @abstractmethod
    def _absorb(self, item: int) -> None:
        """Take a new item into the state."""


class Columns(Progress):
    """f(S) = Σ_c h_c(x_sc, s ∈ S): an item adds something in every column of its row, and nothing where it has 0."""

    def __init__(self, matrix: Table2D) -> None:
        super().__init__(*matrix.shape)
        self._matrix = matrix
        if isinstance(matrix, Sparse):
            self._width = max(1, len(matrix.data) // matrix.shape[0])
        self.at_once = min(max(8, 4 * CELLS_AT_ONCE // self._width), 4096)  # gains worth asking for together

    def _gains(self, rows: RowIndex) -> Floats:
        if isinstance(self._matrix, Sparse):
            entries, columns, counts = self._matrix.rows(rows)
            return segment_sums(np.asarray(self._rises(entries, columns)), counts)
        return np.asarray(self._rises(self._matrix[rows], ALL).sum(axis=-1, dtype=np.float64))

    def _absorb(self, item: int) -> None:
        if isinstance(self._matrix, Sparse):
            self._take(*self._matrix.row(item))
        else:
            self._take(self._matrix[item], ALL)

    @abstractmethod
    def _rises(self, entries: Real, columns: Any) -> Real:
        """What each entry adds in its column now."""

    @abstractmethod
    def _take(self, entries: Real, columns: Any) -> None:
        """The columns take a new item's entries in."""


class KnownGains(Progress):
    """A progress that keeps the gains of all items up to date, so that asking for them costs nothing."""

    def __init__(self, gains: Floats) -> None:
        super().__init__(len(gains))
        self._kept = gains

    def gains(self, items: Ints | None = None) -> Floats:
        """f(a | S) for every item a, or for these items; zero on S."""
        gains = self._kept.copy() if items is None else self._kept[items]
        if items is None:
            gains[list(self._chosen)] = 0.0
        else:
            gains[self._inside[items]] = 0.0
        return gains

    def _gains(self, rows: RowIndex) -> Floats:
        return self._kept[rows]

"""Conditional information gain: how much one more column tells about a target, from discrete data.

f(S) = I(Y; X_S) = H(Y) − H(Y | X_S), in bits. It is monotone; it is submodular if the columns are independent given the
target (Krause and Guestrin, UAI 2005), as naive Bayes supposes. Where they are not, two columns may tell together what
neither tells alone (the target an exclusive or of the two), and greedy may miss them both.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from handful.errors import InvalidProblem
from handful.oracles.simulators import Asks
from handful.problem import Floats, Ints


class InformationGain:
    """Answers how many bits the column `item` tells about `target` beyond the columns `chosen`.

    `table` has a row per observation and a column per item, of any discrete values; `items` names the columns (default:
    0, 1, …). Without `rows` an answer is exact: the counts of all rows. With `rows=m` it comes from m rows that the
    question's seed draws, with replacement. That is the information *in m rows*: its mean lies above that of the whole
    table, by about (cells of the joint table) / (2 m log 2) bits, and less as m grows.
    """

    def __init__(
        self, table: Any, target: Any, items: Sequence[Hashable] | None = None, *, rows: int | None = None
    ) -> None:
        columns = np.asarray(table)
        if columns.ndim != 2 or columns.shape[0] == 0 or columns.shape[1] == 0:
            raise InvalidProblem(f"a table has rows and columns, got one of shape {columns.shape}")
        if len(target) != len(columns):
            raise InvalidProblem(f"the table has {len(columns)} rows and the target {len(target)}: give one for each")
        names = tuple(range(columns.shape[1])) if items is None else tuple(items)
        if len(names) != columns.shape[1]:
            raise InvalidProblem(f"{len(names)} items for a table of {columns.shape[1]} columns: give one per column")
        if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 1):
            raise InvalidProblem(f"rows must be a whole number, 1 or more, or None for all of them, got {rows!r}")
        self.items = names
        self._positions = {name: at for at, name in enumerate(names)}
        self._columns = np.stack([_coded(column) for column in columns.T])
        self._target = _coded(np.asarray(target))
        self._rows = rows

    @property
    def range(self) -> tuple[float, float]:
        """Between which numbers an answer lies: 0 and the bits of a target whose values are all as likely."""
        return 0.0, float(np.log2(max(2, self._target.max() + 1)))

    def __call__(self, question: Asks) -> float:
        return self.gain(question.chosen, question.item, question.seed)

    def gain(self, chosen: Iterable[Hashable], item: Hashable, seed: int = 0) -> float:
        """I(target; item | chosen), from all rows or from those that the seed draws."""
        here = self._drawn(seed)
        context = self._joint([self._position(name) for name in chosen], here)
        column, target = self._columns[self._position(item)][here], self._target[here]
        both, alone = _paired(context, column), context
        gain = _entropy(_paired(alone, target)) - _entropy(alone) - _entropy(_paired(both, target)) + _entropy(both)
        return max(0.0, gain)

    def information(self, chosen: Iterable[Hashable]) -> float:
        """I(target; chosen), from all rows."""
        here = slice(None)
        context, target = self._joint([self._position(name) for name in chosen], here), self._target
        return max(0.0, _entropy(target) + _entropy(context) - _entropy(_paired(context, target)))

    def _drawn(self, seed: int) -> Any:
        if self._rows is None:
            return slice(None)
        return np.random.default_rng(seed).integers(len(self._target), size=self._rows)

    def _joint(self, positions: Sequence[int], here: Any) -> Ints:
        """One number for each combination of the columns."""
        joint = np.zeros(len(self._target[here]), np.int64)
        for position in positions:
            joint = _paired(joint, self._columns[position][here])
        return joint

    def _position(self, item: Hashable) -> int:
        try:
            return self._positions[item]
        except KeyError:
            raise InvalidProblem(f"{item!r} is not a column of the table") from None


def _coded(column: npt.NDArray[Any]) -> Ints:
    """The values of a column as 0, 1, …"""
    return np.unique(column, return_inverse=True)[1].astype(np.int64)


def _paired(a: Ints, b: Ints) -> Ints:
    """One number for each pair that occurs."""
    return _coded(a * (int(b.max(initial=0)) + 1) + b)


def _entropy(codes: Ints) -> float:
    """The entropy of these counts, in bits."""
    shares: Floats = np.bincount(codes) / len(codes)
    return float(-(shares * np.log2(shares, where=shares > 0, out=np.zeros_like(shares))).sum())

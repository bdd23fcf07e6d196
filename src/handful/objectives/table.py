"""A set function written out in full: for small examples, such as Appendix B's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np

from handful.errors import InvalidProblem
from handful.objectives.arrays import RowIndex
from handful.objectives.growing import Growing
from handful.problem import Floats

Subset = frozenset[int]

ROUNDING = 1e-9
"""Violations of monotonicity or submodularity up to this are taken for rounding."""


class Table:
    """f(S) looked up in a table with a value for every subset of 0..N-1.

    The table must be complete, with f(∅) = 0, monotone and submodular: no guarantee would hold otherwise.
    """

    monotone = True
    submodular = True

    def __init__(self, values: Mapping[Subset, float]) -> None:
        items = sorted(frozenset().union(*values))
        if not items or items != list(range(len(items))):
            raise InvalidProblem(f"the table is about items {items}: name them 0..N-1, at least one")
        self._size = len(items)
        self.values: Mapping[Subset, float] = {key: float(value) for key, value in values.items()}
        self._check()

    @property
    def size(self) -> int:
        """N, the number of items."""
        return self._size

    def start(self) -> TableProgress:
        """Progress at the empty set."""
        return TableProgress(self.values, self._size)

    def _check(self) -> None:
        for subset in self._subsets():
            if subset not in self.values:
                raise InvalidProblem(f"the table has no value for {_named(subset)}: give all {2**self._size} subsets")
            if not math.isfinite(self.values[subset]):
                raise InvalidProblem(f"f({_named(subset)}) is {self.values[subset]}: give finite numbers")
        if self.values[frozenset()] != 0.0:
            raise InvalidProblem(f"f({{}}) is {self.values[frozenset()]}: subtract it everywhere, so that f({{}}) = 0")
        for subset in self._subsets():
            self._check_gains_at(subset)

    def _check_gains_at(self, subset: Subset) -> None:
        """Looking one item ahead is enough: both properties follow for all pairs of sets."""
        outside = [item for item in range(self._size) if item not in subset]
        for item in outside:
            gain = self._gain(item, subset)
            if gain < -ROUNDING:
                raise InvalidProblem(f"not monotone: item {item} adds {gain:g} to {_named(subset)}; gains must be ≥ 0")
            for other in outside:
                later = self._gain(item, subset | {other}) if other != item else gain
                if later > gain + ROUNDING:
                    raise InvalidProblem(
                        f"not submodular: item {item} adds {gain:g} to {_named(subset)} but {later:g} to "
                        f"{_named(subset | {other})}; gains must not grow with the set"
                    )

    def _gain(self, item: int, subset: Subset) -> float:
        return self.values[subset | {item}] - self.values[subset]

    def _subsets(self) -> Iterator[Subset]:
        for count in range(self._size + 1):
            yield from map(frozenset, combinations(range(self._size), count))


class TableProgress(Growing):
    """A table at a growing set: the set is all there is to remember."""

    def __init__(self, values: Mapping[Subset, float], size: int) -> None:
        super().__init__(size)
        self._values = values
        self._subset: Subset = frozenset()

    @property
    def value(self) -> float:
        """f(S), as the table has it."""
        return self._values[self._subset]

    def _gains(self, rows: RowIndex) -> Floats:
        items = range(self._size)[rows] if isinstance(rows, slice) else rows.tolist()
        return np.array([self._values[self._subset | {item}] - self._values[self._subset] for item in items])

    def _absorb(self, item: int) -> None:
        self._subset = self._subset | {item}


def appendix_b(alpha: float) -> Table:
    """Appendix B: items a, b, c = 0, 1, 2, where picking c first spoils the greedy value 2 by as much as ½ + α.

    The paper asks for α > 0; beyond ½ its function is no longer monotone, so 0 < α ≤ ½.
    """
    if not 0.0 < alpha <= 0.5:
        raise InvalidProblem(f"alpha is {alpha}: Appendix B's table is monotone submodular for 0 < alpha ≤ 0.5")
    a, b, c = 0, 1, 2
    return Table(
        {
            frozenset(): 0.0,
            frozenset({a}): 1.0,
            frozenset({b}): 1.0,
            frozenset({c}): 1.0 - 2.0 * alpha,
            frozenset({a, b}): 2.0,
            frozenset({a, c}): 1.5 - alpha,
            frozenset({b, c}): 1.5 - alpha,
            frozenset({a, b, c}): 2.0,
        }
    )


def _named(subset: Subset) -> str:
    return "{" + ", ".join(map(str, sorted(subset))) + "}"

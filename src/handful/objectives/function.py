"""A user's own function of a set."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from handful.errors import InvalidProblem
from handful.numbers import whole
from handful.objectives.arrays import RowIndex
from handful.objectives.growing import Growing
from handful.problem import Floats

NOISY = (
    "the function gave {first!r} and then {second!r} for the same set {items}: its answers are noisy. "
    "maximize needs a function that gives the same value each time; for noisy answers use handful.Study, "
    "which asks again as often as needed"
)


class Function:
    """f(S) = function(items) − function(()), where `function` takes a tuple of items and returns a number.

    Items are 0..size−1, or the `ids` that are given. Say whether it is monotone and submodular: ratios rest on that,
    and lazy greedy is right only for submodular functions. `handful.check` looks for sets that say otherwise.
    """

    def __init__(
        self,
        function: Callable[..., float],
        size: int | None = None,
        *,
        ids: Sequence[Hashable] | None = None,
        monotone: bool = True,
        submodular: bool = True,
    ) -> None:
        if not callable(function):
            raise InvalidProblem(f"function is {function!r}: give a function of a tuple of items")
        if (size is None) == (ids is None):
            raise InvalidProblem("say what the items are: size=N for 0..N-1, or ids=[...], not both")
        self.ids = None if ids is None else tuple(ids)
        self._size = len(self.ids) if self.ids is not None else size or 0
        whole("size", self._size, 1)
        self.function = function
        self.monotone = monotone
        self.submodular = submodular

    @property
    def size(self) -> int:
        """N, the number of items."""
        return self._size

    def start(self) -> FunctionProgress:
        """Progress at the empty set; refuses a function that gives two values for the same set."""
        empty = self.value(())
        self._same((), empty)
        self._same((0,), self.value((0,)))
        return FunctionProgress(self, empty)

    def value(self, items: tuple[int, ...]) -> float:
        """function(items)."""
        named = items if self.ids is None else tuple(self.ids[i] for i in items)
        value = self.function(named)
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise InvalidProblem(f"the function returned {value!r} for {named}: return a number") from None
        if not math.isfinite(number):
            raise InvalidProblem(f"the function returned {number} for {named}: return a finite number")
        return number

    def _same(self, items: tuple[int, ...], first: float) -> None:
        second = self.value(items)
        if second != first:
            raise InvalidProblem(NOISY.format(first=first, second=second, items=items))


class FunctionProgress(Growing):
    """A user's function at a growing set."""

    def __init__(self, function: Function, empty: float) -> None:
        super().__init__(function.size)
        self._function = function
        self._empty = self._now = empty
        self._seen: dict[int, float] = {}  # the function at S and one item more, as far as asked

    @property
    def value(self) -> float:
        """f(S), as the function says."""
        return self._now - self._empty

    def add(self, item: int) -> None:
        """S = S ∪ {item}; refuses a function that gives another value now than when the gain was asked for."""
        self._check(item)
        if item in self._chosen:
            return
        after = (*self._chosen, int(item))
        value = self._function.value(after)
        if self._seen.get(item, value) != value:
            raise InvalidProblem(NOISY.format(first=self._seen[item], second=value, items=after))
        self._now, self._chosen, self._seen = value, after, {}

    def _gains(self, rows: RowIndex) -> Floats:
        items = range(self._size)[rows] if isinstance(rows, slice) else rows.tolist()
        inside = set(self._chosen)
        for item in items:
            if item not in inside:
                self._seen[item] = self._function.value((*self._chosen, item))
        return np.array([0.0 if item in inside else self._seen[item] - self._now for item in items])

    def _absorb(self, item: int) -> None:
        raise NotImplementedError  # `add` does it

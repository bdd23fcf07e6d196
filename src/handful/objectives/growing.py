"""What every objective's progress shares: the set so far, its value, and items that must exist."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from handful.core.objective import Floats
from handful.errors import InvalidProblem


class Growing(ABC):
    """A progress that only has to say what an item adds and how its own state takes the item in.

    `gain(a)` and `gains()[a]` are the same number to the bit, and (but for tables, which say what they say) rounding
    never makes a gain grow as S grows: lazy greedy and greedy then agree on ties as well.
    """

    def __init__(self, size: int) -> None:
        self._chosen: tuple[int, ...] = ()
        self._value = 0.0
        self._size = size

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

    def gains(self) -> Floats:
        """f(a | S) for every item a; zero on S."""
        gains = self._gains()
        gains[list(self._chosen)] = 0.0
        return gains

    def add(self, item: int) -> None:
        """S = S ∪ {item}; an item of S changes nothing."""
        self._check(item)
        if item in self._chosen:
            return
        self._value += self._gain(item)
        self._absorb(item)
        self._chosen = (*self._chosen, int(item))

    def _check(self, item: int) -> None:
        if not 0 <= item < self._size:
            raise InvalidProblem(f"item {item} is not there: this objective has items 0..{self._size - 1}")

    @abstractmethod
    def _gain(self, item: int) -> float:
        """f(item | S) for an item outside S."""

    @abstractmethod
    def _gains(self) -> Floats:
        """f(a | S) for every item, in an array of its own; what stands at items of S does not matter."""

    @abstractmethod
    def _absorb(self, item: int) -> None:
        """Take a new item into the state."""


def numbers(what: str, given: npt.ArrayLike, dimensions: int) -> Floats:
    """A read-only, contiguous copy of finite numbers ≥ 0 with the given number of dimensions, none of them empty."""
    try:
        array = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise InvalidProblem(f"{what} must be an array of numbers, all rows equally long: {error}") from None
    if array.ndim != dimensions or array.size == 0:
        shape = "a non-empty list" if dimensions == 1 else "a non-empty table (one row per item)"
        raise InvalidProblem(f"{what} must be {shape} of numbers, got an array of shape {array.shape}")
    for wrong, problem in ((~np.isfinite(array), "not a finite number"), (array < 0, "negative")):
        if wrong.any():
            where = tuple(int(i) for i in np.argwhere(wrong)[0])
            at = where[0] if dimensions == 1 else where
            raise InvalidProblem(f"{what}[{at}] is {array[where]}, {problem}: give finite numbers ≥ 0")
    array.flags.writeable = False
    return array

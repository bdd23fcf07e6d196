"""What the core needs of a set function: where it stands, and what each item would add."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class GrowingSet(Protocol):
    """A set function at a growing set S. `gain` costs what one item costs, not what S costs."""

    @property
    def chosen(self) -> tuple[int, ...]:
        """S, in the order added."""

    @property
    def value(self) -> float:
        """f(S)."""

    def gain(self, item: int) -> float:
        """f(item | S); zero for an item of S."""

    def gains(self, items: Ints | None = None) -> Floats:
        """f(a | S) for every item a, or for these items; zero on S."""

    def add(self, item: int) -> None:
        """S = S ∪ {item}."""


class Objective(Protocol):
    """A monotone submodular function of subsets of 0..size-1."""

    @property
    def size(self) -> int:
        """N, the number of items."""

    def start(self) -> GrowingSet:
        """The function at the empty set, ready to grow."""

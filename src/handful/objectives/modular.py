"""A modular function: items add what they are worth, whatever else is there."""

from __future__ import annotations

import numpy as np

from handful.objectives.arrays import ids_of, numbers
from handful.objectives.growing import Kept
from handful.problem import Floats


class Modular:
    """f(S) = Σ_{s∈S} values[s], values ≥ 0. Monotone and submodular (with equality)."""

    monotone = True
    submodular = True
    keeps_gains = True

    def __init__(self, values: object) -> None:
        self.values: Floats = numbers("values", values, 1).astype(np.float64)
        self.ids = ids_of(values)

    @property
    def size(self) -> int:
        """N, the number of items."""
        return len(self.values)

    def start(self) -> ModularProgress:
        """Progress at the empty set."""
        return ModularProgress(self.values)


class ModularProgress(Kept):
    """A modular function at a growing set; it has nothing to remember."""

    def _absorb(self, item: int) -> None:
        pass

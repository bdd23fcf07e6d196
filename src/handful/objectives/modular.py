"""A modular function: items add what they are worth, whatever else is there."""

from __future__ import annotations

import numpy.typing as npt

from handful.core.objective import Floats
from handful.objectives.growing import Growing, numbers


class Modular:
    """f(S) = Σ_{s∈S} values[s], values ≥ 0."""

    def __init__(self, values: npt.ArrayLike) -> None:
        self.values: Floats = numbers("values", values, 1)

    @property
    def size(self) -> int:
        """N, the number of items."""
        return len(self.values)

    def start(self) -> ModularProgress:
        """Progress at the empty set."""
        return ModularProgress(self.values)


class ModularProgress(Growing):
    """A modular function at a growing set; it has nothing to remember."""

    def __init__(self, values: Floats) -> None:
        super().__init__(len(values))
        self._values = values

    def _gain(self, item: int) -> float:
        return float(self._values[item])

    def _gains(self) -> Floats:
        return self._values.copy()

    def _absorb(self, item: int) -> None:
        pass

"""Facility location: every client is served by the chosen item most similar to it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from handful.core.objective import Floats
from handful.objectives.growing import Growing, numbers


class FacilityLocation:
    """f(S) = Σ_c max_{s∈S} similarity[s, c], similarities ≥ 0; one row per item, one column per client.

    With items as their own clients it picks representatives: a summary in which everything finds something like itself.
    """

    def __init__(self, similarity: npt.ArrayLike) -> None:
        self.similarity: Floats = numbers("similarity", similarity, 2)

    @property
    def size(self) -> int:
        """N, the number of items."""
        return len(self.similarity)

    def start(self) -> FacilityProgress:
        """Progress at the empty set."""
        return FacilityProgress(self.similarity)


class FacilityProgress(Growing):
    """Facility location at a growing set: how well each client is served already."""

    def __init__(self, similarity: Floats) -> None:
        super().__init__(len(similarity))
        self._similarity = similarity
        self._served = np.zeros(similarity.shape[1])

    def _gain(self, item: int) -> float:
        return float(np.maximum(self._similarity[item] - self._served, 0.0).sum())

    def _gains(self) -> Floats:
        return np.asarray(np.maximum(self._similarity - self._served, 0.0).sum(axis=1))

    def _absorb(self, item: int) -> None:
        np.maximum(self._served, self._similarity[item], out=self._served)

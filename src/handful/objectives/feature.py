"""Feature-based: a concave function of how much of each feature was gathered."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from handful.core.objective import Floats
from handful.errors import InvalidProblem
from handful.objectives.growing import Growing, numbers


class FeatureBased:
    """f(S) = Σ_d weights[d] · √(Σ_{s∈S} features[s, d]), features ≥ 0; one row per item, one column per feature.

    The square root makes the second helping of a feature worth less than the first.
    """

    def __init__(self, features: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> None:
        self.features: Floats = numbers("features", features, 2)
        columns = self.features.shape[1]
        self.weights: Floats = numbers("weights", np.ones(columns) if weights is None else weights, 1)
        if len(self.weights) != columns:
            raise InvalidProblem(f"{len(self.weights)} weights for {columns} features: give one weight per feature")

    @property
    def size(self) -> int:
        """N, the number of items."""
        return len(self.features)

    def start(self) -> FeatureProgress:
        """Progress at the empty set."""
        return FeatureProgress(self.features, self.weights)


class FeatureProgress(Growing):
    """A feature-based function at a growing set: how much of each feature is gathered."""

    def __init__(self, features: Floats, weights: Floats) -> None:
        super().__init__(len(features))
        self._features = features
        self._weights = weights
        self._gathered = np.zeros(features.shape[1])

    def _gain(self, item: int) -> float:
        return float(self._rises(self._features[item]).sum())

    def _gains(self) -> Floats:
        return np.asarray(self._rises(self._features).sum(axis=1))

    def _absorb(self, item: int) -> None:
        self._gathered += self._features[item]

    def _rises(self, features: Floats) -> Floats:
        """w·(√(g+x) − √g), written as w·x/(√(g+x) + √g): nothing cancels, so rounding keeps it non-increasing in g."""
        roots = np.sqrt(self._gathered + features) + np.sqrt(self._gathered)
        shares = np.divide(features, roots, out=np.zeros_like(roots), where=roots > 0.0)
        return np.asarray(self._weights * shares)

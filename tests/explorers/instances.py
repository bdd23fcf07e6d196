"""Instances on which a wrong pick is only just wrong, and when a promise is taken for kept or broken."""

from __future__ import annotations

import numpy as np

from handful.objectives import FacilityLocation, Modular
from handful.problem import Objective

HELD = 0.01  # a promise is taken for broken below this p-value
BROKEN = 1e-3  # what a radius of 0.3 must fall below


def stairs(size: int, k: int, step: float) -> Objective:
    """k items, each better than the next by `step`; all others are equal."""
    return Modular([3.0 + step * max(k - i, 0) for i in range(size)])


def families(k: int, members: int, step: float) -> Objective:
    """One member of each family counts; the first is better by `step`. A wrong pick of any round is for good."""
    similarity = np.zeros((k * members, k))
    for family in range(k):
        similarity[family * members : (family + 1) * members, family] = 10.0 * (k - family)
        similarity[family * members, family] += step
    return FacilityLocation(similarity)

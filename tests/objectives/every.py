"""One objective of every kind, from random numbers or from a few round ones (so that ties are everywhere)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from handful.objectives import (
    Coverage,
    FacilityLocation,
    FeatureBased,
    Function,
    GraphCut,
    LogDet,
    MarginalRelevance,
    Mixture,
    Modular,
    Reach,
    SampleAverage,
    SaturatedCoverage,
)
from handful.problem import Objective

KINDS = (
    "coverage", "coverage avoiding", "modular", "facility", "facility with query", "facility avoiding", "cosine", "rbf",
    "euclidean", "shifted", "represented", "feature", "feature log", "feature ratio", "feature avoiding", "saturated",
    "cut", "cut of features", "logdet", "logdet of features", "logdet with query", "logdet avoiding",
    "mixture", "average", "function", "reach",
)  # fmt: skip
ALL_KINDS = (*KINDS, "cut beyond", "cut with query", "cut avoiding", "mmr")


def make(kind: str, seed: int, size: int, width: int, *, tied: bool = False, dtype: Any = np.float64) -> Objective:
    """An objective of this kind over `size` items."""
    rng = np.random.default_rng(seed)
    table = rng.random((size, width)) * (rng.random((size, width)) < 0.7)
    weights = rng.random(width) * 3
    signs = rng.choice([-1.0, 1.0], size=(size, width))
    if tied:
        table, weights = np.round(table * 2) / 2, np.ones(width)
    if not (table > 0.0).any():  # features that are zero everywhere are refused
        table[0, 0] = 1.0
    table = table.astype(dtype)
    alike = table @ table.T
    match kind:
        case "coverage":
            return Coverage(weights, table)
        case "coverage avoiding":
            return Coverage(weights, table, avoid=table[:1] / 2)
        case "modular":
            return Modular(table.sum(axis=1))
        case "facility":
            return FacilityLocation(table)
        case "facility with query":
            return FacilityLocation(table, query=weights)
        case "facility avoiding":
            return FacilityLocation(table, avoid=table[:1] / 2)
        case "cosine":
            return FacilityLocation.from_features(table, dtype=dtype)
        case "rbf" | "euclidean":
            return FacilityLocation.from_features(table * signs, metric=kind, dtype=dtype)
        case "shifted":
            return FacilityLocation.from_features(
                table * signs, negatives="shift", query=table[:2] * signs[:2], dtype=dtype
            )
        case "represented":
            return FacilityLocation.from_features(table, represent=max(1, size // 2), avoid=table[:1] / 2, dtype=dtype)
        case "feature":
            return FeatureBased(table, weights)
        case "feature log":
            return FeatureBased(table, weights, "log")
        case "feature ratio":
            return FeatureBased(table, weights, "ratio")
        case "feature avoiding":
            return FeatureBased(table, weights, avoid=table[:1])
        case "saturated":
            return SaturatedCoverage(table, 0.4)
        case "cut":
            return GraphCut(alike, 0.4)
        case "cut of features":
            return GraphCut.from_features(table, 0.3)
        case "cut beyond":
            return GraphCut(alike, 0.9)
        case "logdet":
            return LogDet(alike, 2.0)
        case "logdet of features":
            return LogDet.from_features(table * signs, metric="rbf")
        case "logdet with query":
            return LogDet.from_features(table, query=table[:2])
        case "logdet avoiding":
            return LogDet.from_features(table, query=table.sum(axis=1), avoid=table[:2] / 2)
        case "cut with query":
            return GraphCut(alike, 0.3, query=table.sum(axis=1))
        case "cut avoiding":
            return GraphCut.from_features(table, 0.3, query=table[:1], avoid=table[:2] / 2)
        case "mixture":
            return Mixture([Coverage(weights, table), Modular(table.sum(axis=1))], [1.0, 0.3])
        case "average":
            return SampleAverage([FacilityLocation(table[:, [j]]) for j in range(width)])
        case "function":
            return Function(_Union(table > 0.5), size)
        case "reach":
            return Reach((table > 0.5).T, weights=weights)
        case "mmr":
            return MarginalRelevance(table, table.sum(axis=1), 0.4)
    raise ValueError(kind)


class _Union:
    """How many columns some item has; a class, so that it can be pickled."""

    def __init__(self, has: Any) -> None:
        self.has = has

    def __call__(self, items: tuple[int, ...]) -> float:
        return float(self.has[list(items)].any(axis=0).sum())


def value_of(objective: Objective, items: Any) -> float:
    """f of these items."""
    progress = objective.start()
    for item in items:
        progress.add(int(item))
    return progress.value


def best_value(objective: Objective, sets: Any) -> float:
    """The largest f over these sets."""
    return max(value_of(objective, items) for items in sets)


def subsets(size: int) -> list[tuple[int, ...]]:
    """All subsets of 0..size-1."""
    return [c for count in range(size + 1) for c in combinations(range(size), count)]

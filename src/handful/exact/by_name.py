"""Objectives by the names that the command line and `handful.sklearn` use."""

from __future__ import annotations

from typing import Any

from handful.errors import InvalidProblem
from handful.objectives import FacilityLocation, FeatureBased, GraphCut, LogDet
from handful.problem import Objective

NAMES = ("facility-location", "feature-based", "graph-cut", "log-det")


def objective_named(
    name: str, features: Any, *, metric: str = "rbf", represent: int | None = None, seed: int = 0
) -> Objective:
    """An objective over the rows of `features`; cosines and dot products below zero count as 0."""
    if name not in NAMES:
        raise InvalidProblem(f"there is no objective {name!r}: give one of {', '.join(NAMES)}")
    if represent is not None and name != "facility-location":
        raise InvalidProblem(f"represent is for facility-location: leave it out with {name}")
    if name == "feature-based":
        return FeatureBased(features)
    if name == "log-det":
        return LogDet.from_features(features, metric=metric)
    if name == "graph-cut":
        return GraphCut.from_features(features, metric=metric, negatives="clip")
    return FacilityLocation.from_features(features, metric=metric, negatives="clip", represent=represent, seed=seed)

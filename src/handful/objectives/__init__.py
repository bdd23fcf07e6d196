"""Known set functions with fast marginal gains; each says whether it is monotone and submodular."""

from __future__ import annotations

from handful.objectives.coverage import Coverage, Reach, keep, most_frequent, topic_coverage, topic_weights
from handful.objectives.diversity import GraphCut, LogDet, MarginalRelevance
from handful.objectives.facility import FacilityLocation
from handful.objectives.feature import FeatureBased, SaturatedCoverage
from handful.objectives.function import Function, Mixture, Modular, SampleAverage, Table, appendix_b
from handful.objectives.similarity import Metric

__all__ = [
    "Coverage",
    "FacilityLocation",
    "FeatureBased",
    "Function",
    "GraphCut",
    "LogDet",
    "MarginalRelevance",
    "Metric",
    "Mixture",
    "Modular",
    "Reach",
    "SampleAverage",
    "SaturatedCoverage",
    "Table",
    "appendix_b",
    "keep",
    "most_frequent",
    "topic_coverage",
    "topic_weights",
]

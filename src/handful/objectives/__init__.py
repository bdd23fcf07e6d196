"""Known set functions with fast marginal gains; each says whether it is monotone and submodular."""

from __future__ import annotations

from handful.objectives.coverage import Coverage, keep, most_frequent, topic_coverage, topic_weights
from handful.objectives.facility import FacilityLocation
from handful.objectives.feature import FeatureBased, SaturatedCoverage
from handful.objectives.function import Function
from handful.objectives.logdet import LogDet
from handful.objectives.mixture import Mixture, SampleAverage
from handful.objectives.mmr import MarginalRelevance
from handful.objectives.modular import Modular
from handful.objectives.pairs import GraphCut
from handful.objectives.similarity import Metric
from handful.objectives.table import Table, appendix_b
from handful.objectives.turf import Reach

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

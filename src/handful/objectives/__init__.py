"""Known monotone submodular functions with fast marginal gains."""

from __future__ import annotations

from handful.objectives.coverage import Coverage, keep, most_frequent, topic_coverage, topic_weights
from handful.objectives.facility import FacilityLocation
from handful.objectives.feature import FeatureBased
from handful.objectives.modular import Modular
from handful.objectives.table import Table, appendix_b

__all__ = [
    "Coverage",
    "FacilityLocation",
    "FeatureBased",
    "Modular",
    "Table",
    "appendix_b",
    "keep",
    "most_frequent",
    "topic_coverage",
    "topic_weights",
]

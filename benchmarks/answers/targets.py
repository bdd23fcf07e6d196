"""Figures with their targets, and the curves they are read from."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from benchmarks.answers.runs import RunOutcome
from handful.problem import PerItem
from reproduction.statistics import student_quantile

K = TypeVar("K")


@dataclass(frozen=True)
class Figure:
    """A number, and what is aimed at: `sense` says on which side of the target it must lie. Not `judged`: it is of too
    few runs to say whether it does.
    """

    section: str
    what: str
    value: float
    unit: Literal["×", "answers", "share", "f/greedy", ""] = ""
    sense: Literal["≥", "≤", "<", ""] = ""
    target: float | None = None
    note: str = ""
    judged: bool = True

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None if there is none, or it is not judged."""
        if self.target is None or not self.judged:
            return None
        if self.sense == "≥":
            return self.value >= self.target
        return self.value <= self.target if self.sense == "≤" else self.value < self.target


class CurvePoint(NamedTuple):
    """A point of a curve: the mean quality at so many answers per item and round."""

    per_item: float
    quality: float
    error: float  # standard error of the mean


def group(outcomes: Sequence[RunOutcome], key: Callable[[RunOutcome], K]) -> dict[K, list[RunOutcome]]:
    """Outcomes by a key, in the order met."""
    found: dict[K, list[RunOutcome]] = {}
    for outcome in outcomes:
        found.setdefault(key(outcome), []).append(outcome)
    return found


def mean_answers(outcomes: Sequence[RunOutcome]) -> float:
    """The mean number of answers of these runs."""
    return float(np.mean([o.answers for o in outcomes]))


def mean_fewest(outcomes: Sequence[RunOutcome]) -> float:
    """How many answers somebody who knows f would have asked for, on average."""
    return float(np.mean([o.fewest for o in outcomes]))


def mean_quality(outcomes: Sequence[RunOutcome]) -> float:
    """The mean of f over exact greedy's f."""
    return float(np.mean([o.quality for o in outcomes]))


def curve(outcomes: Sequence[RunOutcome]) -> list[CurvePoint]:
    """Mean quality against the budget per item and round."""
    points = []
    for per_item, some in group(outcomes, per_item_of).items():
        qualities = np.array([o.quality for o in some])
        error = float(qualities.std(ddof=1) / math.sqrt(len(some))) if len(some) > 1 else math.inf
        points.append(CurvePoint(per_item, float(qualities.mean()), error))
    return sorted(points)


def per_item_of(outcome: RunOutcome) -> float:
    """The budget of a run per item and round."""
    assert isinstance(outcome.run.budget, PerItem)
    return outcome.run.budget.answers


def better(*curves: Sequence[CurvePoint]) -> list[CurvePoint]:
    """Point by point the best of several curves over the same budgets."""
    return [max(points, key=lambda p: p.quality) for points in zip(*curves, strict=True)]


def cost_of(points: Sequence[CurvePoint], quality: float) -> float:
    """The budget at which a curve first reaches a quality, interpolated in log budget.

    Below its first point the curve is not followed: that budget is returned, and what is read off is a lower bound of a
    saving. ∞ if it is never reached.
    """
    if points[0].quality >= quality:
        return points[0].per_item
    for a, b in pairwise(points):
        if b.quality >= quality:
            share = (quality - a.quality) / (b.quality - a.quality)
            return math.exp(math.log(a.per_item) + share * (math.log(b.per_item) - math.log(a.per_item)))
    return math.inf


def advantage(ours: Sequence[RunOutcome], theirs: Sequence[RunOutcome]) -> tuple[float, float]:
    """The mean difference in quality over pairs of the same instance and seed, and its lower 95% limit.

    Runs on one instance are not independent of each other, so the limit is over instances.
    """
    differences = {
        key: mean_quality(mine) - mean_quality(group(theirs, instance_of)[key])
        for key, mine in group(ours, instance_of).items()
    }
    x = np.array(list(differences.values()))
    if len(x) < 2:
        return float(x.mean()), -math.inf
    return float(x.mean()), float(x.mean() - student_quantile(len(x) - 1) * x.std(ddof=1) / math.sqrt(len(x)))


def instance_of(outcome: RunOutcome) -> int:
    """Which instance a run was on."""
    return outcome.run.instance

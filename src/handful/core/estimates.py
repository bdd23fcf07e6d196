"""What an explorer knows about each item in the open round: a mean and an interval, for pictures and dashboards.

For explorers that keep bounds the interval is their own confidence interval. For those that only believe
(`worth`, `duels`, `pivot`) it is the mean of the belief and two standard deviations, on its own scale, and no
claim.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handful.core.certificates import radii
from handful.core.explorers.certified.audit import AuditState
from handful.core.explorers.certified.every_round import EveryRoundState
from handful.core.explorers.duels import DuelsState
from handful.core.explorers.pivot import PivotState
from handful.core.explorers.protocol import State
from handful.core.explorers.sharp import SharpState
from handful.core.explorers.topx.sets import TopXState, scale
from handful.core.explorers.worth import WorthState
from handful.core.objective import Floats


@dataclass(frozen=True)
class Estimates:
    """One number per item; nan and ±∞ where nothing is known."""

    mean: Floats
    lower: Floats
    upper: Floats


def estimate(state: State) -> Estimates:
    """The explorer's own view of every candidate."""
    view = _view(state)
    gone = state.board.items["where"] < 0
    view.mean[gone] = np.nan
    view.lower[gone] = -np.inf
    view.upper[gone] = np.inf
    return view


def believes(state: State) -> bool:
    """Whether the intervals are of a belief, and no claim."""
    return isinstance(state, (WorthState, DuelsState, PivotState))


def _view(state: State) -> Estimates:
    if isinstance(state, (WorthState, DuelsState)):
        return _believed(state.items["mean"], state.items["variance"])
    if isinstance(state, PivotState):
        return _believed(state.belief.items["mean"], state.belief.items["variance"])
    items = state.board.items
    count = items["count"]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(count > 0, items["total"] / count, np.nan)
        if isinstance(state, (SharpState, EveryRoundState)):
            bounds = state.bounds.items
            return Estimates(mean, bounds["lower"].copy(), bounds["upper"].copy())
        radius = np.full(len(items), np.inf)
        if isinstance(state, TopXState):
            radius = scale(state) / np.sqrt(count)
        elif isinstance(state, AuditState):
            radius = _anytime(state)
    known = count > 0
    lower, upper = np.where(known, mean - radius, -np.inf), np.where(known, mean + radius, np.inf)
    if isinstance(state, TopXState) and state.rules["beta"][0] != -1.0:  # shares of comparisons won
        lower, upper = np.where(known, np.maximum(lower, 0.0), lower), np.where(known, np.minimum(upper, 1.0), upper)
    if isinstance(state, AuditState) and state.joint.rules["span"][0] > 0:
        high, span = float(state.joint.rules["high"][0]), float(state.joint.rules["span"][0])
        return Estimates(mean, np.maximum(lower, high - span), np.minimum(upper, high))
    return Estimates(mean, lower, upper)


def _believed(mean: Floats, variance: Floats) -> Estimates:
    spread = 2.0 * np.sqrt(variance)
    return Estimates(mean.copy(), mean - spread, mean + spread)


def _anytime(state: AuditState) -> Floats:
    """For each item asked in this round."""
    rules, items = state.joint.rules[0], state.board.items
    alpha = float(rules["delta"]) / (len(items) * int(rules["k"]))
    return radii(items["count"], items["spread"], float(rules["noise"]), alpha, float(rules["span"]))

"""What is known about each item in a round: a mean and an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handful.core.explorers.protocol import State
from handful.core.explorers.topx import TopXState, scale
from handful.core.objective import Floats
from handful.study.setup import Setup


@dataclass(frozen=True)
class Estimates:
    """One number per item; nan and ±∞ where nothing was asked."""

    mean: Floats
    lower: Floats
    upper: Floats


def estimates_of(setup: Setup, state: State) -> Estimates:
    """The means of the open round and the explorer's own confidence radii."""
    items = state.board.items
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(items["count"] > 0, items["total"] / items["count"], np.nan)
        radius = np.full(len(items), np.inf)
        if isinstance(state, TopXState):
            radius = np.where(items["count"] > 0, scale(state) / np.sqrt(items["count"]), np.inf)
    unknown = items["count"] == 0
    return Estimates(mean, np.where(unknown, -np.inf, mean - radius), np.where(unknown, np.inf, mean + radius))

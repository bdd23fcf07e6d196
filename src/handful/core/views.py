"""An explorer's view of each item in the open round: a mean and an interval, for results, pictures and dashboards.

An explorer that keeps bounds shows its own confidence intervals. One that only believes (`worth`, `duels`, `pivot`)
shows the mean of its belief and two standard deviations on either side; that is no claim.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from handful.core.objective import Floats
from handful.core.parts.board import Board

Mask = np.ndarray[Any, np.dtype[np.bool_]]
GAIN, SHARE, STRENGTH = "gain", "share of comparisons won", "strength (log-odds)"


@dataclass(frozen=True)
class View:
    """One number per item; nan and ±∞ where nothing is known.

    `scale` says what the numbers are of; `believed` whether the intervals are of a belief, and no claim.
    """

    mean: Floats
    lower: Floats
    upper: Floats
    scale: str = GAIN
    believed: bool = False

    def without(self, gone: Mask) -> View:
        """The same view with nothing said of the items that are `gone`."""
        return replace(
            self,
            mean=np.where(gone, np.nan, self.mean),
            lower=np.where(gone, -np.inf, self.lower),
            upper=np.where(gone, np.inf, self.upper),
        )

    def within(self, least: float, most: float, cut: Mask | bool = True) -> View:
        """The same view with the intervals of the items in `cut` kept between `least` and `most`."""
        lower = np.where(cut, np.maximum(self.lower, least), self.lower)
        upper = np.where(cut, np.minimum(self.upper, most), self.upper)
        return replace(self, lower=lower, upper=upper)


def means_of(board: Board) -> Floats:
    """The mean answer of each item in this round; nan where there is none."""
    count = board.items["count"]
    return np.divide(board.items["total"], count, out=np.full(len(count), np.nan), where=count > 0)


def mean_view(board: Board, scale: str = GAIN) -> View:
    """Means alone: nothing bounds them."""
    mean = means_of(board)
    return View(mean, np.full(len(mean), -np.inf), np.full(len(mean), np.inf), scale)


def interval_view(board: Board, radius: Floats, scale: str = GAIN) -> View:
    """Means, each with its radius on either side."""
    mean, known = means_of(board), board.items["count"] > 0
    return View(mean, np.where(known, mean - radius, -np.inf), np.where(known, mean + radius, np.inf), scale)


def belief_view(mean: Floats, variance: Floats, scale: str = GAIN) -> View:
    """Means of a belief, and two standard deviations on either side."""
    spread = 2.0 * np.sqrt(variance)
    return View(mean.copy(), mean - spread, mean + spread, scale, True)

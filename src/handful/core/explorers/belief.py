"""Gaussian beliefs about all items, and drawing from them: what `thompson` and `duels` share.

A belief is a mean and a variance per item. Two independent posterior draws name two items: the one that looks best
in each.
"""

from __future__ import annotations

import math

import numpy as np

from handful.core.draws import BELIEF, normals
from handful.core.explorers.board import Board, Rows
from handful.core.kernels import kernel, small

ITEM = np.dtype([("mean", np.float64), ("variance", np.float64)], align=True)
FARTHEST = 8.7  # no draw is farther from the mean, in standard deviations: √(−2 log 2⁻⁵⁴)


def new_beliefs(size: int, mean: float, variance: float) -> Rows:
    """The same belief about every item."""
    items = np.zeros(size, ITEM)
    items["mean"] = mean
    items["variance"] = variance
    return items


@small
def best_of(items: Rows, board: Board) -> int:
    """The candidate of the best mean; ties to the lower index."""
    best = board.open[0]
    for p in range(board.round[0].candidates):
        i = board.open[p]
        if items[i].mean > items[best].mean:
            best = i
    return best


@kernel
def two_draws(items: Rows, board: Board, n: int) -> tuple[int, int]:
    """The best of one posterior draw, and the best other of a second one.

    Question n of a round uses its own counters, one per item. An item that could not win either draw is not drawn.
    """
    r = board.round[0]
    lead = best_of(items, board)
    size = len(items)
    z1, z2 = normals(r.seed, r.round, BELIEF, n * size + lead)
    sd = math.sqrt(items[lead].variance)
    first, one = lead, items[lead].mean + sd * z1
    second, two = lead, items[lead].mean + sd * z2  # the best of the second draw,
    third, three = -1, -np.inf  # and its runner-up
    for p in range(r.candidates):
        i = board.open[p]
        sd = math.sqrt(items[i].variance)
        reach = items[i].mean + FARTHEST * sd
        if i == lead or (reach < one and reach < three):
            continue
        z1, z2 = normals(r.seed, r.round, BELIEF, n * size + i)
        if items[i].mean + sd * z1 > one:
            first, one = i, items[i].mean + sd * z1
        x = items[i].mean + sd * z2
        if x > two:
            third, three = second, two
            second, two = i, x
        elif x > three:
            third, three = i, x
    return first, second if second != first else third

"""How sure a belief is that a candidate is the best, and whether that is enough to end a round.

What a round that ends early leaves is shared evenly among those after it.
"""

from __future__ import annotations

import math

from handful.core.kernels import kernel
from handful.core.parts.board import Board, Rows
from handful.core.parts.strengths import Strengths, pick_of

_EVERY = 4  # answers between two looks
_POINTS = (-1.84, -1.158, -0.815, -0.55, -0.319, -0.105, 0.105, 0.319, 0.55, 0.815, 1.158, 1.84)  # a twelfth each
_SURELY = 5.0  # standard deviations beyond which nothing is left to chance


@kernel
def chance_of_best(items: Rows, board: Board, best: int) -> float:
    """How likely `best` is stronger than every other candidate, averaged over twelve equally likely strengths of it."""
    total, sd = 0.0, math.sqrt(items[best].variance)
    for q in range(len(_POINTS)):
        strength, chance = items[best].mean + sd * _POINTS[q], 1.0
        for p in range(board.round[0].candidates):
            j = board.open[p]
            z = (strength - items[j].mean) / math.sqrt(items[j].variance)
            if j != best and z < _SURELY:
                chance *= 0.5 * math.erfc(-z / math.sqrt(2.0))
                if chance < 1e-4:
                    break
        total += chance
    return total / len(_POINTS)


@kernel
def is_decided(belief: Strengths, board: Board) -> bool:
    """Whether the belief is as sure of the best as it must be to end the round; looked at now and then."""
    sure = belief.rules[0].sure
    if sure == 0.0 or board.round[0].counted % _EVERY != 0:
        return False
    return chance_of_best(belief.said, board, pick_of(belief, board)) >= sure

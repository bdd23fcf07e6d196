"""How sure a belief is that the candidate of the best mean is the best."""

from __future__ import annotations

import math

from handful.core.kernels import kernel
from handful.core.parts.board import Board, Rows, even_share

EVERY = 4  # answers between two looks
_SOBER = 0.8  # of a distance in standard deviations: beliefs of this kind are surer than they should be


@kernel
def share_of_budget(board: Board, sure: float) -> int:
    """What a round may cost: an even share of what is left, or twice that where rounds end when they are decided."""
    even = even_share(board.round[0].left, board.round[0].rounds)
    return min(board.round[0].left, 2 * even) if sure > 0.0 else even


@kernel
def chance_of_best(items: Rows, board: Board, best: int) -> float:
    """At least how likely `best` is stronger than every other candidate, by the belief (a union bound)."""
    left = 1.0
    for p in range(board.round[0].candidates):
        j = board.open[p]
        if j != best:
            z = (items[best].mean - items[j].mean) / math.sqrt(items[best].variance + items[j].variance)
            left -= 0.5 * math.erfc(_SOBER * z / math.sqrt(2.0))
            if left <= 0.0:
                return 0.0
    return left

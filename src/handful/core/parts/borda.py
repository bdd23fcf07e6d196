"""Whether an item beats a random rival as often as its strength says, and by how much it does not.

Where tastes differ, an item may win close contests and lose to most others. Questions against a random rival tell: with
n of them about an item, w won, and b what the strengths say, r = w − n·b. Over all items, τ² = Σ(r² − nb(1 − b))/Σn² is
how far shares lie from what strengths say; it is taken for 0 unless it is more than chance would have. An item's share
is then believed to be b + r/n·τ²/(τ² + b(1 − b)/n), and its strength is shifted by as much, on the scale of strengths.
"""

from __future__ import annotations

import math

import numpy as np

from handful.core.kernels import kernel
from handful.core.parts.board import Board, Rows

_SHARE = np.dtype(
    [("count", np.float64), ("won", np.float64), ("share", np.float64), ("shift", np.float64)], align=True
)
_KEPT = 0.5  # of what was counted, for the next round
_CHANCE = 2.0  # standard deviations that are put down to chance
_FARTHEST = 8.0  # that a strength is shifted


def new_shares(size: int) -> Rows:
    """Nothing is known of any item."""
    return np.zeros(size, _SHARE)


@kernel
def share_by_strength(items: Rows, board: Board, item: int) -> float:
    """How often the item would beat a random other candidate, by the strengths."""
    total = 0.0
    for p in range(board.round[0].candidates):
        j = board.open[p]
        if j != item:
            kappa = 1.0 / math.sqrt(1.0 + math.pi * (items[item].variance + items[j].variance) / 8.0)
            total += 1.0 / (1.0 + math.exp(-kappa * (items[item].mean - items[j].mean)))
    return total / max(board.round[0].candidates - 1, 1)


@kernel
def note_random(shares: Rows, items: Rows, board: Board, item: int, won: float) -> None:
    """The item was compared with a random rival."""
    shares[item].count += 1.0
    shares[item].won += won
    shares[item].share = min(max(share_by_strength(items, board, item), 0.02), 0.98)
    shift_strengths(shares, board)


@kernel
def shift_strengths(shares: Rows, board: Board) -> None:
    """By how much each candidate's share lies off, on the scale of strengths."""
    excess, weight, noise = 0.0, 0.0, 0.0
    for p in range(board.round[0].candidates):
        row = shares[board.open[p]]
        if row.count > 0.0:
            chance = row.count * row.share * (1.0 - row.share)
            excess += (row.won - row.count * row.share) ** 2 - chance
            weight += row.count * row.count
            noise += 2.0 * chance * chance
    spread = excess / weight if excess > _CHANCE * math.sqrt(noise) else 0.0
    for p in range(board.round[0].candidates):
        row = shares[board.open[p]]
        row.shift = 0.0
        if row.count > 0.0 and spread > 0.0:
            chance = row.share * (1.0 - row.share)
            off = (row.won / row.count - row.share) * spread / (spread + chance / row.count)
            share = min(max(row.share + off, 0.01), 0.99)
            shift = math.log(share / (1.0 - share)) - math.log(row.share / (1.0 - row.share))
            row.shift = min(max(shift, -_FARTHEST), _FARTHEST)


@kernel
def keep_some(shares: Rows) -> None:
    """A round begins: what was counted before it counts less."""
    for i in range(len(shares)):
        shares[i].count *= _KEPT
        shares[i].won *= _KEPT

"""What whoever asks has been asked before in this round: so that nobody compares the same two items twice.

A state of an explorer that goes by this has an array `seen`, a row per question that this person was asked: how much of
it they have compared, then its options. Whoever calls `propose` writes it there before and takes it away after, so that
nothing of one person is left for the next.
"""

from __future__ import annotations

import numpy as np

from handful.core.kernels import kernel
from handful.core.objective import Ints
from handful.core.parts.board import Board, rival_of

ALL, FIRST = 0, 1  # all pairs of the options were asked; or only those with the first of them, which was named
_TRIES, _AGAIN = 8, 2**31  # to find a rival who is new to whoever asks; the t-th of question n draws as n + t·_AGAIN
MOST_SEEN = 64  # questions of one person and round that are remembered: the latest


def new_seen(options: int) -> Ints:
    """Nothing was asked of anybody."""
    return np.full((MOST_SEEN, options + 1), -1, np.int64)


@kernel
def has_compared(seen: Ints, a: int, b: int) -> bool:
    """Whether whoever asks has compared these two items in this round, or was asked to."""
    for r in range(len(seen)):
        row = seen[r]
        if row[0] < 0:
            return False
        found = 0
        for q in range(1, len(row)):
            if row[q] == a or row[q] == b:
                found += 1
        if found == 2 and (row[0] == ALL or row[1] == a or row[1] == b):
            return True
    return False


@kernel
def new_rival(board: Board, seen: Ints, item: int, n: int) -> int:
    """A random candidate whom whoever asks has not compared with `item`; -1 if several tries find none."""
    for t in range(_TRIES):
        rival = rival_of(board, item, n + t * _AGAIN)
        if not has_compared(seen, item, rival):
            return rival
    return -1

"""What whoever asks has been asked before in this round: so that nobody compares the same two items twice.

A state of an explorer that goes by this has an array `seen`, a row per question that this person was asked: how much of
it they have compared, then its options. Whoever calls `propose` writes it there before and takes it away after, so that
nothing of one person is left for the next.
"""

from __future__ import annotations

import numpy as np

from handful.core.kernels import kernel
from handful.core.objective import Ints

ALL, FIRST = 0, 1  # all pairs of the options were asked; or only those with the first of them, which was named
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

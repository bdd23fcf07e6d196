"""What whoever asks has been asked before in this round: so that nobody compares the same two items twice.

A state of an explorer that goes by this has an array `seen`, a row per question that this person was asked: how much of
it they have compared, then its options. At rest it has a single row that says nothing. Whoever calls `propose` for a
person hands over a state with that person's rows in its place, as many as there are.

Whom they have compared with the items at hand is marked in another array of the state, `compared`, with an entry per
item: so that to look at all candidates takes no longer for somebody who was asked much. What is marked is taken away
after, so that nothing of one person is left for the next.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from handful.core.kernels import kernel
from handful.core.objective import Ints
from handful.core.parts.board import Board, rival_of

ALL, FIRST = 0, 1  # all pairs of the options were asked; or only those with the first of them, which was named
_TRIES, _AGAIN = 8, 2**31  # to find a rival who is new to whoever asks; the t-th of question n draws as n + t·_AGAIN
Marks = np.ndarray[Any, np.dtype[np.bool_]]


def nothing_seen(options: int) -> Ints:
    """Nothing was asked of anybody."""
    return np.full((1, options + 1), -1, np.int64)


def no_marks(size: int) -> Marks:
    """Nobody was compared with anybody."""
    return np.zeros(size, np.bool_)


@kernel
def mark_compared(seen: Ints, item: int, compared: Marks) -> None:
    """Mark all items that whoever asks has compared with `item` in this round, or was asked to."""
    for r in range(len(seen)):
        row = seen[r]
        if row[0] < 0:
            return
        there = False
        for q in range(1, len(row)):
            there |= row[q] == item
        if not there:
            continue
        if row[0] != ALL and row[1] != item:
            compared[row[1]] = True
            continue
        for q in range(1, len(row)):
            if row[q] >= 0:
                compared[row[q]] = True


@kernel
def unmark_all(seen: Ints, compared: Marks) -> None:
    """Take away what was marked."""
    for r in range(len(seen)):
        row = seen[r]
        if row[0] < 0:
            return
        for q in range(1, len(row)):
            if row[q] >= 0:
                compared[row[q]] = False


@kernel
def new_rival(board: Board, compared: Marks, item: int, n: int) -> int:
    """A random candidate who is not marked as compared with `item`; -1 if several tries find none."""
    for t in range(_TRIES):
        rival = rival_of(board, item, n + t * _AGAIN)
        if not compared[rival]:
            return rival
    return -1

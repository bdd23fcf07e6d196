"""What every explorer keeps about a round: candidates, how often each was asked, and how the round ended.

The board is plain arrays: kernels can be compiled for it, and it can be copied, and compared to the bit.
Candidates are listed in an order that is drawn from the seed: a strict comparison while scanning them gives ties to the
first, so that the order in which items were given makes no difference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from handful.draws import ORDER, PICK, RIVAL, below, uniforms
from handful.kernels import kernel
from handful.problem import OPEN, Floats, Ints

NOBODY = -1  # the rival of a question for a value
NOW = -1  # what a question is given: all picks so far; i ≥ 0 for the first i picks alone

_ROUND = np.dtype(
    [
        ("seed", np.uint64),
        ("round", np.int64),  # 1, 2, ... as in the paper's j
        ("candidates", np.int64),  # |C|
        ("left", np.int64),  # answers that this round and those after it may cost in all; -1 for no limit
        ("rounds", np.int64),  # rounds left, this one among them
        ("limit", np.int64),  # answers this round may cost; -1 for no limit
        ("in_flight", np.int64),
        ("asked", np.int64),  # questions asked in this round, void ones taken off again
        ("counted", np.int64),  # answers that have entered the bounds of this round
        ("ended", np.int64),
        ("size", np.int64),  # l = |A|
        ("pick", np.int64),
        ("reached", np.float64),  # ε′ reached, in the units of the answers
    ],
    align=True,
)


_ITEM = np.dtype(
    [
        ("where", np.int64),  # position among the candidates, or -1 for a chosen or withdrawn item
        ("count", np.int64),  # T, answers counted in this round
        ("waiting", np.int64),  # questions in flight
        ("total", np.float64),  # the sum of the answers counted
        ("spread", np.float64),  # Σ (answer − mean of those before it)², from the second on
    ],
    align=True,
)
Rows = np.ndarray[Any, Any]


class Board(NamedTuple):
    """The state that all explorers share. (Few arrays of many fields: passing an array to a kernel takes time.)"""

    round: Rows  # one row
    items: Rows  # a row per item
    open: Ints  # candidates, in the order drawn; the first `candidates` entries count
    best: Ints  # A, when the round has ended; the first `size` entries count


def new_board(size: int, k: int, seed: int, in_flight: int) -> Board:
    """A board before the first round: every item a candidate."""
    order = first_order(size, seed)
    round_ = np.zeros(1, _ROUND)
    round_["seed"] = np.uint64(seed)
    round_["candidates"] = size
    round_["in_flight"] = in_flight
    round_["pick"] = -1
    items = np.zeros(size, _ITEM)
    items["where"][order] = np.arange(size)
    return Board(round_, items, order, np.zeros(max(k, 1), np.int64))


def first_order(size: int, seed: int, prior: Floats | None = None) -> Ints:
    """All items in an order that is drawn from the seed; the higher scores of a prior first."""
    order = np.arange(size)
    _shuffle_all(order, np.uint64(seed))
    if prior is not None:
        order = order[np.argsort(-prior[order], kind="stable")]
    return order


@kernel
def _shuffle_all(items: Ints, seed: Any) -> None:
    for p in range(len(items) - 1, 0, -1):
        q = below(p + 1, seed, 0, ORDER, p)
        items[p], items[q] = items[q], items[p]


@kernel
def even_share(left: int, rounds: int) -> int:
    """What one of the rounds left may cost if all get the same; -1 for no limit."""
    return -1 if left < 0 else left // rounds


@kernel
def clear(board: Board, round_: int, left: int, rounds: int) -> None:
    """Begin a round: nothing asked, nothing known, and an even share of what is left to spend."""
    r = board.round[0]
    r.round = round_
    r.left = left
    r.rounds = rounds
    r.limit = even_share(left, rounds)
    r.asked = 0
    r.counted = 0
    r.ended = OPEN
    r.size = 0
    r.pick = -1
    r.reached = np.inf
    for i in range(len(board.items)):
        board.items[i].count = 0
        board.items[i].waiting = 0
        board.items[i].total = 0.0
        board.items[i].spread = 0.0


@kernel
def remove(board: Board, item: int) -> None:
    """`item` is no longer a candidate: it was chosen, or withdrawn."""
    r = board.round[0]
    at = board.items[item].where
    if at < 0:
        return
    for p in range(at, r.candidates - 1):
        board.open[p] = board.open[p + 1]
        board.items[board.open[p]].where = p
    r.candidates -= 1
    board.items[item].where = -1


@kernel
def room(board: Board) -> bool:
    """Whether the limits of the round allow one more question."""
    r = board.round[0]
    if r.ended != OPEN or r.asked - r.counted >= r.in_flight:
        return False
    return r.limit < 0 or r.asked < r.limit


@kernel
def note_asked(board: Board, item: int, given: int) -> None:
    """A question about `item` is in flight."""
    board.round[0].asked += 1
    if given == NOW:
        board.items[item].waiting += 1


@kernel
def note_counted(board: Board, item: int, given: int, answer: float) -> None:
    """An answer about `item` has come; it enters the item's mean if it is given all picks so far."""
    board.round[0].counted += 1
    if given != NOW:
        return
    row = board.items[item]
    row.waiting -= 1
    row.spread += surprise(row.count, row.total, answer)
    row.count += 1
    row.total += answer


@kernel
def surprise(count: int, total: float, answer: float) -> float:
    """How far an answer is from the mean of the `count` before it, squared; 0 for the first."""
    return (answer - total / count) ** 2 if count > 0 else 0.0


@kernel
def note_void(board: Board, item: int, given: int) -> None:
    """A question about `item` will never be answered, and costs nothing."""
    board.round[0].asked -= 1
    if given == NOW:
        board.items[item].waiting -= 1


@kernel
def rival_of(board: Board, item: int, number: int) -> int:
    """A candidate other than `item`, uniformly at random (the Borda reduction)."""
    r = board.round[0]
    p = below(r.candidates - 1, r.seed, r.round, RIVAL, number)
    return board.open[p + 1 if p >= board.items[item].where else p]


@kernel
def shuffle(board: Board, items: Ints, size: int) -> None:
    """Put the first `size` entries of `items` in random order (Fisher and Yates)."""
    r = board.round[0]
    for p in range(size - 1, 0, -1):
        q = below(p + 1, r.seed, r.round, ORDER, p)
        items[p], items[q] = items[q], items[p]


@kernel
def mean(board: Board, item: int) -> float:
    """The empirical mean of this round; −∞ for an item never asked."""
    return board.items[item].total / board.items[item].count if board.items[item].count > 0 else -np.inf


@kernel
def pick_one(board: Board, item: int, ended: int, reached: float) -> None:
    """The round is over, and A is one item."""
    board.best[0] = item
    board.round[0].size = 1
    end(board, ended, reached)


@kernel
def end(board: Board, ended: int, reached: float) -> None:
    """The round is over: A stands in the first `size` entries of `best`; draw the pick from it (Alg. 1, line 5)."""
    r = board.round[0]
    r.ended = ended
    r.reached = reached
    u, _ = uniforms(r.seed, r.round, PICK, 0)
    r.pick = board.best[min(int(u * r.size), r.size - 1)]


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

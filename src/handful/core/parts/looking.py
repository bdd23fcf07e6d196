"""Looking around: who of very many is worth a closer look, before anybody is asked about often.

A third of all answers, at most, are first ones, but 20 items for each pick are looked at in any case: with three
answers per item or more everybody is asked about once before anybody is asked about again; with fewer, so many as that
is enough for, in an order that is drawn (or that of a prior's scores). Pass p then asks once more about the best
n·p^−a of these n, until some are left that may be compared one by one. The power a is such that all passes cost what
looking around may cost.

With a = 1 this is sequential halving (Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits",
ICML 2013) that leaves out some after every answer, instead of half now and then. It differs in three things more: all
answers about an item count, not those of the last stage alone; nobody is out of the question for good; and where
answers differ little beside what they are about, at most half are asked about again. A few items, drawn before any
answer, are asked about twice at once: they say how much answers differ; after a pass those who are left do, for answers
about the better may differ more than others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from handful.core.kernels import kernel, rare
from handful.core.objective import Floats, Ints
from handful.core.parts.board import Board, Rows, first_order
from handful.core.parts.gains import Gains, renew

_SHARE = 0.63  # of all answers, at most, are for looking around
_FIRST = 3  # one in so many of all answers, at most, is a first one
_EACH = 5  # items for each pick are left at the end
_MANY = 4  # times as many are looked at in passes at all
_MOST = 4  # answers for each item that is looked at, at most
_TWICE = 16  # items are asked about twice at once
_RELIABLE = 4.0  # gains that vary so many times more than the means of answers need no more answers
_LEAST_POWER, _MOST_POWER, _STEPS = 0.3, 6.0, 30  # where the power is searched for
_WAIT, _OVER = -1, -2

_RULES = np.dtype(
    [
        ("looking", np.int64),  # whether there is something to look for
        ("one_in", np.int64),  # in so many of all answers, at most, is a first one
        ("plan", np.int64),  # answers for looking around
        ("least", np.int64),  # items left at the end
        ("first", np.int64),  # items that are looked at in the first pass, n
        ("power", np.float64),  # a
        ("held", np.int64),  # items that are looked at: the first of the queue
        ("until", np.int64),  # those of them who are asked about in this pass
        ("next", np.int64),
        ("passes", np.int64),
        ("count", np.int64),  # answers about each
    ],
    align=True,
)


class Looking(NamedTuple):
    """Whom to look at."""

    rules: Rows
    queue: Ints


def new_looking(size: int, seed: int, prior: Floats | None = None) -> Looking:
    """Everybody in an order that is drawn; the higher scores of a prior first."""
    rules = np.zeros(1, _RULES)
    rules["one_in"] = _FIRST
    return Looking(rules, first_order(size, seed, prior))


@kernel
def start_looking(looking: Looking, board: Board) -> None:
    """Plan it: for as many items as there are answers for, and with the power that spends the plan."""
    rules, r = looking.rules[0], board.round[0]
    there = 0
    for p in range(len(looking.queue)):
        item = looking.queue[p]
        if board.items[item].where >= 0:
            looking.queue[p], looking.queue[there] = looking.queue[there], item
            there += 1
    rules.least = min(_EACH * r.rounds, there)
    rules.plan = int(_SHARE * r.left) if r.left >= 0 else 2 * there
    rules.first = min(there, max(r.left // rules.one_in if r.left >= 0 else there, _MANY * rules.least))
    rules.plan = min(rules.plan, _MOST * rules.first)
    rules.power = _power_of(rules)
    rules.held = rules.first
    rules.looking = 1
    rules.until = rules.held
    rules.next = 0
    rules.passes = 0
    rules.count = 1


@kernel
def _power_of(rules: Any) -> float:
    """The smallest power with which all passes cost no more than the plan (by bisection)."""
    low, high = _LEAST_POWER, _MOST_POWER
    for _ in range(_STEPS):
        power, cost, p = 0.5 * (low + high), 0.0, 1.0
        asked = float(rules.first)
        while asked > rules.least and cost <= rules.plan:
            cost += asked
            p += 1.0
            asked = rules.first * p**-power
        if cost > rules.plan:
            low = power
        else:
            high = power
    return high


@kernel
def look(looking: Looking, gains: Gains, board: Board) -> int:
    """Whom to ask about; _WAIT until answers have come (and nothing has changed), _OVER when there is nobody."""
    rules, r = looking.rules[0], board.round[0]
    if rules.next >= rules.until:
        if 2 * (r.asked - r.counted) > rules.until:
            return _WAIT
        if not _next_pass(looking, gains, board):
            rules.looking = 0
            return _OVER
    rules.next += 1
    return looking.queue[rules.next - 1]


@rare
def _learn_noise_of(gains: Gains, some: Ints, size: int) -> None:
    """Let the noise be that of answers about the first `size` of some items, of this round."""
    rules, squares, free = gains.rules[0], 0.0, 0
    for p in range(size):
        row = gains.items[some[p]]
        squares += row.squares
        free += max(row.count - 1, 0)
    if free >= 3:
        rules.squares = squares
        rules.groups = rules.answers - free


@rare
def _next_pass(looking: Looking, gains: Gains, board: Board) -> bool:
    """Begin to ask again; False if nobody is to be asked about."""
    rules, r = looking.rules[0], board.round[0]
    rules.next = 0
    rules.passes += 1
    if r.counted == 0:  # all came to nothing
        rules.until = rules.held
        return True
    wide = rules.first >= _MANY * rules.least
    if rules.passes == 1 and wide and rules.held >= 4 * _TWICE:
        rules.until = _TWICE
        return True
    _learn_noise_of(gains, looking.queue, rules.held)
    renew(gains)
    known = gains.rules[0]
    kept = int(rules.first * (rules.count + 1.0) ** -rules.power)
    if known.noise <= rules.count * known.spread / _RELIABLE:
        kept = min(kept, rules.held // 2)
    if not wide or kept <= rules.least or r.asked >= rules.plan:
        return False
    keep_best(looking.queue, gains.items, rules.held, kept)
    rules.held = kept
    rules.until = kept
    rules.count += 1
    return True


@kernel
def _better(items: Rows, i: int, j: int) -> bool:
    """Whether more is believed of i than of j; where it is the same, a draw decides."""
    if items[i].mean != items[j].mean:
        return items[i].mean > items[j].mean
    return items[i].tie > items[j].tie


@kernel
def keep_best(queue: Ints, items: Rows, size: int, kept: int) -> None:
    """Put the best `kept` of the first `size` in front, by the mean and tie of a row (Hoare's quickselect)."""
    low, high = 0, size - 1
    while low < high:
        pivot = queue[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while _better(items, queue[i], pivot):
                i += 1
            while _better(items, pivot, queue[j]):
                j -= 1
            if i <= j:
                queue[i], queue[j] = queue[j], queue[i]
                i += 1
                j -= 1
        if kept - 1 <= j:
            high = j
        elif kept - 1 >= i:
            low = i
        else:
            return

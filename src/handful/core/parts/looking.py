"""Looking around: who of very many is worth a closer look, before anybody is asked about often.

So many items as the budget can afford are asked about once, in an order that is drawn (or that of a prior's scores).
Then those who look better, half as many each time, are asked about as often again, until some are left that may be
compared one by one (sequential halving: Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits",
ICML 2013). It differs from theirs in three things: all answers about an item count, not those of the last stage alone;
nobody is out of the question for good; and where answers differ little beside what they are about, nothing is asked
again. A few items, drawn before any answer, are asked about twice at once: they say how much answers differ; after a
stage those who are left do, for answers about the better may differ more than others.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handful.core.kernels import kernel, rare
from handful.core.objective import Floats, Ints
from handful.core.parts.board import Board, Rows, first_order
from handful.core.parts.gains import Gains, learn_noise_of, renew

_SHARE = 0.6  # of all answers, at most, are for looking around
_ONCE = 0.36  # of these are for first answers, at most
_EACH = 5  # items for each pick are left at the end
_MANY = 4  # times as many are halved at all
_MOST = 4  # answers for each item that is looked at, at most
_TWICE = 16  # items are asked about twice at once
_RELIABLE = 4.0  # gains that vary so many times more than the means of answers need no more answers
_WAIT, _OVER = -1, -2

_RULES = np.dtype(
    [
        ("looking", np.int64),  # whether there is something to look for
        ("plan", np.int64),  # answers for looking around
        ("least", np.int64),  # items left at the end
        ("held", np.int64),  # items that are looked at: the first of the queue
        ("until", np.int64),  # those of them who are asked about in this pass
        ("next", np.int64),
        ("passes", np.int64),
        ("stages", np.int64),  # times that half of the items are left
        ("count", np.int64),  # answers about each
        ("stop", np.int64),  # answers asked for when this stage is over
    ],
    align=True,
)


class Looking(NamedTuple):
    """Whom to look at."""

    rules: Rows
    queue: Ints


def new_looking(size: int, seed: int, prior: Floats | None = None) -> Looking:
    """Everybody in an order that is drawn; the higher scores of a prior first."""
    return Looking(np.zeros(1, _RULES), first_order(size, seed, prior))


@kernel
def start_looking(looking: Looking, board: Board) -> None:
    """Plan it: for as many items as there are answers for, and for as many halvings as that needs."""
    rules, r = looking.rules[0], board.round[0]
    there = 0
    for p in range(len(looking.queue)):
        item = looking.queue[p]
        if board.items[item].where >= 0:
            looking.queue[p], looking.queue[there] = looking.queue[there], item
            there += 1
    rules.least = min(_EACH * r.rounds, there)
    rules.plan = int(_SHARE * r.left) if r.left >= 0 else 2 * there
    rules.held = min(there, max(int(_ONCE * rules.plan), _MANY * rules.least))
    rules.stages = math.ceil(math.log2(rules.held / rules.least)) if rules.held >= _MANY * rules.least else 0
    rules.plan = min(rules.plan, _MOST * rules.held)
    rules.looking = 1
    rules.until = rules.held
    rules.next = 0
    rules.passes = 0
    rules.count = 1
    rules.stop = rules.plan // max(rules.stages, 1)


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
def _next_pass(looking: Looking, gains: Gains, board: Board) -> bool:
    """Begin to ask again; False if nobody is to be asked about."""
    rules, r = looking.rules[0], board.round[0]
    rules.next = 0
    rules.passes += 1
    if r.counted == 0:  # all came to nothing
        rules.until = rules.held
        return True
    if rules.passes == 1 and rules.stages > 0 and rules.held >= 4 * _TWICE:
        rules.until = _TWICE
        return True
    learn_noise_of(gains, looking.queue, rules.held)
    renew(gains)
    known = gains.rules[0]
    if rules.stages == 0:
        return False
    if known.noise > rules.count * known.spread / _RELIABLE and r.asked + rules.held <= rules.stop:
        rules.count += 1
        rules.until = rules.held
        return True
    rules.stages -= 1
    if rules.stages <= 0 or r.asked >= rules.plan:
        return False
    kept = max(rules.least, (rules.held + 1) // 2)
    keep_best(looking.queue, gains.items, rules.held, kept)
    rules.held = kept
    rules.until = kept
    rules.count += 1
    rules.stop = r.asked + max(kept, (rules.plan - r.asked) // rules.stages)
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

"""The scout: finds an item that is probably about the best, cheaply, and promises nothing.

It has a belief about gains (`gains.py`) and asks about the item whose answers are worth most each (`worth_of_asking`):
first everybody once, in an order that is drawn (or that of a prior's scores), then the contenders. It is done when the
leader is expected to lose no more than a share `near` of its gain, or than `enough`: where all that is left is little,
it does not matter who is best. It is done, too, when its patience is at an end (`patience`, set by whoever is to prove
something about the pick): where several are equally good, no number of answers would tell them apart.

The more an audit will cost, because answers vary much beside gains, the dearer is a poor pick: then it looks closer,
and in the first round, whose answers serve the audit too, closer still. What is expected to be lost to the best of all
others is taken to be the root of the sum of the squares of what would be lost to each alone.

What is in flight counts as if it left means as they are, so that many in flight are spread over those that matter. No
more are asked than seem nearly enough, and not too many about an item before those before them are answered.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handful.core.kernels import kernel
from handful.core.objective import Floats, Ints
from handful.core.parts.belief import worth_of_asking
from handful.core.parts.board import Board, Rows, first_order
from handful.core.parts.gains import (
    NO_SPREAD,
    Gains,
    add_answer,
    begin_round,
    forget,
    leader,
    new_gains,
    sure,
    worthiest,
)

_PLENTY = 2  # how many times what is in flight about an item must have been answered
_SOON = 2.0  # times what may be lost is little enough to see first what is in flight
_ALMOST = 0.3  # of the worth of the worthiest answers is enough to ask for others while these are out
_ROOT = math.sqrt(2.0 * math.pi)
_USUAL, _POWER = 0.33, 0.75  # an answer's standard deviation as a share of a gain, with which `near` is meant as it is
_CLOSEST, _FARTHEST, _SLOWER = 0.5, 2.0, 0.3  # times `near`, for answers that vary much or little beside that
_FIRST = 0.3  # times that in the first round, whose answers serve the audit too,
_FIRST_ENOUGH = 0.5  # and times `enough`: where that is large beside gains, there will be little to prove
_FALLS = 0.15  # of a gain is lost at most, when something that it has in common with others is picked

_RULES = np.dtype(
    [
        ("near", np.float64),
        ("usual", np.float64),  # the mean gain of the picks so far
        ("enough", np.float64),  # a difference in gain that does not matter
        ("patience", np.int64),  # after so many answers in a round whoever leads is picked
        ("queued", np.int64),  # first questions of the first round
        ("next", np.int64),
    ],
    align=True,
)


class Scout(NamedTuple):
    """What it believes, and whom it asks first."""

    rules: Rows
    gains: Gains
    order: Ints


def new_scout(size: int, seed: int, near: float, noise: float, prior: Floats | None = None) -> Scout:
    """A scout that believes nothing yet; a prior's scores say whom to ask first."""
    r = np.zeros(1, _RULES)
    r["near"] = near
    return Scout(r, new_gains(size, seed, noise, most=_FALLS), first_order(size, seed, prior))


@kernel
def scout_begin(scout: Scout, board: Board) -> None:
    """The first round asks everybody once; a later one starts from what is believed, with more doubt."""
    rules = scout.rules[0]
    begin_round(scout.gains)
    rules.next = 0
    rules.queued = len(scout.order) if scout.gains.rules[0].spread == 0.0 else 0


@kernel
def scout_forget(scout: Scout, item: int) -> None:
    """`item` is no longer a candidate."""
    forget(scout.gains, item)


@kernel
def scout_add(scout: Scout, board: Board, item: int, answer: float) -> None:
    """An answer is on the board."""
    add_answer(scout.gains, item, answer, board.round[0].candidates)


@kernel
def scout_mean(scout: Scout, item: int) -> float:
    """What is believed of an item's gain."""
    return scout.gains.items[item].mean + scout.gains.rules[0].origin


@kernel
def scout_lead(scout: Scout) -> int:
    """Who would be picked now: the best mean; of those without an answer, and of equal means, the first in order."""
    items = scout.gains.items
    if scout.gains.rules[0].spread > 0.0:
        return leader(scout.gains)
    best, most = -1, -np.inf
    for p in range(len(scout.order)):
        row = items[scout.order[p]]
        mean = row.total / row.count if row.count > 0 else -np.inf
        if row.place > -2 and (best < 0 or mean > most):
            best, most = scout.order[p], mean
    return best


@kernel
def _first_of(scout: Scout, board: Board) -> int:
    """Where in the order somebody stands who has not been asked in this first round; -1 for nobody."""
    rules = scout.rules[0]
    for p in range(rules.next, rules.queued):
        if board.items[scout.order[p]].where >= 0:
            return p
    return -1


@kernel
def scout_next(scout: Scout, board: Board) -> int:
    """What to ask next; -1 to wait for what is in flight, if that seems enough."""
    rules, r = scout.rules[0], board.round[0]
    p = _first_of(scout, board)
    if p >= 0:
        rules.next = p + 1
        return scout.order[p]
    busy = r.asked > r.counted
    if scout.gains.rules[0].spread == 0.0:  # first answers are in flight, or came to nothing
        return -1 if busy else board.open[r.asked % r.candidates]
    item, most = worthiest(scout.gains, board, np.inf)
    if not _seen(scout, board):
        item = leader(scout.gains)
    if not busy:
        return item
    if r.asked >= rules.patience or _close_enough(scout, board, _SOON):
        return -1
    return _another(scout, board, most) if _plenty(board, item) else item


@kernel
def _another(scout: Scout, board: Board, most: float) -> int:
    """Whom to ask about while it is better to see first what is out about the worthiest, worth `most`; -1: nobody."""
    gains = scout.gains
    items, lead, noise = gains.items, leader(gains), gains.rules[0].noise
    best, worth = -1, _ALMOST * most
    for p in range(gains.rules[0].held):
        i = gains.top[p]
        if i != lead and not _plenty(board, i):
            hope = worth_of_asking(items[lead].mean - items[i].mean, sure(gains, board, i), noise, np.inf, worth)
            if hope > worth:
                best, worth = i, hope
    return best


@kernel
def _plenty(board: Board, item: int) -> bool:
    """Whether so much is in flight about an item that it is better to see it first."""
    return _PLENTY * board.items[item].waiting > max(1, board.items[item].count)


@kernel
def _expected_loss(scout: Scout, board: Board) -> float:
    """What the leader is expected to lose to the best of the others, about."""
    gains, items = scout.gains, scout.gains.items
    lead = leader(gains)
    own = sure(gains, board, lead)
    total = 0.0
    for p in range(gains.rules[0].held):
        i = gains.top[p]
        if i == lead:
            continue
        s = math.sqrt(own + sure(gains, board, i))
        x = (items[lead].mean - items[i].mean) / s
        if x < 8.0:
            lost = s * (math.exp(-0.5 * x * x) / _ROOT - 0.5 * x * math.erfc(x / math.sqrt(2.0)))
            total += lost * lost
    return math.sqrt(total)


@kernel
def _close_enough(scout: Scout, board: Board, times: float) -> bool:
    """Whether what the leader is expected to lose is little, or `times` that."""
    rules = scout.rules[0]
    if scout.gains.rules[0].spread <= NO_SPREAD:
        return True
    gain = max(scout_mean(scout, leader(scout.gains)), 0.5 * rules.usual)
    sd, beside = math.sqrt(scout.gains.rules[0].noise), rules.usual if rules.usual > 0.0 else gain
    far = _POWER * math.log(_USUAL * beside / sd) if beside > 0.0 else -1.0
    far = min(1.0 + _SLOWER * far, _FARTHEST) if far > 0.0 else max(math.exp(far), _CLOSEST)
    near, enough = rules.near * gain, rules.enough
    if scout.gains.rules[0].first == 1:
        near *= _FIRST
        enough *= _FIRST_ENOUGH
    return _expected_loss(scout, board) <= times * far * max(near, enough)


@kernel
def scout_done(scout: Scout, board: Board) -> bool:
    """Whether the leader is to be picked, now that nothing is in flight."""
    if _first_of(scout, board) >= 0 or scout.gains.rules[0].spread == 0.0:
        return False
    tired = board.round[0].counted >= scout.rules[0].patience
    return (tired or _close_enough(scout, board, 1.0)) and _seen(scout, board)


@kernel
def _seen(scout: Scout, board: Board) -> bool:
    """Whether the leader was asked about in this round, as nobody is picked on what was: its gain may be gone."""
    row = board.items[leader(scout.gains)]
    return row.count + row.waiting > 0

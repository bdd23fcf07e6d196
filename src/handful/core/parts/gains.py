"""A belief about gains, learnt from answers alone, and the few contenders that more answers may be worth it for.

A Gaussian belief per item. The noise of answers and the level and spread of gains are learnt from the answers
(empirical Bayes, renewed after every N answers). Between rounds an item's gain stays as it was (the pick has nothing in
common with it) or falls by some share of what it is above the usual; the answers of the new round say which is the
likelier, and how much of the old belief is worth keeping. How often gains stay may be learnt too (`learns`).

Nothing depends on where zero is or on the unit: answers are taken relative to the first one, and all that is compared
has the same unit. (To the last bit, where the shift rounds nothing and the unit is a power of two.)

An answer moves one belief. Those of the largest mean + _REACH standard deviations are the contenders; all others stand
in a tournament tree, so that an answer costs O(contenders + log N). Where keys are equal, a draw decides.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handful.core.kernels import kernel, rare
from handful.core.objective import Floats, Ints
from handful.core.parts.belief import worth_of_asking
from handful.core.parts.board import Board, Rows
from handful.core.parts.staying import STAY, STAYING, fallen, fit_of_staying, learn_staying
from handful.core.parts.tree import draw_ties, new_tree, plant, seat

CONTENDERS = 24
_REACH = 2.0
NO_SPREAD = 1e-300  # of gains whose exact answers were all equal
FIRST = 5.0  # where R is known, R²/2 counts like so many answers about the noise

_RULES = np.dtype(
    [
        ("origin", np.float64),  # the first answer
        ("answers", np.int64),
        ("groups", np.int64),  # pairs of item and round with an answer
        ("squares", np.float64),  # Σ (X − mean of its item and round)²
        ("cap", np.float64),  # R², or 0 if nothing is known
        ("noise", np.float64),  # variance of an answer, as far as is known
        ("level", np.float64),  # mean of gains, relative to the origin
        ("spread", np.float64),  # variance of gains between items; 0 before it is known
        ("first", np.int64),  # whether this is the first round
        ("counted", np.int64),  # answers of this round
        ("renewed", np.int64),  # and when noise and spread were learnt last
        ("held", np.int64),  # contenders
        ("bold", np.float64),  # how many times the spread is the variance of what is believed before any answer
        ("stay", np.float64),  # how likely a gain stays as it is
        ("learns", np.int64),  # whether that is learnt
        ("most", np.float64),  # of a gain is lost when it falls, where zero is known; else ∞
    ],
    align=True,
)

_ITEM = np.dtype(
    [
        ("mean", np.float64),  # the belief, relative to the origin
        ("variance", np.float64),
        ("before", np.float64),  # and the one the item entered this round with
        ("doubt", np.float64),  # its variance
        ("count", np.int64),  # answers of this round
        ("total", np.float64),  # their sum, relative to the origin
        ("squares", np.float64),  # Σ (X − their mean)²
        ("key", np.float64),
        ("tie", np.float64),
        ("place", np.int64),  # among the contenders, -1 for none, -2 for no candidate
    ],
    align=True,
)


class Gains(NamedTuple):
    """Beliefs about all items."""

    rules: Rows
    items: Rows
    top: Ints  # contenders, in no order
    others: Ints  # tree of everybody else, by key
    means: Ints  # tree of all candidates, by mean
    staying: Floats  # for each of STAYING, the logarithm of how likely it made the answers of rounds that are over


def new_gains(
    size: int, seed: int, noise: float, bold: float = 1.0, *, learns: bool = False, most: float = np.inf
) -> Gains:
    """Beliefs before the first answer; `noise` is R, or 0 if it is not known."""
    r = np.zeros(1, _RULES)
    r["stay"] = STAY
    r["learns"] = learns
    r["most"] = most
    r["cap"] = noise * noise
    r["bold"] = bold
    items = np.zeros(size, _ITEM)
    top = np.full(min(CONTENDERS, size), -1, np.int64)
    gains = Gains(r, items, top, new_tree(size), new_tree(size), np.zeros(len(STAYING)))
    draw_ties(items, seed)
    _arrange(gains)
    return gains


# Contenders.


@rare
def _arrange(gains: Gains) -> None:
    """All keys are new: find the contenders."""
    rules, items, leaves = gains.rules[0], gains.items, len(gains.others) // 2
    for i in range(len(items)):
        there = items[i].place > -2
        items[i].key = items[i].mean + _REACH * math.sqrt(items[i].variance)
        items[i].place = -1 if there else -2
        gains.others[leaves + i] = i if there else -1
        gains.means[leaves + i] = i if there else -1
    plant(gains.others, items["key"], items["tie"])
    plant(gains.means, items["mean"], items["tie"])
    rules.held = 0
    for _ in range(len(gains.top)):
        _promote(gains)


@kernel
def _promote(gains: Gains) -> None:
    """The best of the others becomes a contender."""
    rules, item = gains.rules[0], gains.others[1]
    if item < 0 or rules.held == len(gains.top):
        return
    seat(gains.others, gains.items["key"], gains.items["tie"], item, False)
    gains.top[rules.held] = item
    gains.items[item].place = rules.held
    rules.held += 1


@kernel
def _demote(gains: Gains, item: int) -> None:
    """A contender is none any more."""
    rules, place = gains.rules[0], gains.items[item].place
    rules.held -= 1
    last = gains.top[rules.held]
    gains.top[place] = last
    gains.items[last].place = place
    gains.items[item].place = -1


@kernel
def _show(gains: Gains, item: int) -> None:
    """The belief about one item has moved."""
    items, row = gains.items, gains.items[item]
    row.key = row.mean + _REACH * math.sqrt(row.variance)
    seat(gains.means, items["mean"], items["tie"], item, True)
    if row.place < 0:
        seat(gains.others, items["key"], items["tie"], item, True)
        best = gains.others[1]
        if best != item:
            return
        least = gains.top[0]
        for p in range(1, gains.rules[0].held):
            if items[gains.top[p]].key < items[least].key:
                least = gains.top[p]
        if items[least].key >= row.key:
            return
    else:
        best, least = gains.others[1], item
        if best < 0 or items[best].key <= row.key:
            return
    _demote(gains, least)
    _promote(gains)
    seat(gains.others, items["key"], items["tie"], least, True)


@kernel
def forget(gains: Gains, item: int) -> None:
    """`item` is a candidate no more."""
    row = gains.items[item]
    if row.place == -2:
        return
    if row.place >= 0:
        _demote(gains, item)
    seat(gains.others, gains.items["key"], gains.items["tie"], item, False)
    seat(gains.means, gains.items["mean"], gains.items["tie"], item, False)
    row.place = -2
    if gains.rules[0].held < len(gains.top):
        _promote(gains)


# The belief.


@rare
def begin_round(gains: Gains) -> None:
    """What is believed is where the new round starts from."""
    rules = gains.rules[0]
    if rules.learns == 1 and rules.first == 0 and rules.counted > 0:
        rules.stay = learn_staying(rules, gains.items, gains.staying)
    rules.first = 1 if rules.spread == 0.0 else 0
    rules.counted = 0
    rules.renewed = 0
    for i in range(len(gains.items)):
        row = gains.items[i]
        row.before = row.mean
        row.doubt = row.variance
        row.count = 0
        row.total = 0.0
        row.squares = 0.0
    if rules.first == 0:
        for i in range(len(gains.items)):
            _believe(gains, i)
    _arrange(gains)


@kernel
def _believe(gains: Gains, item: int) -> None:
    """The posterior of one item: its gain is as it was, or has fallen, each as likely as the answers make it."""
    rules, row = gains.rules[0], gains.items[item]
    mean, variance = row.before, row.doubt
    low, wide = mean, variance
    if rules.first == 0:
        low, wide = fallen(rules, row)
    share = 1.0 - rules.stay
    if row.count > 0:
        error = rules.noise / row.count
        here = row.total / row.count
        u, w = variance + error, wide + error
        away, below = here - mean, here - low
        if rules.first == 0:
            share = 1.0 / (1.0 + rules.stay / (1.0 - rules.stay) * math.exp(min(fit_of_staying(rules, row), 700.0)))
        mean += variance / u * away
        variance *= error / u
        low += wide / w * below
        wide *= error / w
    if rules.first == 0:
        variance += share * (wide - variance) + share * (1.0 - share) * (low - mean) ** 2
        mean += share * (low - mean)
    row.mean = mean
    row.variance = variance


@kernel
def _learn_noise(gains: Gains, between: float) -> None:
    """From answers about the same item in the same round; before there are any, from what is known or guessed."""
    rules = gains.rules[0]
    free = float(rules.answers - rules.groups)
    if rules.cap > 0.0:
        rules.noise = (rules.squares + FIRST * 0.5 * rules.cap) / (free + FIRST)
    elif free >= 3.0:
        rules.noise = rules.squares / free
    elif rules.noise == 0.0:
        rules.noise = 0.5 * between


@rare
def renew(gains: Gains) -> None:
    """Learn the noise, and in the first round level and spread of gains (by the method of moments)."""
    rules, items = gains.rules[0], gains.items
    between = 0.0
    if rules.first == 1:
        asked, level, inverse = 0.0, 0.0, 0.0
        for i in range(len(items)):
            if items[i].count > 0:
                asked += 1.0
                level += items[i].total / items[i].count
                inverse += 1.0 / items[i].count
        level /= asked
        for i in range(len(items)):
            if items[i].count > 0:
                between += (items[i].total / items[i].count - level) ** 2
        between /= max(asked - 1.0, 1.0)
        _learn_noise(gains, between)
        chance = rules.noise * inverse / asked  # what noise alone makes of `between`, and a spread it could still hide:
        hidden = 2.0 * chance * math.sqrt(2.0 / max(asked - 1.0, 1.0))
        rules.level = level
        rules.spread = max(between - chance, hidden, 1e-9 * between)
        if not rules.spread > 0.0:  # all answers are equal, and there is no noise
            rules.spread = NO_SPREAD
        for i in range(len(items)):
            items[i].before = level
            items[i].doubt = rules.bold * rules.spread
    else:
        _learn_noise(gains, 0.0)
    rules.noise = max(rules.noise, 1e-9 * rules.spread)
    for i in range(len(items)):
        _believe(gains, i)
    _arrange(gains)
    rules.renewed = rules.counted


@kernel
def add_answer(gains: Gains, item: int, answer: float, everybody: int) -> None:
    """One belief moves; now and then all of them, when noise and spread are learnt anew: first after `everybody`."""
    rules, row = gains.rules[0], gains.items[item]
    if rules.answers == 0:
        rules.origin = answer
    x = answer - rules.origin
    rules.answers += 1
    rules.counted += 1
    if row.count == 0:
        rules.groups += 1
    else:
        before = row.total / row.count
        square = (x - before) * (x - (row.total + x) / (row.count + 1))
        row.squares += square
        rules.squares += square
    row.count += 1
    row.total += x
    if rules.counted - rules.renewed >= len(gains.items) or (rules.spread == 0.0 and rules.counted >= everybody):
        renew(gains)
    elif rules.spread > 0.0:
        _believe(gains, item)
        _show(gains, item)


@kernel
def leader(gains: Gains) -> int:
    """The best mean; before anything is believed, anybody."""
    return gains.means[1]


@kernel
def worthiest(gains: Gains, board: Board, left: float) -> tuple[int, float]:
    """The item whose answers are worth most, and how much each, if up to `left` may be asked."""
    items, lead, noise = gains.items, leader(gains), gains.rules[0].noise
    best, most, second = lead, 0.0, -np.inf
    for p in range(gains.rules[0].held):
        i = gains.top[p]
        if i == lead:
            continue
        second = max(second, items[i].mean)
        hope = worth_of_asking(items[lead].mean - items[i].mean, sure(gains, board, i), noise, left, most)
        if hope > most:
            best, most = i, hope
    if second == -np.inf:
        return lead, 0.0
    own = worth_of_asking(items[lead].mean - second, sure(gains, board, lead), noise, left, most)
    return (lead, own) if own > most else (best, most)


@kernel
def sure(gains: Gains, board: Board, item: int) -> float:
    """The variance of a belief once what is in flight has come."""
    v = gains.items[item].variance
    waiting = board.items[item].waiting
    return v / (1.0 + v * waiting / gains.rules[0].noise) if waiting > 0 else v

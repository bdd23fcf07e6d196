"""A belief about gains, learnt from answers alone: who is worth a closer look, and who is probably the best."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from handful.explorers.belief import worth_of_asking
from handful.explorers.board import Board, Rows, first_order
from handful.explorers.bounds import draw_ties, new_tree, plant, seat
from handful.kernels import kernel, rare
from handful.problem import Floats, Ints

STAY, _FALL = 0.5, 0.4  # how likely a gain stays as it is; else how much of what is above the usual it loses, about
STAYING = np.array([0.02, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.98])  # how often gains may stay; at first all alike
_SUREST = 30.0  # no item's answers speak more strongly for staying or falling than this, in logarithms


@kernel
def fallen(rules: Any, row: Any) -> tuple[float, float]:
    """The mean and variance with which an item enters this round if its gain has fallen."""
    lost = _FALL * max(row.before - rules.level, math.sqrt(rules.spread))
    if rules.most < np.inf:
        lost = min(lost, rules.most * max(row.before + rules.origin, 0.0))
    return row.before - lost, row.doubt + lost * lost


@kernel
def fit_of_staying(rules: Any, row: Any) -> float:
    """How much likelier, in logarithms, the answers of this round are if the gain stayed as it was."""
    low, wide = fallen(rules, row)
    error, here = rules.noise / row.count, row.total / row.count
    u, w = row.doubt + error, wide + error
    away, below = here - row.before, here - low
    return 0.5 * (below * below / w - away * away / u + math.log(w / u))


@rare
def learn_staying(rules: Any, items: Any, staying: Floats) -> float:
    """How often gains stay as they are, by the answers of the round that is over and of those before it.

    `staying` has the logarithm of how likely each of STAYING made them, and grows.
    """
    for i in range(len(items)):
        if items[i].count > 0:
            ratio = math.exp(min(max(fit_of_staying(rules, items[i]), -_SUREST), _SUREST))
            for g in range(len(staying)):
                staying[g] += math.log(STAYING[g] * ratio + 1.0 - STAYING[g])
    top, total, stay = staying[0], 0.0, 0.0
    for g in range(len(staying)):
        top = max(top, staying[g])
    for g in range(len(staying)):
        weight = math.exp(staying[g] - top)
        total += weight
        stay += weight * STAYING[g]
    return stay / total


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


_SHARE = 0.63  # of all answers, at most, are for looking around
_FIRST = 3  # one in so many of all answers, at most, is a first one
_EACH = 5  # items for each pick are left at the end
_MANY = 4  # times as many are looked at in passes at all
_MOST = 4  # answers for each item that is looked at, at most
_TWICE = 16  # items are asked about twice at once
_RELIABLE = 4.0  # gains that vary so many times more than the means of answers need no more answers
_LEAST_POWER, _MOST_POWER, _STEPS = 0.3, 6.0, 30  # where the power is searched for
_WAIT, _OVER = -1, -2

_LOOKING_RULES = np.dtype(
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
    rules = np.zeros(1, _LOOKING_RULES)
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


_PLENTY = 2  # how many times what is in flight about an item must have been answered
_SOON = 2.0  # times what may be lost is little enough to see first what is in flight
_ALMOST = 0.3  # of the worth of the worthiest answers is enough to ask for others while these are out
_ROOT = math.sqrt(2.0 * math.pi)
_USUAL, _POWER = 0.33, 0.75  # an answer's standard deviation as a share of a gain, with which `near` is meant as it is
_CLOSEST, _FARTHEST, _SLOWER = 0.5, 2.0, 0.3  # times `near`, for answers that vary much or little beside that
_SCOUT_FIRST = 0.3  # times that in the first round, whose answers serve the audit too,
_FIRST_ENOUGH = 0.5  # and times `enough`: where that is large beside gains, there will be little to prove
_FALLS = 0.15  # of a gain is lost at most, when something that it has in common with others is picked

_SCOUT_RULES = np.dtype(
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
    r = np.zeros(1, _SCOUT_RULES)
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
        near *= _SCOUT_FIRST
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

"""The claim of an audit, tested as one sum: W − s·Σ_B v ≥ −ε, where B is what an optimal set has beyond the anchor."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handful.confidence import FIRST, TOP, bet_cost, normal_cost
from handful.explorers.board import Board, Rows, surprise
from handful.explorers.bounds import rank
from handful.kernels import kernel, rare
from handful.problem import Floats, Ints

NORMALS = 2  # ways with ρ and BROADER·ρ; the next is by bets
BROADER = 30.0
MANY = 8  # answers, from which on an item is always in the pool
_SIGHTS = 12  # the first questions of a study say how large gains are, and are not counted

_CLAIM_RULES = np.dtype(
    [
        ("k", np.int64),
        ("share", np.float64),  # s
        ("epsilon", np.float64),  # ε
        ("noise", np.float64),  # R
        ("span", np.float64),  # H; 0 if no range is known
        ("high", np.float64),  # and its upper end, else ∞
        ("delta", np.float64),  # δ
        ("shrink", np.float64),  # multiplies widths; 1 but in tests of power
        ("anchor", np.int64),  # i, how many picks are given
        ("worth", np.float64),  # about f(S)
        ("alone", np.int64),  # 1 where only answers given these picks count, which an item has one account of
        ("sighted", np.int64),  # first answers that have come
        ("sight", np.float64),  # and their sum
        ("rho", np.float64),  # ρ
        ("cycles", np.int64),  # n: each pick has so many fresh answers
        ("fresh", np.float64),  # weighted sum of all fresh answers
        ("fresh_spread", np.float64),  # Σ weight²·(answer − mean of those before it about the same pick)²
        ("whole", np.float64),  # the sum as it was when the last batch was whole: half a batch shows nothing
        ("whole_spread", np.float64),  # and so the other
        ("fresh_rho", np.float64),  # ρ for W
        ("shown", np.float64),  # by how much W − s·U exceeds −ε at least; below 0 nothing is shown
        ("way", np.int64),  # how that was found
        ("turn", np.int64),  # and which other way was tried
        ("pooled", np.int64),  # items in the pool: all at first; 0 to gather it anew
        ("moved", np.int64),  # items that may have left the place they had when it was
    ],
    align=True,
)

_ITEM = np.dtype(
    [
        ("skip", np.int32),  # first questions in flight
        ("round", np.int32),  # the latest that asked, from 0
        ("rounds", np.int32),  # how many asked
        ("count", np.int32),  # its answers
        ("total", np.float64),
        ("spread", np.float64),  # as on the board
        ("start", np.int32),  # the same of the first round
        ("old", np.int32),  # the same when the anchor was chosen; -1 if the item cannot be in B
        ("start_total", np.float64),
        ("start_spread", np.float64),
        ("old_rounds", np.int32),
        ("now", np.int32),  # answers of the audit, given the anchor's picks
        ("old_total", np.float64),
        ("old_spread", np.float64),
        ("now_total", np.float64),
        ("now_spread", np.float64),
    ],
    align=True,
)


class Claim(NamedTuple):
    """What is known of W and of all gains, and what it shows."""

    rules: Rows
    items: Rows
    torn: Ints  # 1 for each round that ended with questions in flight
    log_y: Floats  # where each way was best last
    best: Ints  # a set B, and
    keys: Floats  # what its items add
    pool: Ints  # the items that any set B can be taken from (`pool.py`)
    taken: Ints  # how many of each class are in it


def new_claim(size: int, k: int, **rules: float) -> Claim:
    """The accounts before the first answer."""
    r = np.zeros(1, _CLAIM_RULES)
    for name, value in ({"shrink": 1.0, "rho": 10.0, "fresh_rho": 10.0} | rules).items():
        r[name] = value
    r["k"] = k
    r["alone"] = 1
    r["shown"] = -np.inf
    items = np.zeros(size, _ITEM)
    items["round"] = -1
    r["pooled"] = size
    torn, best, pool = np.zeros(k, np.int64), np.zeros(k, np.int64), np.arange(size)
    return Claim(r, items, torn, np.zeros(NORMALS + 1), best, np.zeros(k), pool, np.zeros(MANY * (k + 1), np.int64))


# What is learnt.


@kernel
def note_first(claim: Claim, item: int, picked: int, n: int) -> None:
    """Question n of a round is asked: is it one of the first?"""
    if picked == 0 and n < _SIGHTS:
        claim.items[item].skip += 1


@kernel
def hear(claim: Claim, item: int, picked: int, answer: float) -> None:
    """An answer to the scout, given all picks so far."""
    rules, row = claim.rules[0], claim.items[item]
    if row.skip > 0:  # an item's answers come in the order asked
        row.skip -= 1
        rules.sighted += 1
        rules.sight += answer
        return
    if row.round != picked:
        row.round = picked
        row.rounds += 1
        row.count = 0
        row.total = 0.0
        row.spread = 0.0
    row.spread += surprise(row.count, row.total, answer)
    row.count += 1
    row.total += answer


@kernel
def hear_nothing(claim: Claim, item: int) -> None:
    """A question of the scout came to nothing."""
    if claim.items[item].skip > 0:
        claim.items[item].skip -= 1


@rare
def close_round(claim: Claim, board: Board, picked: int) -> None:
    """A round of the scout has ended; the first one says what ρ should be."""
    rules, r = claim.rules[0], board.round[0]
    if r.asked != r.counted:
        claim.torn[picked] = 1
    if picked == 0:
        usual = abs(rules.sight) / rules.sighted if rules.sighted > 0 else 0.0
        usual = max(usual, 0.1 * rules.noise)
        known = rules.noise / usual if usual > 0.0 else 1.0
        # Not `known` squared, as answers needed would be: so few first answers say too little about gains for that.
        rules.rho = max(1.0, 25.0 * (0.25 + 3.0 / rules.k) * known**1.5)


@rare
def drop_anchor(claim: Claim, board: Board, picked: int) -> None:
    """Gains given the picks so far may serve for the claim."""
    claim.rules[0].anchor = picked
    claim.rules[0].alone = 1 if picked == 0 else 0
    for i in range(len(claim.items)):
        row = claim.items[i]
        counts = row.round >= 0 and claim.torn[row.round] == 0
        row.old = -1 if board.items[i].where < 0 else (row.count if counts else 0)
        row.old_rounds = row.rounds
        row.old_total = row.total if counts else 0.0
        row.old_spread = row.spread if counts else 0.0
        if picked == 0:
            row.start = row.old
            row.start_total = row.old_total
            row.start_spread = row.old_spread


@rare
def keep_first(claim: Claim) -> None:
    """Gains given ∅ may serve for the claim once more: all answers about them, those of the audit too."""
    for i in range(len(claim.items)):
        row = claim.items[i]
        if row.start >= 0:
            row.start = row.old
            row.start_total = row.old_total
            row.start_spread = row.old_spread


@rare
def back_to_first(claim: Claim) -> None:
    """Gains given ∅ serve for the claim after all."""
    claim.rules[0].anchor = 0
    claim.rules[0].alone = 1
    for i in range(len(claim.items)):
        row = claim.items[i]
        row.old = row.start
        row.old_total = row.start_total
        row.old_spread = row.start_spread
        row.now = 0


@rare
def begin_afresh(claim: Claim, anchor: int, picks: Ints) -> None:
    """Gains given the first picks serve for the claim, by answers from now on alone."""
    claim.rules[0].anchor = anchor
    claim.rules[0].alone = 1
    for i in range(len(claim.items)):
        row = claim.items[i]
        row.old = 0 if row.start >= 0 else -1
        row.old_rounds = 0
        row.old_total = 0.0
        row.old_spread = 0.0
        row.now = 0
    for p in range(anchor):
        claim.items[picks[p]].old = -1


@kernel
def learn(claim: Claim, item: int, answer: float) -> None:
    """One more answer about an item given the anchor's picks."""
    rules, row = claim.rules[0], claim.items[item]
    if row.old < MANY and row.now == 0:
        rules.moved += 1
    if 0 < rules.pooled < len(claim.pool):
        _let_in(claim, item)
    if rules.alone == 1:
        row.old_spread += surprise(row.old, row.old_total, answer)
        row.old += 1
        row.old_total += answer
    else:
        row.now_spread += surprise(row.now, row.now_total, answer)
        row.now += 1
        row.now_total += answer


@kernel
def _let_in(claim: Claim, item: int) -> None:
    """Put an item into the pool, if it is not: when a round is gone through again, answers may come about any."""
    rules, pool = claim.rules[0], claim.pool
    for at in range(rules.pooled):  # who is asked about stands near the front
        if pool[at] == item:
            return
    pool[rules.pooled] = item
    rules.pooled += 1


WHOLE = 0.85  # the share of δ of anchor 0;
LATER, AFRESH = 0.13, 0.02  # of all others together, by all their answers and by those from when it begins anew
_STEPS = 40
CLAIM, ABOVE, BELOW = range(3)  # what to bound: the claim, the k largest gains alone, W alone


# What it shows.


@kernel
def ways(claim: Claim) -> int:
    """Values of ρ, and bets if a range is known."""
    return NORMALS if claim.rules[0].span == 0.0 else NORMALS + 1


@kernel
def unit(claim: Claim, way: int) -> float:
    """In which costs are reckoned: R, or the length of the range."""
    return claim.rules[0].noise if way < NORMALS else claim.rules[0].span


@kernel
def rho_of(claim: Claim, way: int, rho: float) -> float:
    """ρ of a way."""
    return rho if way == 0 else BROADER * rho


@kernel
def allowance(claim: Claim, way: int) -> float:
    """log(1/δ) for this anchor and way."""
    rules = claim.rules[0]
    if ways(claim) == NORMALS:
        share = 0.9 if way == 0 else 0.1
    else:
        share = 0.6 if way == NORMALS else (0.3 if way == 0 else 0.1)
    if rules.anchor == 0:
        part = WHOLE if claim.torn[0] == 0 else LATER / rules.k
    else:
        part = (0.5 * AFRESH if rules.alone == 1 else LATER) / rules.k
    return -math.log(rules.delta * share * part)


@kernel
def chosen(claim: Claim, rounds: int) -> float:
    """What it costs to let the account of the `rounds`-th round that asked stand for an item; 0: to leave it out."""
    if claim.rules[0].alone == 1:
        return 0.0
    return math.log(4.0) if rounds == 0 else math.log(8.0 / 3.0) + (rounds - 1) * math.log(2.0)


@kernel
def _added(claim: Claim, way: int, y: float, s: float, count: int, total: float, spread: float) -> float:
    """s·v̂ + cost/y for some answers about an item."""
    rules, one = claim.rules[0], unit(claim, way)
    if count == 0:
        return s * rules.high
    T = float(count)
    mean = total / T
    if one == 0.0:
        return s * mean
    cap = max(rules.high - mean, 0.0) / one
    if way < NORMALS:
        cost = normal_cost(s * y, T, T, rho_of(claim, way, rules.rho), cap)
    else:
        cost = bet_cost(s * y, T, spread / (one * one) + FIRST, cap)
    return s * mean + rules.shrink * one * cost / y


@kernel
def adds(claim: Claim, way: int, y: float, s: float, item: int) -> tuple[float, bool]:
    """What an item adds to a set B; and whether by the audit's answers alone."""
    row, one = claim.items[item], claim.rules[0].shrink * unit(claim, way) / y
    alone = claim.rules[0].alone == 1
    least, newer = np.inf, False
    for account in range(1 if alone or row.now == 0 else 2):
        count, total, spread = row.old, row.old_total, row.old_spread
        rounds = row.old_rounds if row.old > 0 else 0
        if account == 1:
            count, total, spread, rounds = row.now, row.now_total, row.now_spread, row.old_rounds + 1
        found = _added(claim, way, y, s, count, total, spread) + one * chosen(claim, rounds)
        if found < least or account == 0:
            least, newer = found, account == 1
    return least, newer


@rare
def worst(claim: Claim, way: int, y: float, s: float) -> float:
    """The most that a set B of at most k items adds; the set is in `best`, −1 where it has fewer."""
    rules, keys, best = claim.rules[0], claim.keys, claim.best
    nobody = rules.shrink * unit(claim, way) / y * chosen(claim, 0)
    for p in range(rules.k):
        keys[p] = nobody
        best[p] = -1
    for at in range(rules.pooled):
        i = claim.pool[at]
        if claim.items[i].old < 0:
            continue
        key, _ = adds(claim, way, y, s, i)
        rank(keys, best, rules.k, rules.k, key, i)
    total = 0.0
    for p in range(rules.k):
        total += keys[p]
    return total


@kernel
def squares(claim: Claim) -> float:
    """q: Σ of squared weights in W."""
    rules = claim.rules[0]
    return (rules.k - rules.anchor) + rules.anchor * (1.0 - rules.share) ** 2


@kernel
def _below(claim: Claim, way: int, y: float) -> float:
    """Ŵ − cost/y; at least nothing, as f is monotone."""
    rules, one = claim.rules[0], unit(claim, way)
    if rules.cycles == 0:
        return 0.0
    n, q = float(rules.cycles), squares(claim)
    mean = rules.whole / n
    if one == 0.0:
        return mean
    cap = max(mean, 0.0) / one
    if way < NORMALS:
        cost = normal_cost(y, n, n * q, rho_of(claim, way, rules.fresh_rho), cap)
    else:
        cost = bet_cost(y, n, rules.whole_spread / (one * one) + q * FIRST, cap)
    return mean - rules.shrink * one * cost / y


@kernel
def score(claim: Claim, what: int, way: int, y: float, s: float, epsilon: float) -> float:
    """What is to be as large as possible over y: the margin of the claim, −U, or a bound on W."""
    found = -claim.rules[0].shrink * unit(claim, way) * allowance(claim, way) / y
    if what != ABOVE:
        found += _below(claim, way, y)
    if what != BELOW:
        found -= worst(claim, way, y, s)
    return found + epsilon


@rare
def search(
    claim: Claim, what: int, way: int, s: float, epsilon: float, a: float, b: float, tries: int
) -> tuple[float, float]:
    """The largest score of one way over log y from a to b, by golden section, and where it is."""
    golden = 0.5 * (math.sqrt(5.0) - 1.0)
    x1, x2 = b - golden * (b - a), a + golden * (b - a)
    u1, u2 = -np.inf, -np.inf
    left = True
    for t in range(tries + 2):
        u = score(claim, what, way, math.exp(x1 if left else x2), s, epsilon)
        if left:
            u1 = u
        else:
            u2 = u
        if t == 0:
            left = False
        elif u1 >= u2 and t < tries + 1:
            b, x2, u2, left = x2, x1, u1, True
            x1 = b - golden * (b - a)
        elif t < tries + 1:
            a, x1, u1, left = x1, x2, u2, False
            x2 = a + golden * (b - a)
    return (u1, x1) if u1 >= u2 else (u2, x2)


@kernel
def best_score(claim: Claim, what: int, s: float, epsilon: float) -> float:
    """The largest score of all ways."""
    found = -np.inf
    for way in range(ways(claim)):
        u, _ = search(claim, what, way, s, epsilon, -5.0, 14.0, 24)
        found = max(found, u)
    return found


@rare
def largest_share(claim: Claim) -> float:
    """The largest s for which f(S) ≥ s·f(OPT) is shown.

    From a later anchor W is for one share, and for smaller ones it is larger still.
    """
    most = 1.0 if claim.rules[0].anchor == 0 else claim.rules[0].share
    low, high = 0.0, most
    for step in range(_STEPS):  # from above, for small s may be shown only where larger ones are
        s = most * (1.0 - step / _STEPS)
        if best_score(claim, CLAIM, s, 0.0) >= 0.0:
            low = s
            break
        high = s
    if low in (0.0, most):
        return low
    for _ in range(20):
        s = 0.5 * (low + high)
        if best_score(claim, CLAIM, s, 0.0) >= 0.0:
            low = s
        else:
            high = s
    return low


_LEAST = 40  # a batch is no smaller than what is known divided by this
_SHARE = 0.6  # of the answers that seem to be needed are asked for at once, if so many may be in flight
_ROOM = 60  # steps can be planned at least
_POOL = 4  # times as many items as B holds may come to be in the way
_BEYOND = 1.05  # where two sets are in the way, at a kink, a larger y names the one with fewer answers


@rare
def update_shown(claim: Claim) -> None:
    """What is shown: by all ways at first; later by the way that was best and one other in turn, near where they were
    best last. The set in the way is then in `best`.
    """
    rules = claim.rules[0]
    last, anew = rules.way, rules.shown == -np.inf
    rules.turn = (rules.turn + 1) % ways(claim)
    rules.shown = -np.inf
    for way in range(ways(claim)):
        if not anew and way != last and way != rules.turn:
            continue
        a, b = (-5.0, 14.0) if anew else (claim.log_y[way] - 1.0, claim.log_y[way] + 1.0)
        u, x = search(claim, CLAIM, way, rules.share, rules.epsilon, a, b, 20 if anew else 6)
        claim.log_y[way] = x
        if u > rules.shown or rules.shown == -np.inf:
            rules.shown = u
            rules.way = way
    worst(claim, rules.way, _BEYOND * math.exp(claim.log_y[rules.way]), rules.share)


@kernel
def _may_grow(claim: Claim, item: int) -> int:
    """Answers about an item to which more can be added."""
    row = claim.items[item]
    return row.old if claim.rules[0].alone == 1 else row.now


@kernel
def _cost(slope: float, T: float, q: float, rho: float) -> float:
    """What T answers, or sums of answers of variance q, cost; nothing caps it."""
    return normal_cost(slope, T, q * T, rho, np.inf)


@kernel
def _urgency(claim: Claim, item: int) -> float:
    """How much one more answer about an item of B takes from its cost; where that says little, from its error."""
    rules, row = claim.rules[0], claim.items[item]
    if unit(claim, rules.way) == 0.0:  # one answer tells all
        return np.inf if _may_grow(claim, item) == 0 else 0.0
    y = math.exp(claim.log_y[rules.way])
    _, newer = adds(claim, rules.way, y, rules.share, item)
    T = float(row.now if newer else row.old)
    if T == 0.0:
        return np.inf
    if rules.span == 0.0 and rules.alone == 1:
        slope, rho = rules.share * y, rho_of(claim, rules.way, rules.rho)
        return _cost(slope, T, 1.0, rho) - _cost(slope, T + 1.0, 1.0, rho)
    error = 1.0 / T
    if rules.way == NORMALS:
        if rules.share * y > TOP * T:  # too few answers for the bet that is wanted
            return 1e9 / T
        error = ((row.now_spread if newer else row.old_spread) / rules.span**2 + FIRST) / (T * T)
    return rules.share**2 * error / max(1, _may_grow(claim, item))


@kernel
def _fresh_urgency(claim: Claim) -> float:
    """The same for one of k fresh answers about the picks, and W."""
    rules = claim.rules[0]
    if rules.cycles == 0:
        return np.inf
    if unit(claim, rules.way) == 0.0:
        return 0.0
    n = float(rules.cycles)
    if rules.span == 0.0 and rules.alone == 1:
        y, q, rho = math.exp(claim.log_y[rules.way]), squares(claim), rho_of(claim, rules.way, rules.fresh_rho)
        return (_cost(y, n, q, rho) - _cost(y, n + 1.0, q, rho)) / rules.k
    error = squares(claim) / n
    if rules.way == NORMALS:
        if math.exp(claim.log_y[rules.way]) > TOP * n:
            return 1e9 / n
        error = (rules.whole_spread / rules.span**2 + squares(claim) * FIRST) / (n * n)
    return error / (n * rules.k)


class BatchPlan(NamedTuple):
    """Room for planning a batch."""

    claim: Claim  # of contenders alone, with answers that are supposed to come
    items: Ints  # who they are
    keys: Floats
    steps: Ints  # contenders to ask about, by their place here; −1 for all picks


def new_plan(claim: Claim, k: int, in_flight: int) -> BatchPlan:
    """An empty plan, with room for all that may be in flight."""
    held = min(_POOL * k, len(claim.items))
    rules, rows = np.zeros_like(claim.rules), np.zeros(held, claim.items.dtype)
    log_y, best, keys = np.zeros_like(claim.log_y), np.zeros_like(claim.best), np.zeros_like(claim.keys)
    supposed = Claim(rules, rows, np.zeros_like(claim.torn), log_y, best, keys, np.arange(held), claim.taken[:0])
    return BatchPlan(
        supposed, np.zeros(held, np.int64), np.zeros(held), np.zeros(max(int(in_flight / _SHARE), _ROOM), np.int64)
    )


@rare
def _find_contenders(plan: BatchPlan, claim: Claim) -> None:
    """Start a plan with the items that are first in the way, some times as many as B holds, and all that is known."""
    rules, items, keys = claim.rules[0], plan.items, plan.keys
    y = _BEYOND * math.exp(claim.log_y[rules.way])
    held = 0
    for at in range(rules.pooled):
        i = claim.pool[at]
        if claim.items[i].old < 0:
            continue
        key, _ = adds(claim, rules.way, y, rules.share, i)
        held = rank(keys, items, held, len(items), key, i)
    plan.claim.rules[0] = claim.rules[0]
    plan.claim.rules[0].pooled = len(items)
    for p in range(rules.k):
        plan.claim.torn[p] = claim.torn[p]
    for way in range(len(claim.log_y)):
        plan.claim.log_y[way] = claim.log_y[way]
    for p in range(len(items)):
        if p < held:
            plan.claim.items[p] = claim.items[items[p]]
        else:
            plan.claim.items[p].old = -1


@rare
def _suppose(claim: Claim, item: int) -> None:
    """One more answer has come about an item, or about each pick (item −1), and was as those before it."""
    rules = claim.rules[0]
    if item < 0:
        rules.whole *= 1.0 + 1.0 / rules.cycles
        rules.whole_spread *= 1.0 + 1.0 / rules.cycles
        rules.cycles += 1
        return
    row = claim.items[item]
    T = max(1, _may_grow(claim, item))
    if rules.alone == 1:
        row.old_total *= 1.0 + 1.0 / T
        row.old_spread *= 1.0 + 1.0 / T
        row.old += 1
    else:
        row.now_total *= 1.0 + 1.0 / T
        row.now_spread *= 1.0 + 1.0 / T
        row.now += 1


@rare
def plan_batch(plan: BatchPlan, claim: Claim, queue: Ints, in_flight: int) -> tuple[int, int]:
    """What to ask for at once: how many answers about items, which are put in the queue, and about each pick.

    Answers are supposed to come, and to leave means as they are, until they would show the claim; each goes to what is
    the most urgent then. A share of these is asked for, if so many may be in flight; and a fortieth of what is known
    in any case.
    """
    rules, steps = claim.rules[0], plan.steps
    known = rules.k * rules.cycles
    for p in range(rules.k):
        if claim.best[p] >= 0:
            known += _may_grow(claim, claim.best[p])
    if rules.cycles == 0:
        return 0, max(1, min(in_flight, known) // rules.k)
    _find_contenders(plan, claim)
    least = max(1, known // _LEAST)
    planned, answers = _suppose_all(plan, known, max(float(least), in_flight / _SHARE))
    size = max(least, min(in_flight, int(_SHARE * answers)))
    asked, cycles, p = 0, 0, 0
    while asked + rules.k * cycles < size and asked < len(queue):
        at = steps[p % planned]
        if at < 0:
            cycles += 1
        else:
            queue[asked] = plan.items[at]
            asked += 1
        p += 1
    return asked, cycles


@rare
def _suppose_all(plan: BatchPlan, known: int, most: float) -> tuple[int, int]:
    """Suppose answers until they would show the claim, or are `most`, or fill the plan; how many steps, and answers."""
    supposed, steps = plan.claim, plan.steps
    rules = supposed.rules[0]
    planned, answers, renew = 0, 0, max(1, known // 20)
    while planned < len(steps) and answers < most:
        worst(supposed, rules.way, _BEYOND * math.exp(supposed.log_y[rules.way]), rules.share)
        at, urgency = -1, _fresh_urgency(supposed)
        for p in range(rules.k):
            if supposed.best[p] >= 0 and _urgency(supposed, supposed.best[p]) > urgency:
                at, urgency = supposed.best[p], _urgency(supposed, supposed.best[p])
        _suppose(supposed, at)
        steps[planned] = at
        planned += 1
        answers += 1 if at >= 0 else rules.k
        if answers >= renew:
            renew = answers + max(1, (known + answers) // 20)
            x = supposed.log_y[rules.way]
            u, x = search(supposed, CLAIM, rules.way, rules.share, rules.epsilon, x - 0.5, x + 0.5, 5)
            supposed.log_y[rules.way] = x
            if u >= 0.0:
                break
    return planned, answers


_POOL_ROOM, _MORE = 6, 200  # of each class 6k + 200 items
_NEEDED = 4  # of each class 4k are needed: so many times k are planned for


@kernel
def _seats(claim: Claim) -> int:
    """How many of each class are in the pool."""
    return _POOL_ROOM * claim.rules[0].k + _MORE


@kernel
def renew_pool(claim: Claim) -> None:
    """Gather the pool if it was not, or if too much has changed since."""
    rules = claim.rules[0]
    if rules.pooled == 0 or (rules.pooled < len(claim.pool) and rules.moved > _seats(claim) - _NEEDED * rules.k):
        _gather(claim)


@rare
def _gather(claim: Claim) -> None:
    """Put all items into the pool, or, where they are many, those that may be in a set."""
    rules, items, pool = claim.rules[0], claim.items, claim.pool
    size, seats = len(items), _seats(claim)
    rules.moved = 0
    if size <= 2 * seats:
        for i in range(size):
            pool[i] = i
        rules.pooled = size
        return
    for i in range(size):
        pool[i] = i
    _sort(pool, items)
    for c in range(len(claim.taken)):
        claim.taken[c] = 0
    most = 1 if rules.span > 0.0 else MANY - 1
    held = 0
    for p in range(size):
        row = items[pool[p]]
        if row.old < 0:
            continue
        if row.old <= most and (rules.alone == 1 or row.now == 0):
            c = row.old_rounds * MANY + row.old
            if claim.taken[c] >= seats:
                continue
            claim.taken[c] += 1
        pool[held] = pool[p]
        held += 1
    rules.pooled = held


@rare
def _sort(pool: Ints, items: Rows) -> None:
    """Put the largest sums first (heapsort: it needs no room)."""
    size = len(pool)
    for root in range(size // 2 - 1, -1, -1):
        _sift(pool, items, root, size)
    for end in range(size - 1, 0, -1):
        pool[0], pool[end] = pool[end], pool[0]
        _sift(pool, items, 0, end)


@kernel
def _sift(pool: Ints, items: Rows, root: int, end: int) -> None:
    """Let what stands at the root of a heap sink to where the sums below it are larger."""
    moving = pool[root]
    total = items[moving].old_total
    while 2 * root + 1 < end:
        child = 2 * root + 1
        if child + 1 < end and items[pool[child + 1]].old_total < items[pool[child]].old_total:
            child += 1
        if not items[pool[child]].old_total < total:
            break
        pool[root] = pool[child]
        root = child
    pool[root] = moving


LEVEL = 0.01
EDGE = 0.005
_NOTHING = 0.02  # of R, for each item: gains that are shown to be less than twice that are not told from none

_REACH_RULES = np.dtype([("answers", np.int64), ("renew", np.int64), ("number", np.int64)], align=True)
_NAMED = np.dtype([("item", np.int64), ("count", np.int64), ("total", np.float64), ("spread", np.float64)], align=True)


class ReachTest(NamedTuple):
    """A named set, and the answers about it since."""

    rules: Rows  # answers of the audit from this anchor; how many there are when the set is named anew; its number
    named: Rows
    place: Ints  # of an item in the set, or -1


def new_reach(size: int, k: int) -> ReachTest:
    """The test before the first set is named."""
    return ReachTest(np.zeros(1, _REACH_RULES), np.zeros(k, _NAMED), np.full(size, -1, np.int64))


@rare
def name(reach: ReachTest, claim: Claim) -> None:
    """Name the set of the largest means, a little less for those of few answers."""
    rules, named, k = reach.rules[0], reach.named, claim.rules[0].k
    for p in range(k):
        if rules.number > 0 and named[p].item >= 0:
            reach.place[named[p].item] = -1
        named[p].item = -1
        named[p].total = 0.0  # here the key, at first
    for at in range(claim.rules[0].pooled):
        i = claim.pool[at]
        row = claim.items[i]
        if row.old < 0:
            continue
        newer = claim.rules[0].alone == 0 and row.now > 0
        key = row.now_total / (row.now + 1.0) if newer else row.old_total / (row.old + 1.0)
        rank(named["total"], named["item"], k, k, key, i)
    for p in range(k):
        if named[p].item >= 0:
            reach.place[named[p].item] = p
        named[p].count = 0
        named[p].total = 0.0
        named[p].spread = 0.0
    rules.number += 1
    rules.renew = 2 * max(rules.answers, 2 * k)


@kernel
def notice(reach: ReachTest, item: int, answer: float) -> None:
    """An answer given the anchor's picks."""
    p = reach.place[item]
    if p >= 0:
        row = reach.named[p]
        row.spread += surprise(row.count, row.total, answer)
        row.count += 1
        row.total += answer


@kernel
def _beyond(reach: ReachTest, claim: Claim, way: int, y: float) -> float:
    """By how much s·Σ_B v − W − ε exceeds 0 at least, for a given y."""
    rules, one = claim.rules[0], unit(claim, way)
    n, q, s = float(rules.cycles), squares(claim), rules.share
    mean = rules.whole / n
    if one == 0.0:
        cost = 0.0
    elif way < NORMALS:
        cost = normal_cost(y, n, n * q, rho_of(claim, way, rules.fresh_rho), np.inf)
    else:
        if y > 0.7 * n:  # too few answers for this bet
            return -np.inf
        cost = bet_cost(y, n, rules.whole_spread / (one * one) + q * FIRST, np.inf)
    cost -= math.log(LEVEL / (ways(claim) * reach.rules[0].number * (reach.rules[0].number + 1.0)))
    total = -mean - rules.epsilon
    for p in range(rules.k):
        row = reach.named[p]
        if row.count == 0:
            continue
        T = float(row.count)
        v = row.total / T
        total += s * v
        if one == 0.0:
            continue
        if way < NORMALS:
            cost += normal_cost(s * y, T, T, rho_of(claim, way, rules.rho), v / one)
        else:
            cost += bet_cost(s * y, T, row.spread / (one * one) + FIRST, v / one)
    return total - one * cost / y


@kernel
def _all_asked(claim: Claim) -> bool:
    """Whether every item that stands in the way was asked about given the anchor's picks."""
    asked = True
    for p in range(claim.rules[0].k):
        if claim.best[p] >= 0:
            row = claim.items[claim.best[p]]
            asked &= (row.old if claim.rules[0].alone == 1 else row.now) > 0
    return asked


@kernel
def _largest(reach: ReachTest) -> float:
    """The sum of the named set's gains, as it looks."""
    total = 0.0
    for p in range(len(reach.named)):
        row = reach.named[p]
        total += max(row.total / row.count, 0.0) if row.count > 0 else 0.0
    return total


@kernel
def looks_worthless(reach: ReachTest, claim: Claim) -> bool:
    """Whether all that could be gained looks like next to nothing beside what answers vary by.

    That f(S) is a share of such an f(OPT) could take answers without end; with an ε it is told in any case.
    """
    rules = claim.rules[0]
    nothing = _NOTHING * rules.noise * rules.k
    if rules.epsilon > 0.0 or rules.cycles == 0 or _largest(reach) >= nothing:
        return False
    error = rules.noise * math.sqrt(squares(claim) / rules.cycles)
    return rules.anchor == 0 or (error < nothing and rules.whole / rules.cycles < nothing)


@kernel
def looks_worth_something(reach: ReachTest, claim: Claim) -> bool:
    """Whether what could be gained looks like too much for `is_worthless`, beyond what may be luck."""
    rules, variance = claim.rules[0], 0.0
    for p in range(len(reach.named)):
        if reach.named[p].item >= 0:
            count = reach.named[p].count
            variance += rules.noise**2 / count if count > 0 else np.inf
    return _largest(reach) - 2.0 * math.sqrt(variance) > 2.0 * _NOTHING * rules.noise * rules.k


@rare
def is_worthless(reach: ReachTest, claim: Claim) -> bool:
    """Whether that is shown, from ∅."""
    rules = claim.rules[0]
    if rules.anchor > 0 or not looks_worthless(reach, claim):
        return False
    return best_score(claim, ABOVE, 1.0, 0.0) > -2.0 * _NOTHING * rules.noise * rules.k


@rare
def out_of_reach(reach: ReachTest, claim: Claim) -> bool:
    """Whether the claim is shown to be out of reach, or at its very edge."""
    rules = claim.rules[0]
    if rules.cycles == 0:
        return False
    if unit(claim, 0) == 0.0:  # answers are exact: who stands in the way does so truly
        return _all_asked(claim)
    largest = _largest(reach)
    edge = EDGE * (rules.share * largest if rules.anchor == 0 else rules.worth)
    if rules.share * largest - rules.whole / rules.cycles - rules.epsilon < -edge:  # not even as it looks
        return False
    for way in range(ways(claim)):
        for step in range(40):
            if _beyond(reach, claim, way, math.exp(-5.0 + 0.5 * step)) > -edge:
                return True
    return False

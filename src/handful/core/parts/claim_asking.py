"""What an audit asks next: whatever narrows W − s·Σ_B v most, for the set B that stands in the way now."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handful.core.confidence import FIRST
from handful.core.kernels import kernel, rare
from handful.core.objective import Floats, Ints
from handful.core.parts.claim import CLAIM, adds, rho_of, search, squares, unit, ways, worst
from handful.core.parts.claim_state import NORMALS, Claim
from handful.core.parts.one_sided import TOP, normal_cost
from handful.core.parts.ranking import rank

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

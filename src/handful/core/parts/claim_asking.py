"""What an audit asks next: whatever narrows W − s·Σ_B v most, for the set B that stands in the way now."""

from __future__ import annotations

import math

import numpy as np

from handful.core.confidence import FIRST
from handful.core.kernels import kernel, rare
from handful.core.objective import Ints
from handful.core.parts.claim import CLAIM, adds, search, squares, ways, worst
from handful.core.parts.claim_state import NORMALS, Claim
from handful.core.parts.one_sided import TOP

_EQUAL = 0.4  # who is at least so urgent, compared with the most urgent, is asked too
_BEYOND = 1.2  # where two sets are in the way, at a kink, a larger y names the one with fewer answers


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
    return row.old if claim.rules[0].anchor == 0 else row.now


@kernel
def _urgency(claim: Claim, item: int) -> float:
    """How much one more answer about an item of B takes from the squared error of s·v̂."""
    rules, row = claim.rules[0], claim.items[item]
    y = math.exp(claim.log_y[rules.way])
    _, newer = adds(claim, rules.way, y, rules.share, item)
    T = float(row.now if newer else row.old)
    if T == 0.0:
        return np.inf
    error = 1.0 / T
    if rules.way == NORMALS:
        if rules.share * y > TOP * T:  # too few answers for the bet that is wanted
            return 1e9 / T
        error = ((row.now_spread if newer else row.old_spread) / rules.span**2 + FIRST) / (T * T)
    return rules.share**2 * error / max(1, _may_grow(claim, item))


@kernel
def most_urgent(claim: Claim) -> float:
    """The largest urgency in B."""
    most = 0.0
    for p in range(claim.rules[0].k):
        if claim.best[p] >= 0:
            most = max(most, _urgency(claim, claim.best[p]))
    return most


@kernel
def fresh_urgency(claim: Claim) -> float:
    """The same for one of k fresh answers about the picks, and W."""
    rules = claim.rules[0]
    if rules.cycles == 0:
        return np.inf
    n = float(rules.cycles)
    error = squares(claim) / n
    if rules.way == NORMALS:
        if math.exp(claim.log_y[rules.way]) > TOP * n:
            return 1e9 / n
        error = (rules.whole_spread / rules.span**2 + squares(claim) * FIRST) / (n * n)
    return error / (n * rules.k)


@kernel
def batch(known: int, room: int) -> int:
    """How many answers to ask for at once: a twentieth of those there are, or a sixth if so many may be in flight."""
    return max(1, known // 20, min(known // 6, room))


@kernel
def wanted(claim: Claim, queue: Ints, in_flight: int, most: float) -> int:
    """Fill a queue with more questions about those of B that are about as urgent as `most`; how many."""
    rules = claim.rules[0]
    queued = 0
    for p in range(rules.k):
        item = claim.best[p]
        if item >= 0 and _urgency(claim, item) >= _EQUAL * most:
            more = batch(_may_grow(claim, item), in_flight // rules.k)
            for _ in range(min(more, max(1, len(queue) // rules.k))):
                queue[queued] = item
                queued += 1
    return queued

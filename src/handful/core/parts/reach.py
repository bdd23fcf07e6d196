"""Out of reach: that no audit from this anchor will show the claim, tested at a level of its own.

The claim can be shown if W − s·Σ_B v > −ε for the k largest gains; it cannot if for *some* set the opposite holds. Such
a set is named (the largest means), and only answers from then on count for it; whenever as many have come as before,
it is named anew. Its items' mixtures and the one for W, each on the side that it was not on before, have a product that
exceeds j(j+1)/LEVEL for the j-th set ever with probability at most LEVEL in all. Where W − s·Σ_B v is shown to
exceed −ε by less than a share EDGE of s·Σ_B v (given picks: of about f(S)), if at all, the audit ends too: to tell
these apart would take far more answers than were asked. And so it does where a share is asked for of next to nothing.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handful.core.confidence import FIRST
from handful.core.kernels import kernel, rare
from handful.core.objective import Ints
from handful.core.parts.board import Rows, surprise
from handful.core.parts.claim import ABOVE, best_score, rho_of, squares, unit, ways
from handful.core.parts.claim_state import NORMALS, Claim
from handful.core.parts.one_sided import bet_cost, normal_cost
from handful.core.parts.ranking import rank

LEVEL = 0.01
EDGE = 0.005
_NOTHING = 0.02  # of R, for each item: gains that are shown to be less than twice that are not told from none

_RULES = np.dtype([("answers", np.int64), ("renew", np.int64), ("number", np.int64)], align=True)
_NAMED = np.dtype([("item", np.int64), ("count", np.int64), ("total", np.float64), ("spread", np.float64)], align=True)


class ReachTest(NamedTuple):
    """A named set, and the answers about it since."""

    rules: Rows  # answers of the audit from this anchor; how many there are when the set is named anew; its number
    named: Rows
    place: Ints  # of an item in the set, or -1


def new_reach(size: int, k: int) -> ReachTest:
    """The test before the first set is named."""
    return ReachTest(np.zeros(1, _RULES), np.zeros(k, _NAMED), np.full(size, -1, np.int64))


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

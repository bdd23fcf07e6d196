"""The claim of an audit, tested as one sum: W − s·Σ_B v ≥ −ε, where B is what an optimal set has beyond the anchor.

f(OPT) ≤ f(S_i) + Σ_{b∈OPT} f(b|S_i) for every i, the *anchor*. So f(S) ≥ s·f(OPT) − ε holds if
    W ≥ s·Σ_{b∈B} v_b − ε,   W = f(S) − s·f(S_i),   v_b = f(b|S_i),   B = OPT ∖ S_i.

One set is enough. OPT is fixed before any answer. For a fixed B the product of its items' one-sided mixtures
(`one_sided.py`) and of one for W, on the other side, is a supermartingale that starts at 1; at the true gains it ever
exceeds 1/δ with probability at most δ. The claim is made when for *every* B of at most k items all gains that break it
would make that product exceed 1/δ. If the claim is false, the true gains of B = OPT break it, so it is made with
probability at most δ: no union over sets is paid (an intersection-union test). As log M is convex, this is so
if for some y > 0
    Ŵ + ε − (log(1/δ) + cost_W(y))/y ≥ the k largest of  s·v̂_b + cost_b(s·y)/y  over all items, added up.

Anchor 0. All answers given ∅ about an item are one account, those of the scout among them.
Anchors i > 0. Gains only fall, so answers of earlier rounds bound v_b from above. But which items of OPT are left, and
which of an item's accounts (one for each round that asked about it, and the audit's own) stands for it, is chosen by
looking. So for each of OPT's k items the average of 1 (it is not in B) and its accounts' mixtures is taken, with
weights ¼, ⅜, 3/16, ...: a chosen one costs log of 1/weight, in k places. An account that ended with questions in flight
does not count. Where an audit begins anew from such an anchor, only answers from then on count: the anchor and B are
fixed before them, nothing is chosen, and nothing is paid for it.
The choice of the anchor is paid for by shares of δ: 0.85 for 0, 0.13/k for each other, and for 0 without its first
round. To begin anew from a later anchor, twice at most, is a test of its own, for the answers may decide which of them
is made: 0.01/k for each. From 0 an audit that comes back goes on with the test that it left, which stood still.

ρ is planned from the first answers, which for that are not counted otherwise; 30 times that is a second *way*, and in a
known range bets are a third. Ways share δ.
"""

from __future__ import annotations

import math

import numpy as np

from handful.core.confidence import FIRST
from handful.core.kernels import kernel, rare
from handful.core.parts.claim_state import BROADER, NORMALS, Claim
from handful.core.parts.one_sided import bet_cost, normal_cost
from handful.core.parts.ranking import rank

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

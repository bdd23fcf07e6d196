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
does not count.
The choice of the anchor is paid for by shares of δ: ¾ for 0, 1/4k for each other, and for 0 without its first round.

ρ is planned from the first answers, which for that are not counted otherwise; 30 times that is a second *way*, and in a
known range bets are a third. Ways share δ.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handful.core.confidence import FIRST
from handful.core.kernels import kernel, rare, small
from handful.core.objective import Floats, Ints
from handful.core.parts.board import Board, Rows, surprise
from handful.core.parts.one_sided import bet_cost, normal_cost

NORMALS = 2  # ways with ρ and BROADER·ρ; the next is by bets
BROADER = 30.0
SIGHTS = 12  # the first questions of a study say how large gains are, and are not counted
CLAIM, ABOVE, BELOW = range(3)  # what to bound: the claim, the k largest gains alone, W alone

RULES = np.dtype(
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
        ("sighted", np.int64),  # first answers that have come
        ("sight", np.float64),  # and their sum
        ("rho", np.float64),  # ρ
        ("cycles", np.int64),  # n: each pick has so many fresh answers
        ("fresh", np.float64),  # weighted sum of all fresh answers
        ("fresh_spread", np.float64),  # Σ weight²·(answer − mean of those before it about the same pick)²
        ("fresh_rho", np.float64),  # ρ for W
        ("shown", np.float64),  # by how much W − s·U exceeds −ε at least; below 0 nothing is shown
        ("way", np.int64),  # how that was found
        ("turn", np.int64),  # and which other way was tried
    ],
    align=True,
)

ITEM = np.dtype(
    [
        ("skip", np.int64),  # first questions in flight
        ("round", np.int64),  # the latest that asked, from 0
        ("rounds", np.int64),  # how many asked
        ("count", np.int64),  # its answers
        ("total", np.float64),
        ("spread", np.float64),  # as on the board
        ("start", np.int64),  # the same of the first round
        ("start_total", np.float64),
        ("start_spread", np.float64),
        ("old", np.int64),  # the same when the anchor was chosen; -1 if the item cannot be in B
        ("old_rounds", np.int64),
        ("old_total", np.float64),
        ("old_spread", np.float64),
        ("now", np.int64),  # answers of the audit, given the anchor's picks
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


def new_claim(size: int, k: int, **rules: float) -> Claim:
    """Nothing is known and nothing shown."""
    r = np.zeros(1, RULES)
    for name, value in ({"shrink": 1.0, "rho": 10.0, "fresh_rho": 10.0} | rules).items():
        r[name] = value
    r["k"] = k
    r["shown"] = -np.inf
    items = np.zeros(size, ITEM)
    items["round"] = -1
    return Claim(r, items, np.zeros(k, np.int64), np.zeros(NORMALS + 1), np.zeros(k, np.int64), np.zeros(k))


# What is learnt.


@small
def note_first(claim: Claim, item: int, picked: int, n: int) -> None:
    """Question n of a round is asked: is it one of the first?"""
    if picked == 0 and n < SIGHTS:
        claim.items[item].skip += 1


@small
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


@small
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
        rules.rho = max(1.0, 30.0 * (0.25 + 3.0 / rules.k) * known * known)


@rare
def drop_anchor(claim: Claim, board: Board, picked: int) -> None:
    """Gains given the picks so far may serve for the claim."""
    claim.rules[0].anchor = picked
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
def back_to_first(claim: Claim) -> None:
    """Gains given ∅ serve for the claim after all."""
    claim.rules[0].anchor = 0
    for i in range(len(claim.items)):
        row = claim.items[i]
        row.old = row.start
        row.old_total = row.start_total
        row.old_spread = row.start_spread


@small
def learn(claim: Claim, item: int, answer: float) -> None:
    """One more answer about an item given the anchor's picks."""
    row = claim.items[item]
    if claim.rules[0].anchor == 0:  # all answers given ∅ are alike
        row.old_spread += surprise(row.old, row.old_total, answer)
        row.old += 1
        row.old_total += answer
    else:
        row.now_spread += surprise(row.now, row.now_total, answer)
        row.now += 1
        row.now_total += answer


# What it shows.


@small
def ways(claim: Claim) -> int:
    """Values of ρ, and bets if a range is known."""
    return NORMALS if claim.rules[0].span == 0.0 else NORMALS + 1


@small
def unit(claim: Claim, way: int) -> float:
    """In which costs are reckoned: R, or the length of the range."""
    return claim.rules[0].noise if way < NORMALS else claim.rules[0].span


@small
def rho_of(claim: Claim, way: int, rho: float) -> float:
    """ρ of a way."""
    return rho if way == 0 else BROADER * rho


@small
def allowance(claim: Claim, way: int) -> float:
    """log(1/δ) for this anchor and way."""
    rules = claim.rules[0]
    if ways(claim) == NORMALS:
        share = 0.8 if way == 0 else 0.2
    else:
        share = 0.6 if way == NORMALS else (0.3 if way == 0 else 0.1)
    whole = rules.anchor == 0 and claim.torn[0] == 0
    return -math.log(rules.delta * share * (0.75 if whole else 0.25 / rules.k))


@small
def chosen(claim: Claim, rounds: int) -> float:
    """What it costs to let the account of the `rounds`-th round that asked stand for an item; 0: to leave it out."""
    if claim.rules[0].anchor == 0:
        return 0.0
    return math.log(4.0) if rounds == 0 else math.log(8.0 / 3.0) + (rounds - 1) * math.log(2.0)


@small
def added(claim: Claim, way: int, y: float, s: float, count: int, total: float, spread: float) -> float:
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


@small
def adds(claim: Claim, way: int, y: float, s: float, item: int) -> tuple[float, bool]:
    """What an item adds to a set B; and whether by the audit's answers alone."""
    row, one = claim.items[item], claim.rules[0].shrink * unit(claim, way) / y
    anchored = claim.rules[0].anchor > 0
    least, newer = np.inf, False
    for account in range(2 if anchored and row.now > 0 else 1):
        count, total, spread = row.old, row.old_total, row.old_spread
        rounds = row.old_rounds if row.old > 0 else 0
        if account == 1:
            count, total, spread, rounds = row.now, row.now_total, row.now_spread, row.old_rounds + 1
        found = added(claim, way, y, s, count, total, spread) + one * chosen(claim, rounds)
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
    for i in range(len(claim.items)):
        if claim.items[i].old < 0:
            continue
        key, _ = adds(claim, way, y, s, i)
        if not key > keys[rules.k - 1]:
            continue
        p = rules.k - 1
        while p > 0 and key > keys[p - 1]:
            keys[p] = keys[p - 1]
            best[p] = best[p - 1]
            p -= 1
        keys[p] = key
        best[p] = i
    total = 0.0
    for p in range(rules.k):
        total += keys[p]
    return total


@small
def squares(claim: Claim) -> float:
    """q: Σ of squared weights in W."""
    rules = claim.rules[0]
    return (rules.k - rules.anchor) + rules.anchor * (1.0 - rules.share) ** 2


@small
def below(claim: Claim, way: int, y: float) -> float:
    """Ŵ − cost/y; at least nothing, as f is monotone."""
    rules, one = claim.rules[0], unit(claim, way)
    if rules.cycles == 0:
        return 0.0
    n, q = float(rules.cycles), squares(claim)
    mean = rules.fresh / n
    if one == 0.0:
        return mean
    cap = max(mean, 0.0) / one
    if way < NORMALS:
        cost = normal_cost(y, n, n * q, rho_of(claim, way, rules.fresh_rho), cap)
    else:
        cost = bet_cost(y, n, rules.fresh_spread / (one * one) + q * FIRST, cap)
    return mean - rules.shrink * one * cost / y


@small
def score(claim: Claim, what: int, way: int, y: float, s: float, epsilon: float) -> float:
    """What is to be as large as possible over y: the margin of the claim, −U, or a bound on W."""
    found = -claim.rules[0].shrink * unit(claim, way) * allowance(claim, way) / y
    if what != ABOVE:
        found += below(claim, way, y)
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

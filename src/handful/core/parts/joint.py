"""U: a bound on the sum of the k largest gains given some picks (the anchor), jointly for all sets that they may be.

For a set B the product of its items' mixture martingales is one too; so, for all B of size k and all times,
    Σ_B v ≤ Σ_B v̂ + R·√(β_B·Σ_B (T+ρ)/T²),   β_B = 2 log(choices/δ) + Σ_B log((T+ρ)/ρ):
errors of single items add up like independent ones, not in the worst case. Gains only fall, so an item may be
represented by its answers of an earlier round; the choices are the sets B, times the rounds each of its items may
be represented by.

If answers lie in a known range of length H, there is one more way (`confidence.bernstein`), which sees how much they
vary: with V of each item's answers and for all y > 0,
    Σ_B v ≤ Σ_B v̂ + (H/y)·(log(choices/δ) + Σ_B price(y/T, V)),
where an item of so few answers that y/T is no bet is bounded by the end of the range. The ways (three values of ρ, and
this one) share δ.

The first ways are such sums too, as √(βQ) ≤ (yQ + β/y)/2. So for given y the worst B are the k items that add most,
and U is the least over y.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handful.core.confidence import FIRST, WIDEST, bernstein_price
from handful.core.kernels import kernel, rare, small
from handful.core.objective import Floats, Ints
from handful.core.parts.board import Board, Rows, surprise

NORMALS = 3  # ways with ρ = 1, 10, 100; the next is by bets
TOP = 0.8 * WIDEST  # no bet is larger

RULES = np.dtype(
    [
        ("k", np.int64),
        ("noise", np.float64),  # R
        ("span", np.float64),  # H; 0 if no range is known
        ("high", np.float64),  # and its upper end, else ∞
        ("delta", np.float64),  # δ
        ("shrink", np.float64),  # multiplies widths; 1 but in tests of power
        ("anchor", np.int64),  # how many picks are given
        ("torn", np.int64),  # 1 if the first round's answers are left out: it ended with questions in flight
        ("members", np.int64),  # |B|: k, or as many candidates as there were at the anchor
        ("upper", np.float64),  # U
        ("width", np.float64),  # and how much of it is width
        ("way", np.int64),  # how U was found last
        ("turn", np.int64),  # and which other way was tried
    ],
    align=True,
)

ITEM = np.dtype(
    [
        ("count", np.int64),  # answers of the latest round that asked
        ("total", np.float64),
        ("spread", np.float64),  # as on the board
        ("old", np.int64),  # of them, as they were when the anchor was chosen; -1 if the item is not to be in B
        ("old_total", np.float64),
        ("old_spread", np.float64),
        ("now", np.int64),  # answers of the audit, given the anchor's picks
        ("now_total", np.float64),
        ("now_spread", np.float64),
    ],
    align=True,
)


class Joint(NamedTuple):
    """What is known of all gains, and the bound."""

    rules: Rows
    items: Rows
    worst: Ints  # the set B that U is the bound of
    errors: Floats  # of its means, squared
    log_y: Floats  # where each way was best last
    table: Floats  # for finding U, as are the next two: what each item's answers say,
    best: Ints  # a set B,
    keys: Floats  # and what its items add


def new_joint(size: int, k: int, **rules: float) -> Joint:
    """The bound before anything is known: U is infinite."""
    r = np.zeros(1, RULES)
    for name, value in ({"shrink": 1.0} | rules).items():
        r[name] = value
    r["k"] = k
    r["upper"] = r["width"] = np.inf
    worst, best = np.zeros(k, np.int64), np.zeros(k, np.int64)
    table = np.zeros((size, 6))
    return Joint(r, np.zeros(size, ITEM), worst, np.zeros(k), np.zeros(NORMALS + 1), table, best, np.zeros(k))


# What is learnt.


@small
def keep_round(joint: Joint, board: Board) -> None:
    """A round has ended, and nothing is in flight: its answers are the latest."""
    for p in range(board.round[0].candidates):
        i = board.open[p]
        if board.items[i].count > 0:
            joint.items[i].count = board.items[i].count
            joint.items[i].total = board.items[i].total
            joint.items[i].spread = board.items[i].spread


@small
def drop_anchor(joint: Joint, board: Board, picked: int) -> None:
    """From here on the bound is on gains given the picks so far."""
    joint.rules[0].anchor = picked
    for i in range(len(joint.items)):
        row = joint.items[i]
        row.old = -1 if board.items[i].where < 0 else row.count
        row.old_total = row.total
        row.old_spread = row.spread


@small
def learn(joint: Joint, item: int, answer: float) -> None:
    """One more answer about an item given the anchor's picks."""
    row = joint.items[item]
    if joint.rules[0].anchor == 0:  # all answers given ∅ are alike, and no choice between them is paid for
        row.old_spread += surprise(row.old, row.old_total, answer)
        row.old += 1
        row.old_total += answer
    else:
        row.now_spread += surprise(row.now, row.now_total, answer)
        row.now += 1
        row.now_total += answer


# The bound.


@small
def ways(joint: Joint) -> int:
    """Values of ρ, and bets if a range is known."""
    return NORMALS if joint.rules[0].span == 0.0 else NORMALS + 1


@small
def terms(joint: Joint, way: int, count: int, total: float, spread: float, row: Floats) -> None:
    """v̂, (T+ρ)/T² and log((T+ρ)/ρ) of some answers; or v̂, T and V."""
    T = float(count)
    row[0] = total / T if count > 0 else 0.0
    if way < NORMALS:
        rho = 10.0**way
        row[1] = (T + rho) / (T * T) if count > 0 else np.inf
        row[2] = math.log((T + rho) / rho)
    else:
        row[1] = T
        row[2] = spread / joint.rules[0].span ** 2 + FIRST


@kernel
def prepare(joint: Joint, way: int) -> None:
    """What each item's answers say: its old ones, and those of the audit."""
    items, table = joint.items, joint.table
    for i in range(len(items)):
        if items[i].old >= 0:
            terms(joint, way, items[i].old, items[i].old_total, items[i].old_spread, table[i, :3])
            terms(joint, way, items[i].now, items[i].now_total, items[i].now_spread, table[i, 3:])


@small
def added(joint: Joint, way: int, y: float, row: Floats) -> float:
    """What an item adds to the bound of a set."""
    rules = joint.rules[0]
    if way < NORMALS:
        wide = 0.5 * rules.noise * (y * row[1] + row[2] / y) if row[1] < np.inf else np.inf
    else:
        T = row[1]
        if T == 0.0:
            return rules.high
        bet = min(y / T, TOP)
        wide = rules.span / y * bernstein_price(bet, row[2], WIDEST) + (rules.high - row[0]) * (1.0 - bet * T / y)
    return row[0] + rules.shrink * wide


@small
def is_newer(joint: Joint, way: int, y: float, item: int) -> int:
    """1 if the answers of the audit say less about the item than its old ones, else 0."""
    row = joint.table[item]
    newer = joint.items[item].now > 0 and added(joint, way, y, row[3:]) < added(joint, way, y, row[:3])
    return 1 if newer else 0


@kernel
def upper_at(joint: Joint, way: int, y: float, m: int) -> tuple[float, float]:
    """A bound on max over B of Σ_B v, |B| = m, and how much of it is width; `best` becomes that B."""
    rules, items, table, best, keys = joint.rules[0], joint.items, joint.table, joint.best, joint.keys
    held = 0
    for i in range(len(items)):
        if items[i].old < 0:
            continue
        key = added(joint, way, y, table[i, :3])  # by its old answers, or by those of the audit if they say less
        if items[i].now > 0:
            key = min(key, added(joint, way, y, table[i, 3:]))
        if held == m and not key > keys[m - 1]:
            continue
        q = held if held < m else m - 1
        while q > 0 and key > keys[q - 1]:
            keys[q] = keys[q - 1]
            best[q] = best[q - 1]
            q -= 1
        keys[q] = key
        best[q] = i
        held = min(held + 1, m)
    unit = rules.noise if way < NORMALS else rules.span
    total = rules.shrink * unit * (choices(joint, m) + math.log(ways(joint) / rules.delta)) / y
    means = 0.0
    for p in range(m):
        total += keys[p]
        means += table[best[p], 3 * is_newer(joint, way, y, best[p])]
    return total, max(total - means, 0.0)


@small
def choices(joint: Joint, m: int) -> float:
    """log of the number of sets, of rounds (or the audit) that may stand for an item, of anchors (half of δ for 0, and
    1/2k of it for each other and for 0 without its round).
    """
    rules = joint.rules[0]
    size = float(len(joint.items))
    sets = math.lgamma(size + 1.0) - math.lgamma(m + 1.0) - math.lgamma(size - m + 1.0)
    if rules.anchor == 0:
        return sets + math.log(2.0 * rules.k if rules.torn == 1 else 2.0)
    return sets + m * math.log(rules.anchor + 2.0) + math.log(2.0 * rules.k)


@small
def members(joint: Joint) -> int:
    """|B|: k, or as many as there are left to be in it."""
    usable = 0
    for i in range(len(joint.items)):
        if joint.items[i].old >= 0:
            usable += 1
    joint.rules[0].members = min(joint.rules[0].k, usable)
    return joint.rules[0].members


@rare
def search(joint: Joint, way: int, m: int, a: float, b: float, tries: int) -> tuple[float, float]:
    """The least bound of one way over log y from a to b, by golden section, and how much of it is width."""
    golden = 0.5 * (math.sqrt(5.0) - 1.0)
    prepare(joint, way)
    x1, x2 = b - golden * (b - a), a + golden * (b - a)
    u1, _ = upper_at(joint, way, math.exp(x1), m)
    u2, _ = upper_at(joint, way, math.exp(x2), m)
    for _ in range(tries):
        if u1 <= u2:
            b, x2, u2 = x2, x1, u1
            x1 = b - golden * (b - a)
            u1, _ = upper_at(joint, way, math.exp(x1), m)
        else:
            a, x1, u1 = x1, x2, u2
            x2 = a + golden * (b - a)
            u2, _ = upper_at(joint, way, math.exp(x2), m)
    joint.log_y[way] = 0.5 * (a + b)
    return upper_at(joint, way, math.exp(joint.log_y[way]), m)


@rare
def bound(joint: Joint) -> None:
    """U: the least bound of all ways; later, of the way that was best and of one other in turn, near where they were
    best last.
    """
    rules = joint.rules[0]
    m, last, anew = members(joint), rules.way, rules.upper == np.inf
    rules.turn = (rules.turn + 1) % ways(joint)
    found, width = np.inf, np.inf
    for way in range(ways(joint)):
        if anew:
            u, w = search(joint, way, m, -4.0, 14.0, 16)
        elif way == last or way == rules.turn:
            u, w = search(joint, way, m, joint.log_y[way] - 0.7, joint.log_y[way] + 0.7, 4)
        else:
            continue
        if u < found or found == np.inf:
            found, width = u, w
            rules.way = way
    rules.upper = max(min(found, m * rules.high), 0.0)
    rules.width = width
    name_the_worst(joint, m)


@small
def name_the_worst(joint: Joint, m: int) -> None:
    """The set B that U is the bound of; where two are, at a kink, the one with fewer answers, which makes the kink."""
    way = joint.rules[0].way
    y = math.exp(joint.log_y[way] + 0.3)
    prepare(joint, way)
    upper_at(joint, way, y, m)
    for p in range(m):
        i = joint.best[p]
        joint.worst[p] = i
        joint.errors[p] = squared_error(way, joint.table[i, 3 * is_newer(joint, way, y, i) :])


@small
def squared_error(way: int, row: Floats) -> float:
    """Of a mean, in R² or H², about."""
    if way < NORMALS:
        return row[1]
    return row[2] / row[1] ** 2 if row[1] > 0.0 else np.inf

"""`certified`, audited: pick by scouting, and prove the whole at the end.

Only the end matters: the claim is f(S) ≥ s·f(OPT) − ε with s = 1 − 1/e, or a share s wished for and ε = 0. For
every i, the *anchor*, f(OPT) ≤ f(S_i) + U, where S_i are the first i picks and U bounds the sum of the k largest
gains given S_i. So the claim holds if
    W = (1 − s)·f(S_i) + f(S) − f(S_i) ≥ s·U − ε.
(A proof that adds up the rounds one by one, with surplus banked and the slack of a finite k spent, shows no more:
in a world where f(OPT) is as large as the rounds allow it must show the claim too, and that is this inequality for
the best i.) So nothing needs to be proved in a round. A round only scouts (`scout.py`) for a pick that is about the
best; the last one goes on with an *audit*, which asks about the largest gains given S_i (for U) and about each pick
given the picks before it (for W), whichever narrows W − s·U more. The anchor is the i whose f(S_i) + U looks
smallest when the audit begins; mostly i = 0, where W is f(S) and the claim L ≥ s·U − ε.

U is a joint bound. For a set B the product of its items' mixture martingales is one too; so, for all B of size k
and all times,
    Σ_B v ≤ Σ_B v̂ + R·√(β_B·Σ_B (T+ρ)/T²),   β_B = 2 log(choices/δ_U) + Σ_B log((T+ρ)/ρ):
errors of single items add up like independent ones, not in the worst case. Gains only fall, so an item may be
represented by its answers of an earlier round; the choices are the sets B, times the rounds each of its items may
be represented by.

If answers lie in a known range of length H, there is a second way (`confidence.bernstein`), which sees how much they
vary: with V of each item's answers and for all y > 0,
    Σ_B v ≤ Σ_B v̂ + (H/y)·(log(choices/δ_U) + Σ_B price(y/T, V)),
where an item of so few answers that y/T is no bet is bounded by the end of the range. Three scales of ρ, or of bets,
and the two ways share δ_U.

A round ends, and the audit looks, only when nothing is in flight. So in the order of asking what was counted never
depends on answers that are still to come, however long each takes, and the products above are martingales.

W comes from fresh answers. After the picks are made, whatever made them, n new answers to each of the k picks have
errors whose weighted sum is one martingale of variance nqR², q = Σ of squared weights: no union over items is paid,
and W is at least the weighted sum of their means less (R/n)·√((nq+ρ)(2 log(1/δ_W) + log((nq+ρ)/ρ))); or, in a known
range, less what `bernstein` says (δ_W is shared by the two).

If the claim is false in truth (the scout was unlucky, and greedy just reaches its worst case), no audit can show
it: then it says so.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handful.core.confidence import FIRST, WIDEST, bernstein, bernstein_price, mixture_width
from handful.core.explorers.board import (
    BACK,
    NOW,
    OPEN,
    RULE,
    UNREACHABLE,
    Board,
    Rows,
    end,
    mean,
    new_board,
    surprise,
)
from handful.core.explorers.protocol import explores
from handful.core.explorers.scout import (
    Scout,
    new_scout,
    scout_add,
    scout_begin,
    scout_forget,
    scout_lead,
    scout_next,
    scout_spread,
    scout_void,
)
from handful.core.kernels import kernel, small
from handful.core.objective import Floats, Ints

SCOUTING, UPPER, LOWER, DONE = range(4)
SCALES = 3
TOP = 0.8  # of the largest bet there is
EQUAL = 0.25  # who is at least so urgent, compared with the most urgent, is asked too

RULES = np.dtype(
    [
        ("k", np.int64),
        ("noise", np.float64),  # R
        ("span", np.float64),  # H; 0 if no range is known
        ("high", np.float64),  # and its upper end
        ("share", np.float64),  # s
        ("epsilon", np.float64),  # ε
        ("delta_upper", np.float64),  # δ_U
        ("delta_lower", np.float64),  # δ_W
        ("shrink", np.float64),  # multiplies widths; 1 but in tests of power
        ("picked", np.int64),
        ("hoped", np.float64),  # f(S), as the scout saw it
        ("phase", np.int64),
        ("anchor", np.int64),  # i
        ("outlook", np.float64),  # f(S_i) + U, as the scout saw it
        ("lower", np.float64),  # W is at least this
        ("lower_width", np.float64),
        ("upper", np.float64),  # U
        ("upper_width", np.float64),
        ("way", np.int64),  # how U was found last
        ("turn", np.int64),  # and which other way was tried
        ("members", np.int64),  # |B|: k, or as many candidates as there were at the anchor
        ("cycles", np.int64),  # n
        ("goal", np.int64),  # n, once the batch is in
        ("fresh", np.float64),  # weighted sum of all fresh answers
        ("fresh_spread", np.float64),  # Σ weight²·(answer − mean of those before it about the same pick)²
        ("rho_lower", np.float64),
        ("queued", np.int64),
        ("next", np.int64),
    ],
    align=True,
)

ITEM = np.dtype(
    [
        ("count", np.int64),  # answers of the latest round that asked
        ("total", np.float64),
        ("spread", np.float64),  # as on the board
        ("old", np.int64),  # of them, as they were when the anchor was chosen
        ("old_total", np.float64),
        ("old_spread", np.float64),
        ("now", np.int64),  # answers of the audit, given the anchor's picks
        ("now_total", np.float64),
        ("now_spread", np.float64),
    ],
    align=True,
)


class AuditedState(NamedTuple):
    """Scouting, or auditing."""

    board: Board
    scout: Scout
    rules: Rows
    items: Rows
    picks: Ints
    fresh: Ints  # fresh answers to each pick
    totals: Floats  # and their sums
    worst: Ints  # the set B that U is the bound of
    errors: Floats  # of its means, squared
    log_y: Floats  # where each way was best last
    queue: Ints
    table: Floats  # for finding U, as are the next two: what each item's answers say,
    best: Ints  # a set B,
    keys: Floats  # and what its items add


def new_audited(
    size: int,
    k: int,
    seed: int,
    in_flight: int,
    near: float,
    z: float,
    prior: Floats | None = None,
    **rules: float,
) -> AuditedState:
    """Nothing is known: U is infinite."""
    r = np.zeros(1, RULES)
    for name, value in ({"shrink": 1.0} | rules).items():
        r[name] = value
    r["k"] = k
    r["upper"] = r["outlook"] = np.inf
    picks, queue = np.full(k, -1, np.int64), np.zeros(max(size, k), np.int64)
    fresh, worst, best = (np.zeros(k, np.int64) for _ in range(3))
    board = new_board(size, k, seed, in_flight)
    scout = new_scout(size, near, z, float(r["noise"][0]), prior)
    items, table = np.zeros(size, ITEM), np.zeros((size, 6))
    return AuditedState(
        board,
        scout,
        r,
        items,
        picks,
        fresh,
        totals=np.zeros(k),
        worst=worst,
        errors=np.zeros(k),
        log_y=np.zeros(2 * SCALES),
        queue=queue,
        table=table,
        best=best,
        keys=np.zeros(k),
    )


@kernel
def begin(state: AuditedState) -> None:
    """A round starts by scouting; half the mean gain so far stands in for one that is smaller, and ε/k for no gain."""
    rules, scout = state.rules[0], state.scout.rules[0]
    rules.phase = SCOUTING
    usual = rules.hoped / rules.picked if rules.picked > 0 else 0.0
    scout.enough = max(0.5 * scout.near * usual, min(1.0, 10.0 * scout.near) * rules.epsilon / rules.k)
    scout_begin(state.scout)


# What was learnt of each item, and from where to prove.


@small
def largest(state: AuditedState, m: int) -> float:
    """The sum of the m largest gains, by the means of the latest round that asked."""
    keys, board = state.keys, state.board
    for q in range(m):
        keys[q] = -np.inf
    for p in range(board.round[0].candidates):
        row = state.items[board.open[p]]
        hope = row.total / row.count if row.count > 0 else state.scout.items[board.open[p]].hope
        if hope > keys[m - 1]:
            q = m - 1
            while q > 0 and hope > keys[q - 1]:
                keys[q] = keys[q - 1]
                q -= 1
            keys[q] = hope
    total = 0.0
    for q in range(m):
        total += max(keys[q], 0.0)
    return total


@small
def remember(state: AuditedState) -> None:
    """A round has ended: keep its answers; and make it the anchor if f(OPT) looks smallest from here."""
    rules, board, items = state.rules[0], state.board, state.items
    for p in range(board.round[0].candidates):
        i = board.open[p]
        if board.items[i].count > 0:
            items[i].count = board.items[i].count
            items[i].total = board.items[i].total
            items[i].spread = board.items[i].spread
    outlook = rules.hoped + largest(state, min(rules.k, board.round[0].candidates))
    worth = 0.95 if rules.anchor == 0 else 0.99  # the first anchor pays for fewer choices, so leaving it must pay
    if rules.picked == 0 or outlook < worth * rules.outlook:
        rules.outlook = outlook
        rules.anchor = rules.picked
        rules.members = min(rules.k, board.round[0].candidates)
        for i in range(len(items)):
            taken = board.items[i].where < 0
            items[i].old = -1 if taken else items[i].count
            items[i].old_total = items[i].total
            items[i].old_spread = items[i].spread


# U, by a joint bound.


@small
def terms(state: AuditedState, way: int, count: int, total: float, spread: float, row: Floats) -> None:
    """v̂, (T+ρ)/T² and log((T+ρ)/ρ) of some answers; or v̂, T and V."""
    T = float(count)
    row[0] = total / T if count > 0 else 0.0
    if way < SCALES:
        rho = 10.0**way
        row[1] = (T + rho) / (T * T) if count > 0 else np.inf
        row[2] = math.log((T + rho) / rho)
    else:
        row[1] = T
        row[2] = spread / state.rules[0].span ** 2 + FIRST


@kernel
def prepare(state: AuditedState, way: int) -> None:
    """What each item's answers say: its old ones, and those of the audit."""
    items, table = state.items, state.table
    for i in range(len(items)):
        if items[i].old >= 0:
            terms(state, way, items[i].old, items[i].old_total, items[i].old_spread, table[i, :3])
            terms(state, way, items[i].now, items[i].now_total, items[i].now_spread, table[i, 3:])


@small
def added(state: AuditedState, way: int, y: float, row: Floats) -> float:
    """What an item adds to the bound of a set: for every y > 0 it is a sum over items, as √(βQ) ≤ (yQ + β/y)/2."""
    rules = state.rules[0]
    if way < SCALES:
        wide = 0.5 * rules.noise * (y * row[1] + row[2] / y) if row[1] < np.inf else np.inf
    else:
        widest = WIDEST * 0.2 ** (way - SCALES)
        T = row[1]
        if T == 0.0:
            return rules.high
        bet = min(y / T, TOP * widest)
        wide = rules.span / y * bernstein_price(bet, row[2], widest) + (rules.high - row[0]) * (1.0 - bet * T / y)
    return row[0] + rules.shrink * wide


@small
def is_newer(state: AuditedState, way: int, y: float, item: int) -> int:
    """1 if the answers of the audit say less about the item than its old ones, else 0."""
    row = state.table[item]
    newer = state.items[item].now > 0 and added(state, way, y, row[3:]) < added(state, way, y, row[:3])
    return 1 if newer else 0


@small
def squared_error(way: int, row: Floats) -> float:
    """Of a mean, in R² or H², about."""
    if way < SCALES:
        return row[1]
    return row[2] / row[1] ** 2 if row[1] > 0.0 else np.inf


@kernel
def upper_at(state: AuditedState, way: int, y: float, m: int) -> tuple[float, float]:
    """A bound on max over B of Σ_B v, |B| = m, and how much of it is width; `best` becomes that B."""
    rules, items, table, best, keys = state.rules[0], state.items, state.table, state.best, state.keys
    held = 0
    for i in range(len(items)):
        if items[i].old < 0:
            continue
        key = added(state, way, y, table[i, :3])  # by its old answers, or by those of the audit if they say less
        if items[i].now > 0:
            key = min(key, added(state, way, y, table[i, 3:]))
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
    unit = rules.noise if way < SCALES else rules.span
    total = rules.shrink * unit * (choices(state, m) + math.log(ways(state) / rules.delta_upper)) / y
    means = 0.0
    for p in range(m):
        total += keys[p]
        means += table[best[p], 3 * is_newer(state, way, y, best[p])]
    return total, max(total - means, 0.0)


@small
def ways(state: AuditedState) -> int:
    """Values of ρ, and scales of bets if a range is known."""
    return SCALES if state.rules[0].span == 0.0 else 2 * SCALES


@small
def choices(state: AuditedState, m: int) -> float:
    """log of the number of sets, of rounds (or the audit) that may stand for an item, of anchors (half for 0)."""
    rules = state.rules[0]
    size = float(len(state.items))
    sets = math.lgamma(size + 1.0) - math.lgamma(m + 1.0) - math.lgamma(size - m + 1.0)
    if rules.anchor == 0:
        return sets + math.log(2.0)
    return sets + m * math.log(rules.anchor + 2.0) + math.log(2.0 * rules.k)


@small
def members(state: AuditedState) -> int:
    """|B|: k, or as many as there are left to be in it."""
    usable = 0
    for i in range(len(state.items)):
        if state.items[i].old >= 0:
            usable += 1
    state.rules[0].members = min(state.rules[0].k, usable)
    return state.rules[0].members


@kernel
def search(state: AuditedState, way: int, m: int, a: float, b: float, tries: int) -> tuple[float, float]:
    """The least bound of one way over log y from a to b, by golden section, and how much of it is width."""
    golden = 0.5 * (math.sqrt(5.0) - 1.0)
    prepare(state, way)
    x1, x2 = b - golden * (b - a), a + golden * (b - a)
    u1, _ = upper_at(state, way, math.exp(x1), m)
    u2, _ = upper_at(state, way, math.exp(x2), m)
    for _ in range(tries):
        if u1 <= u2:
            b, x2, u2 = x2, x1, u1
            x1 = b - golden * (b - a)
            u1, _ = upper_at(state, way, math.exp(x1), m)
        else:
            a, x1, u1 = x1, x2, u2
            x2 = a + golden * (b - a)
            u2, _ = upper_at(state, way, math.exp(x2), m)
    state.log_y[way] = 0.5 * (a + b)
    return upper_at(state, way, math.exp(state.log_y[way]), m)


@kernel
def bound_above(state: AuditedState, anew: bool) -> None:
    """U: the least bound of all ways, which share δ_U. If not anew, of the way that was best and of one other in turn,
    near where each was best last.
    """
    rules = state.rules[0]
    m, last = members(state), rules.way
    rules.turn = (rules.turn + 1) % ways(state)
    found, width = np.inf, np.inf
    for way in range(ways(state)):
        if anew:
            u, w = search(state, way, m, -4.0, 14.0, 16)
        elif way == last or way == rules.turn:
            u, w = search(state, way, m, state.log_y[way] - 0.7, state.log_y[way] + 0.7, 4)
        else:
            continue
        if u < found or found == np.inf:
            found, width = u, w
            rules.way = way
    rules.upper = max(found, 0.0)
    rules.upper_width = width
    name_the_worst(state, m)


@small
def name_the_worst(state: AuditedState, m: int) -> None:
    """The set B that U is the bound of; where two are, at a kink, the one with fewer answers, which makes the kink."""
    rules = state.rules[0]
    y = math.exp(state.log_y[rules.way] + 0.3)
    prepare(state, rules.way)
    upper_at(state, rules.way, y, m)
    for p in range(m):
        i = state.best[p]
        state.worst[p] = i
        state.errors[p] = squared_error(rules.way, state.table[i, 3 * is_newer(state, rules.way, y, i) :])


# W, by fresh answers.


@small
def weight(state: AuditedState, at: int) -> float:
    """The weight of pick number `at` in W."""
    rules = state.rules[0]
    return 1.0 - rules.share if at < rules.anchor else 1.0


@small
def bound_below(state: AuditedState) -> None:
    """W, from n cycles of one fresh answer for each pick."""
    rules = state.rules[0]
    if rules.cycles == 0:
        rules.lower = 0.0
        rules.lower_width = np.inf
        return
    n = float(rules.cycles)
    q = (rules.k - rules.anchor) + rules.anchor * (1.0 - rules.share) ** 2
    delta = rules.delta_lower if rules.span == 0.0 else 0.5 * rules.delta_lower
    width = mixture_width(n * q, rules.noise, 2.0 * math.log(1.0 / delta), rules.rho_lower) * q
    if rules.span > 0.0:
        V = rules.fresh_spread / rules.span**2 + q * FIRST
        width = min(width, rules.span * bernstein(n, V, math.log(1.0 / delta)))
    rules.lower_width = rules.shrink * width
    rules.lower = max(0.0, rules.fresh / n - rules.lower_width)


@kernel
def audit(state: AuditedState) -> None:
    """Is the claim shown? Can it be? Else what to ask next: one batch given ∅, or for the picks."""
    rules = state.rules[0]
    if rules.phase == UPPER:
        bound_above(state, rules.upper == np.inf)
    else:
        bound_below(state)
    if rules.lower >= rules.share * rules.upper - rules.epsilon:
        close(state, RULE)
        return
    likely = rules.lower + 2.0 * rules.lower_width
    least = rules.upper - 2.0 * rules.upper_width
    if likely < rules.share * least - rules.epsilon:
        close(state, UNREACHABLE)
        return
    below = np.inf if rules.cycles == 0 else rules.lower_width / (rules.cycles * rules.k)
    rules.next = 0
    if below >= worth_asking(state):
        rules.phase = LOWER
        rules.goal = rules.cycles + max(1, min(rules.cycles // 10, len(state.queue) // rules.k))
        enqueue_picks(state)
    else:
        rules.phase = UPPER
        enqueue_worst(state)


@small
def urgency(state: AuditedState, p: int) -> float:
    """How much one more answer about this item of the worst set narrows the squared error of its mean."""
    row = state.items[state.worst[p]]
    return state.errors[p] / max(1, row.old if state.rules[0].anchor == 0 else row.now)


@small
def most_urgent(state: AuditedState) -> float:
    """The largest urgency."""
    most = 0.0
    for p in range(state.rules[0].members):
        most = max(most, urgency(state, p))
    return most


@small
def worth_asking(state: AuditedState) -> float:
    """How much one more answer for U narrows s·U, about twice."""
    rules, most = state.rules[0], most_urgent(state)
    total, urgent, asked = 0.0, 0.0, 0
    for p in range(rules.members):
        total += state.errors[p]
        if urgency(state, p) >= EQUAL * most:
            urgent += urgency(state, p)
            asked += 1
    return rules.share * rules.upper_width * urgent / (asked * total) if total < np.inf else np.inf


@small
def enqueue_worst(state: AuditedState) -> None:
    """A tenth more answers about those of the worst set that are known least."""
    rules, most = state.rules[0], most_urgent(state)
    rules.queued = 0
    for p in range(rules.members):
        row = state.items[state.worst[p]]
        if urgency(state, p) >= EQUAL * most:
            T = row.old if rules.anchor == 0 else row.now
            for _ in range(max(1, min(T // 10, len(state.queue) // rules.members))):
                state.queue[rules.queued] = state.worst[p]
                rules.queued += 1


@small
def enqueue_picks(state: AuditedState) -> None:
    """Ask for the fresh answers that are missing for the goal."""
    rules = state.rules[0]
    rules.queued = 0
    rules.next = 0
    for n in range(rules.cycles, rules.goal):
        for at in range(rules.k):
            if state.fresh[at] <= n and rules.queued < len(state.queue):
                state.queue[rules.queued] = at
                rules.queued += 1


@small
def close(state: AuditedState, ended: int) -> None:
    """The last round is over."""
    rules, board = state.rules[0], state.board
    rules.phase = DONE
    board.best[0] = state.picks[rules.k - 1]
    board.round[0].size = 1
    end(board, ended, max(0.0, rules.share * rules.upper - rules.lower))


@small
def pick(state: AuditedState, item: int) -> None:
    """`item` is chosen."""
    rules = state.rules[0]
    remember(state)
    state.picks[rules.picked] = item
    rules.picked += 1
    rules.hoped += max(mean(state.board, item), 0.0)


@small
def settle(state: AuditedState, item: int, ended: int) -> None:
    """A round ends with its pick."""
    pick(state, item)
    state.board.best[0] = item
    state.board.round[0].size = 1
    end(state.board, ended, np.inf)


@small
def begin_audit(state: AuditedState, item: int) -> None:
    """The last pick is made: now prove the whole."""
    rules = state.rules[0]
    pick(state, item)
    rules.cycles = 0
    rules.fresh = 0.0
    rules.fresh_spread = 0.0
    for p in range(rules.k):
        state.fresh[p] = 0
        state.totals[p] = 0.0
    bound_above(state, True)
    plan(state)
    audit(state)


@small
def plan(state: AuditedState) -> None:
    """ρ for the fresh answers: sharpest where their width will be about a tenth of what f(S) seems to be."""
    rules = state.rules[0]
    logs = 2.0 * math.log(1.0 / rules.delta_lower) + 3.0
    scale = 0.1 * max(rules.hoped, 1e-3 * rules.upper_width)
    n = rules.noise * rules.noise * rules.k * logs / (scale * scale)
    rules.rho_lower = max(1.0, n * rules.k / logs)


@kernel
def propose(state: AuditedState, n: int) -> tuple[int, int]:
    """The scout's wish; or the audit's next question, given ∅ or given the picks before a pick."""
    rules = state.rules[0]
    if rules.phase == SCOUTING:
        return scout_next(state.scout, state.board), NOW
    if rules.next == rules.queued:
        return -1, NOW
    at = state.queue[rules.next]
    rules.next += 1
    if rules.phase == UPPER:
        return at, BACK - rules.anchor
    return state.picks[at], BACK - at


@kernel
def tell(state: AuditedState, item: int, rival: int, answer: float) -> None:
    """To the scout, or to the audit."""
    if state.board.round[0].ended != OPEN:
        return
    if rival >= NOW:
        scout_add(state.scout, state.board, item, answer)
    else:
        credit(state, item, BACK - rival, answer)
    go_on(state)


@small
def credit(state: AuditedState, item: int, given: int, answer: float) -> None:
    """An answer about `item` given the first `given` picks: to the account that wants it now, before it is looked at.

    In a round that is gone through again, with answers left out, it may be wanted by neither.
    """
    rules, row = state.rules[0], state.items[item]
    if rules.phase == LOWER and given < rules.k and state.picks[given] == item and state.fresh[given] < rules.goal:
        rules.fresh += weight(state, given) * answer
        rules.fresh_spread += weight(state, given) ** 2 * surprise(state.fresh[given], state.totals[given], answer)
        state.fresh[given] += 1
        state.totals[given] += answer
    elif (rules.phase == UPPER or rules.phase == LOWER) and given == rules.anchor and row.old >= 0:
        if given == 0:  # all answers given ∅ are alike, and no choice between them is paid for
            row.old_spread += surprise(row.old, row.old_total, answer)
            row.old += 1
            row.old_total += answer
        else:
            row.now_spread += surprise(row.now, row.now_total, answer)
            row.now += 1
            row.now_total += answer


@kernel
def go_on(state: AuditedState) -> None:
    """Once nothing is in flight, see whether the scout is done; or, if the batch is asked, what it showed."""
    rules, r = state.rules[0], state.board.round[0]
    if rules.phase == DONE or r.asked != r.counted:
        return
    if rules.phase == SCOUTING:
        if not scout_spread(state.scout, state.board):
            return
        if rules.picked == rules.k - 1:
            begin_audit(state, scout_lead(state.scout))
        else:
            settle(state, scout_lead(state.scout), RULE)
        return
    if rules.next != rules.queued:
        return
    if rules.phase == LOWER:
        for p in range(rules.k):
            if state.fresh[p] < rules.goal:  # some came to nothing
                enqueue_picks(state)
                return
        rules.cycles = rules.goal
    audit(state)


@kernel
def void(state: AuditedState, item: int, rival: int) -> None:
    """Nothing was learnt; what the audit misses is asked again."""
    if state.board.round[0].ended == OPEN:
        if rival >= NOW:
            scout_void(state.scout, state.board, item)
        go_on(state)


@kernel
def late(state: AuditedState, item: int, rival: int, answer: float) -> None:
    """Bounds take no late answers."""


@kernel
def leave(state: AuditedState, item: int) -> None:
    """The scout looks no more; and what was never picked is no part of f(OPT) either."""
    scout_forget(state.scout, item)
    for p in range(state.rules[0].picked):
        if state.picks[p] == item:
            return
    state.items[item].old = -1


@kernel
def conclude(state: AuditedState, ended: int) -> None:
    """The best mean; and in an audit, what has been shown so far."""
    rules = state.rules[0]
    if rules.phase == UPPER or rules.phase == LOWER:
        close(state, ended)
        return
    settle(state, scout_lead(state.scout), ended)


explores(AuditedState, begin=begin, propose=propose, tell=tell, void=void, late=late, leave=leave, conclude=conclude)

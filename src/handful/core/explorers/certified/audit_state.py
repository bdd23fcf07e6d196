"""The audit's state: from where to prove (the anchor), and W, the lower side of the claim, by fresh answers."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handful.core.confidence import FIRST, bernstein, mixture_width
from handful.core.kernels import small
from handful.core.objective import Floats, Ints
from handful.core.parts.board import Board, Rows, new_board
from handful.core.parts.joint import Joint, drop_anchor, keep_round
from handful.core.parts.scout import Scout

SCOUTING, UPPER, LOWER, DONE = range(4)

RULES = np.dtype(
    [
        ("k", np.int64),
        ("share", np.float64),  # s
        ("epsilon", np.float64),  # ε
        ("delta", np.float64),  # δ_W
        ("picked", np.int64),
        ("hoped", np.float64),  # f(S), as the scout saw it
        ("phase", np.int64),
        ("outlook", np.float64),  # f(S_i) + U, as the scout saw it
        ("lower", np.float64),  # W is at least this
        ("width", np.float64),  # of W
        ("cycles", np.int64),  # n
        ("goal", np.int64),  # n, once the batch is in
        ("fresh", np.float64),  # weighted sum of all fresh answers
        ("fresh_spread", np.float64),  # Σ weight²·(answer − mean of those before it about the same pick)²
        ("rho", np.float64),  # for W
        ("queued", np.int64),
        ("next", np.int64),
    ],
    align=True,
)


class AuditState(NamedTuple):
    """Scouting, or auditing."""

    board: Board
    scout: Scout
    joint: Joint  # U
    rules: Rows
    picks: Ints
    fresh: Ints  # fresh answers to each pick
    totals: Floats  # and their sums
    queue: Ints


def new_state(
    size: int,
    k: int,
    seed: int,
    in_flight: int,
    scout: Scout,
    joint: Joint,
    **rules: float,
) -> AuditState:
    """Nothing is known."""
    r = np.zeros(1, RULES)
    for name, value in rules.items():
        r[name] = value
    r["k"] = k
    r["outlook"] = np.inf
    picks, queue = np.full(k, -1, np.int64), np.zeros(max(size, k), np.int64)
    board = new_board(size, k, seed, in_flight)
    return AuditState(board, scout, joint, r, picks, np.zeros(k, np.int64), np.zeros(k), queue)


# From where to prove.


@small
def largest(state: AuditState, m: int) -> float:
    """The sum of the m largest gains, by the means of the latest round that asked."""
    keys, board = state.joint.keys, state.board
    for q in range(m):
        keys[q] = -np.inf
    for p in range(board.round[0].candidates):
        row = state.joint.items[board.open[p]]
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
def remember(state: AuditState) -> None:
    """A round has ended: keep its answers; and make it the anchor if f(OPT) looks smallest from here."""
    rules, board = state.rules[0], state.board
    if board.round[0].asked == board.round[0].counted:
        keep_round(state.joint, board)
    elif rules.picked == 0:
        state.joint.rules[0].torn = 1
    outlook = rules.hoped + largest(state, min(rules.k, board.round[0].candidates))
    worth = 0.95 if state.joint.rules[0].anchor == 0 else 0.99  # the first pays for fewer choices: leaving it must pay
    if rules.picked == 0 or outlook < worth * rules.outlook:
        rules.outlook = outlook
        drop_anchor(state.joint, board, rules.picked)


# W, by fresh answers.


@small
def weight(state: AuditState, at: int) -> float:
    """The weight of pick number `at` in W."""
    return 1.0 - state.rules[0].share if at < state.joint.rules[0].anchor else 1.0


@small
def bound_below(state: AuditState) -> None:
    """W, from n cycles of one fresh answer for each pick."""
    rules, known = state.rules[0], state.joint.rules[0]
    anchor, span = known.anchor, known.span
    if rules.cycles == 0:
        rules.lower = 0.0
        rules.width = np.inf
        return
    n = float(rules.cycles)
    q = (rules.k - anchor) + anchor * (1.0 - rules.share) ** 2
    delta = rules.delta if span == 0.0 else 0.5 * rules.delta
    width = mixture_width(n * q, known.noise, 2.0 * math.log(1.0 / delta), rules.rho) * q
    if span > 0.0:
        V = rules.fresh_spread / span**2 + q * FIRST
        width = min(width, span * bernstein(n, V, math.log(1.0 / delta)))
    rules.width = known.shrink * width
    rules.lower = max(0.0, rules.fresh / n - rules.width)

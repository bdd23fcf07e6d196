"""The audit's state, and how long its scout may look."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handful.core.kernels import kernel, rare
from handful.core.objective import Floats, Ints
from handful.core.parts.board import Board, Rows, new_board
from handful.core.parts.claim_asking import BatchPlan, new_plan
from handful.core.parts.claim_state import Claim, close_round, drop_anchor
from handful.core.parts.reach import ReachTest, new_reach
from handful.core.parts.scout import Scout, scout_mean

SCOUTING, AUDITING, DONE = range(3)
_HOPEFUL = 0.02  # of s·f(OPT): a margin of the claim that is smaller, as the scout saw it, is not relied on
_TIMES = 6.0  # what the audit seems to cost may be asked in a round of the scout,
AT_LEAST, _AT_MOST = 100, 400  # at least so many answers per candidate, and at most so many for each pick;
_USUALLY = 0.011  # more with a smaller `near`
_ENDLESS = 2.0**62

_RULES = np.dtype(
    [
        ("k", np.int64),
        ("given", np.int64),  # items chosen before the first round
        ("picked", np.int64),
        ("hoped", np.float64),  # f(S), as the scout saw it
        ("phase", np.int64),
        ("newest", np.int64),  # the largest number of a question that the audit has asked
        ("latest", np.int64),  # and of one that was answered, or came to nothing
        ("torn", np.int64),  # 1 if the audit was ended while an earlier question than that was in flight
        ("goal", np.int64),  # n, once the batch is in
        ("queued", np.int64),
        ("next", np.int64),
        ("first", np.int64),  # the number of the question that asks for what is first in the queue
        ("worthless", np.int64),  # LOOKS_SO: the audit went back to ∅ to show it of f; IS_NOT: from there f is not
    ],
    align=True,
)


_ANCHOR = np.dtype(
    [
        ("outlook", np.float64),  # f(S_i) + U, as the scout saw it
        ("standing", np.int64),  # UNTRIED, or one of the others
        ("visits", np.int64),  # how often the audit has begun from it, or gone on: twice at most but for 0
        ("needed", np.float64),  # how many answers it seemed to need when it was set aside
    ],
    align=True,
)
_KEPT = np.dtype([(name, np.float64) for name in ("ratio", "epsilon", "value", "optimum")], align=True)
_FIRST = np.dtype(
    [
        ("cycles", np.int64),
        ("fresh", np.float64),
        ("fresh_spread", np.float64),
        ("whole", np.float64),
        ("whole_spread", np.float64),
        ("fresh_rho", np.float64),
    ],
    align=True,
)
UNTRIED, ASIDE, GIVEN_UP = range(3)
LOOKS_SO, IS_NOT = 1, 2


class AuditState(NamedTuple):
    """The audit before or during its work: what the scout, the claim and the test of reach know, and the picks."""

    board: Board
    scout: Scout
    claim: Claim
    reach: ReachTest
    rules: Rows
    picks: Ints
    fresh: Ints  # fresh answers to each pick
    totals: Floats  # and their sums
    anchors: Rows  # what has become of each (`anchors.py`)
    kept: Rows  # what was shown from those that were left
    first: Rows  # what was known of W when anchor 0 was left, and
    first_fresh: Ints  # `fresh` and
    first_totals: Floats  # `totals` as they were
    queue: Ints  # items to ask about given the anchor; −1 − p for pick p
    plan: BatchPlan
    number: Ints  # of the question that is told


def new_state(size: int, k: int, given: int, seed: int, in_flight: int, scout: Scout, claim: Claim) -> AuditState:
    """The state before the first round."""
    r = np.zeros(1, _RULES)
    r["k"] = k
    r["given"] = given
    r["latest"] = -1
    picks, queue = np.full(k, -1, np.int64), np.zeros(max(size, k, in_flight) + k, np.int64)
    board = new_board(size, k, seed, in_flight)
    fresh, plan = np.zeros(k, np.int64), new_plan(claim, k, in_flight)
    anchors, kept = np.zeros(k, _ANCHOR), np.zeros(1, _KEPT)
    anchors["outlook"], kept["epsilon"], kept["optimum"] = np.inf, np.inf, np.inf
    reach, number = new_reach(size, k), np.zeros(1, np.int64)
    first, first_fresh, first_totals = np.zeros(1, _FIRST), np.zeros(k, np.int64), np.zeros(k)
    left = (anchors, kept, first, first_fresh, first_totals)
    return AuditState(board, scout, claim, reach, r, picks, fresh, np.zeros(k), *left, queue, plan, number)


@kernel
def _largest(state: AuditState, m: int) -> float:
    """The sum of the m largest gains, as the scout believes them."""
    keys, board = state.claim.keys, state.board
    for q in range(m):
        keys[q] = -np.inf
    for p in range(board.round[0].candidates):
        hope = scout_mean(state.scout, board.open[p])
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


@kernel
def remember(state: AuditState) -> None:
    """A round has ended: make it the anchor, beside the first, if f(OPT) looks smallest from here."""
    rules, board = state.rules[0], state.board
    close_round(state.claim, board, rules.picked)
    outlook = rules.hoped + _largest(state, min(rules.k, board.round[0].candidates))
    kept = state.claim.rules[0].anchor
    state.anchors[rules.picked].outlook = outlook
    if rules.picked == 0 or kept == 0 or outlook < 0.99 * state.anchors[kept].outlook:
        drop_anchor(state.claim, board, rules.picked)


@kernel
def usual_error(state: AuditState) -> float:
    """R; where it comes from a range, as far as answers were seen to differ, if that is less."""
    claim, seen = state.claim.rules[0], state.scout.gains.rules[0].noise
    return min(claim.noise, 2.0 * math.sqrt(seen)) if claim.span > 0.0 else claim.noise


@rare
def patience_of(state: AuditState) -> int:
    """After how many answers a round of the scout ends in any case: some times what the audit seems to cost."""
    rules, claim, near = state.rules[0], state.claim.rules[0], state.scout.rules[0].near
    candidates = state.board.round[0].candidates
    outlook = rules.hoped + _largest(state, min(rules.k, candidates))
    for i in range(rules.picked):
        outlook = min(outlook, state.anchors[i].outlook)
    value = rules.hoped + _largest(state, min(rules.k - rules.picked, candidates))
    gap = max(value + claim.epsilon - claim.share * outlook, _HOPEFUL * claim.share * outlook)
    noise = usual_error(state)
    least, most = AT_LEAST * candidates, _AT_MOST * candidates * rules.k
    if not gap > 0.0:
        return least
    logs = 0.5 + 0.25 * rules.k - math.log(claim.delta)
    price = 2.0 * logs * rules.k * rules.k * ((1.0 + claim.share) * noise / gap) ** 2
    closer = max(1.0, _USUALLY / near) ** 2
    return int(min(closer * min(max(_TIMES * price, float(least)), float(most)), _ENDLESS))


@kernel
def weight(state: AuditState, at: int) -> float:
    """The weight of pick number `at` in W."""
    rules = state.claim.rules[0]
    return 1.0 - rules.share if at < rules.anchor else 1.0

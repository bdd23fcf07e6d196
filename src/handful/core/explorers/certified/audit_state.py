"""The audit's state, and from where to prove: the anchor."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handful.core.kernels import kernel
from handful.core.objective import Floats, Ints
from handful.core.parts.board import Board, Rows, new_board
from handful.core.parts.claim_asking import BatchPlan, new_plan
from handful.core.parts.claim_state import Claim, back_to_first, close_round, drop_anchor
from handful.core.parts.reach import ReachTest, new_reach
from handful.core.parts.scout import Scout, scout_mean

SCOUTING, AUDITING, DONE = range(3)

_RULES = np.dtype(
    [
        ("k", np.int64),
        ("given", np.int64),  # items chosen before the first round
        ("picked", np.int64),
        ("hoped", np.float64),  # f(S), as the scout saw it
        ("phase", np.int64),
        ("outlook_first", np.float64),  # U given ∅, as the scout saw it
        ("outlook", np.float64),  # f(S_i) + U given the later anchor
        ("goal", np.int64),  # n, once the batch is in
        ("queued", np.int64),
        ("next", np.int64),
        ("first", np.int64),  # the number of the question that asks for what is first in the queue
    ],
    align=True,
)


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
    queue: Ints  # items to ask about given the anchor; −1 − p for pick p
    plan: BatchPlan
    number: Ints  # of the question that is told


def new_state(size: int, k: int, given: int, seed: int, in_flight: int, scout: Scout, claim: Claim) -> AuditState:
    """The state before the first round."""
    r = np.zeros(1, _RULES)
    r["k"] = k
    r["given"] = given
    r["outlook"] = np.inf
    picks, queue = np.full(k, -1, np.int64), np.zeros(max(size, k, in_flight) + k, np.int64)
    board = new_board(size, k, seed, in_flight)
    fresh, plan = np.zeros(k, np.int64), new_plan(claim, k, in_flight)
    return AuditState(
        board, scout, claim, new_reach(size, k), r, picks, fresh, np.zeros(k), queue, plan, np.zeros(1, np.int64)
    )


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
    if rules.picked == 0:
        rules.outlook_first = outlook
        drop_anchor(state.claim, board, 0)
    elif outlook < 0.99 * rules.outlook:
        rules.outlook = outlook
        drop_anchor(state.claim, board, rules.picked)


@kernel
def _price(state: AuditState, first: bool) -> float:
    """About how many answers the audit would need from the first anchor or from the later one; ∞ if it looks false."""
    rules, claim = state.rules[0], state.claim.rules[0]
    outlook = rules.outlook_first if first else rules.outlook
    gap = rules.hoped + claim.epsilon - claim.share * outlook
    if gap <= 0.0:
        return np.inf
    logs = 0.5 + 0.25 * rules.k - math.log(claim.delta)
    if not first:
        logs += math.log(4.0 * rules.k) + 1.2 * rules.k
    return 2.0 * logs * rules.k * ((1.0 + claim.share) * claim.noise / gap) ** 2


@kernel
def choose_anchor(state: AuditState) -> None:
    """Prove from the anchor for which the fewest answers seem to be needed."""
    if state.claim.rules[0].anchor > 0 and _price(state, True) <= _price(state, False):
        back_to_first(state.claim)


@kernel
def weight(state: AuditState, at: int) -> float:
    """The weight of pick number `at` in W."""
    rules = state.claim.rules[0]
    return 1.0 - rules.share if at < rules.anchor else 1.0

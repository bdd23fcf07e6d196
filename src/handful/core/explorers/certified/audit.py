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

U is a joint bound over all sets that the k largest may be (`joint.py`).

A round ends, and the audit looks, only when nothing is in flight. So in the order of asking what was counted never
depends on answers that are still to come, however long each takes. (Where a round must end with questions in flight,
what it counted does not enter U.)

W comes from fresh answers. After the picks are made, whatever made them, n new answers to each of the k picks have
errors whose weighted sum is one martingale of variance nqR², q = Σ of squared weights: no union over items is paid,
and W is at least the weighted sum of their means less (R/n)·√((nq+ρ)(2 log(1/δ_W) + log((nq+ρ)/ρ))); or, in a known
range, less what `bernstein` says (δ_W is shared by the two).

If the claim is false in truth (the scout was unlucky, and greedy just reaches its worst case), no audit can show
it: then it says so.
"""

from __future__ import annotations

import math

import numpy as np

from handful.core.endings import OPEN, RULE, UNREACHABLE
from handful.core.explorers.certified.audit_state import (
    DONE,
    LOWER,
    SCOUTING,
    UPPER,
    AuditState,
    bound_below,
    new_state,
    remember,
    weight,
)
from handful.core.explorers.protocol import explores
from handful.core.kernels import kernel, rare, small
from handful.core.parts.board import NOBODY, NOW, end, mean, surprise
from handful.core.parts.joint import bound, learn
from handful.core.parts.joint_asking import batch, wanted, worth_asking
from handful.core.parts.scout import (
    scout_add,
    scout_begin,
    scout_forget,
    scout_lead,
    scout_next,
    scout_spread,
    scout_void,
)

__all__ = ["AuditState", "new_state"]


@kernel
def begin(state: AuditState) -> None:
    """A round starts by scouting; half the mean gain so far stands in for one that is smaller, and ε/k for no gain."""
    rules, scout = state.rules[0], state.scout.rules[0]
    rules.phase = SCOUTING
    usual = rules.hoped / rules.picked if rules.picked > 0 else 0.0
    scout.enough = max(0.5 * scout.near * usual, min(1.0, 10.0 * scout.near) * rules.epsilon / rules.k)
    scout_begin(state.scout)


@rare
def audit(state: AuditState) -> None:
    """Is the claim shown? Can it be? Else what to ask next: one batch given the anchor, or for the picks."""
    rules, above, in_flight = state.rules[0], state.joint.rules[0], state.board.round[0].in_flight
    if rules.phase == UPPER:
        bound(state.joint)
    else:
        bound_below(state)
    if rules.lower >= rules.share * above.upper - rules.epsilon:
        close(state, RULE)
        return
    likely = rules.lower + 2.0 * rules.width
    least = above.upper - 2.0 * above.width
    if likely < rules.share * least - rules.epsilon:
        close(state, UNREACHABLE)
        return
    below = np.inf if rules.cycles == 0 else rules.width / (rules.cycles * rules.k)
    rules.next = 0
    if below >= rules.share * worth_asking(state.joint):
        rules.phase = LOWER
        more = batch(rules.cycles, in_flight // rules.k)
        rules.goal = rules.cycles + min(more, max(1, len(state.queue) // rules.k))
        enqueue_picks(state)
    else:
        rules.phase = UPPER
        rules.queued = wanted(state.joint, state.queue, in_flight)


@small
def enqueue_picks(state: AuditState) -> None:
    """Ask for the fresh answers that are missing for the goal."""
    rules = state.rules[0]
    rules.queued = 0
    rules.next = 0
    for n in range(rules.cycles, rules.goal):
        for at in range(rules.k):
            if state.fresh[at] <= n and rules.queued < len(state.queue):
                state.queue[rules.queued] = at
                rules.queued += 1


@rare
def close(state: AuditState, ended: int) -> None:
    """The last round is over."""
    rules, board = state.rules[0], state.board
    rules.phase = DONE
    board.best[0] = state.picks[rules.k - 1]
    board.round[0].size = 1
    end(board, ended, max(0.0, rules.share * state.joint.rules[0].upper - rules.lower))


@small
def pick(state: AuditState, item: int) -> None:
    """`item` is chosen."""
    rules = state.rules[0]
    remember(state)
    state.picks[rules.picked] = item
    rules.picked += 1
    rules.hoped += max(mean(state.board, item), 0.0)


@rare
def end_round(state: AuditState, item: int, ended: int) -> None:
    """A round ends with its pick."""
    pick(state, item)
    state.board.best[0] = item
    state.board.round[0].size = 1
    end(state.board, ended, np.inf)


@rare
def begin_audit(state: AuditState, item: int) -> None:
    """The last pick is made: now prove the whole."""
    rules = state.rules[0]
    pick(state, item)
    rules.cycles = 0
    rules.fresh = 0.0
    rules.fresh_spread = 0.0
    for p in range(rules.k):
        state.fresh[p] = 0
        state.totals[p] = 0.0
    bound(state.joint)
    plan(state)
    audit(state)


@small
def plan(state: AuditState) -> None:
    """ρ for the fresh answers: sharpest where their width will be about a tenth of what f(S) seems to be."""
    rules, known = state.rules[0], state.joint.rules[0]
    logs = 2.0 * math.log(1.0 / rules.delta) + 3.0
    scale = 0.1 * max(rules.hoped, 1e-3 * known.width)
    n = known.noise * known.noise * rules.k * logs / (scale * scale)
    rules.rho = max(1.0, n * rules.k / logs)


@kernel
def propose(state: AuditState, n: int) -> tuple[int, int, int]:
    """The scout's wish; or the audit's next question, given ∅ or given the picks before a pick."""
    rules = state.rules[0]
    if rules.phase == SCOUTING:
        return scout_next(state.scout, state.board), NOBODY, NOW
    if rules.next == rules.queued:
        return -1, NOBODY, NOW
    at = state.queue[rules.next]
    rules.next += 1
    if rules.phase == UPPER:
        return at, NOBODY, state.joint.rules[0].anchor
    return state.picks[at], NOBODY, at


@kernel
def tell(state: AuditState, item: int, rival: int, given: int, answer: float) -> None:
    """To the scout, or to the audit."""
    if state.board.round[0].ended != OPEN:
        return
    if given == NOW:
        scout_add(state.scout, state.board, item, answer)
    else:
        credit(state, item, given, answer)
    go_on(state)


@small
def credit(state: AuditState, item: int, given: int, answer: float) -> None:
    """An answer about `item` given the first `given` picks: to the account that wants it now, before it is looked at.

    In a round that is gone through again, with answers left out, it may be wanted by neither.
    """
    rules, joint = state.rules[0], state.joint
    if rules.phase == LOWER and given < rules.k and state.picks[given] == item and state.fresh[given] < rules.goal:
        rules.fresh += weight(state, given) * answer
        rules.fresh_spread += weight(state, given) ** 2 * surprise(state.fresh[given], state.totals[given], answer)
        state.fresh[given] += 1
        state.totals[given] += answer
    elif (
        (rules.phase == UPPER or rules.phase == LOWER) and given == joint.rules[0].anchor and joint.items[item].old >= 0
    ):
        learn(joint, item, answer)


@kernel
def go_on(state: AuditState) -> None:
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
            end_round(state, scout_lead(state.scout), RULE)
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
def void(state: AuditState, item: int, rival: int, given: int) -> None:
    """Nothing was learnt; what the audit misses is asked again."""
    if state.board.round[0].ended == OPEN:
        if given == NOW:
            scout_void(state.scout, state.board, item)
        go_on(state)


@kernel
def leave(state: AuditState, item: int) -> None:
    """The scout looks no more; and what was never picked is no part of f(OPT) either."""
    scout_forget(state.scout, item)
    for p in range(state.rules[0].picked):
        if state.picks[p] == item:
            return
    state.joint.items[item].old = -1


@kernel
def conclude(state: AuditState, ended: int) -> None:
    """The best mean; and in an audit, what has been shown so far."""
    rules = state.rules[0]
    if rules.phase == UPPER or rules.phase == LOWER:
        close(state, ended)
        return
    end_round(state, scout_lead(state.scout), ended)


explores(AuditState, begin=begin, propose=propose, tell=tell, void=void, leave=leave, conclude=conclude)

"""`certified`, audited: pick by scouting, and prove the whole at the end.

Only the end matters: the claim is f(S) ≥ s·f(OPT) − ε with s = 1 − 1/e, or a share s wished for and ε = 0. For
every i, the *anchor*, f(OPT) ≤ f(S_i) + U, where S_i are the first i picks and U is the sum of the k largest
gains given S_i. So the claim holds if
    W = (1 − s)·f(S_i) + f(S) − f(S_i) ≥ s·U − ε.
(A proof that adds up the rounds one by one, with surplus banked and the slack of a finite k spent, shows no more:
in a world where f(OPT) is as large as the rounds allow it must show the claim too, and that is this inequality for
the best i.) So nothing needs to be proved in a round. A round only scouts (`scout.py`) for a pick that is about the
best; the last one goes on with an *audit*, which asks about the largest gains given S_i (for U) and about each pick
given the picks before it (for W), whichever narrows W − s·U more. The anchor is the i whose f(S_i) + U looks
smallest when the audit begins; mostly i = 0, where W is f(S).

The claim is tested as one sum (`claim.py`); W comes from fresh answers: after the picks are made, whatever made them,
n new answers to each of the k picks have errors whose weighted sum is one martingale of variance nqR², q = Σ of squared
weights.

A round ends, and the audit looks, only when nothing is in flight. So in the order of asking what was counted never
depends on answers that are still to come, however long each takes. (Where a round must end with questions in flight,
what it counted does not enter the claim.)

If the claim is false in truth (the scout was unlucky, and greedy just reaches its worst case), no audit can show
it. Where it is out of reach from one anchor (`reach.py`), or far, the audit begins anew from another (`anchors.py`),
with that anchor's share of δ and fresh answers; where none is left, it says so.
"""

from __future__ import annotations

import numpy as np

from handful.core.endings import OPEN, RULE, UNREACHABLE
from handful.core.explorers.certified.anchors import choose_anchor, gap_of, go_on_from_first, is_far, leave_anchor
from handful.core.explorers.certified.audit_state import (
    ASIDE,
    AT_LEAST,
    AUDITING,
    DONE,
    GIVEN_UP,
    SCOUTING,
    AuditState,
    patience_of,
    remember,
    weight,
)
from handful.core.explorers.protocol import explores
from handful.core.kernels import kernel, rare
from handful.core.parts.board import NOBODY, NOW, end, surprise
from handful.core.parts.claim import squares
from handful.core.parts.claim_asking import plan_batch, update_shown
from handful.core.parts.claim_state import hear, hear_nothing, learn, note_first
from handful.core.parts.pool import renew_pool
from handful.core.parts.reach import is_worthless, name, notice, out_of_reach
from handful.core.parts.scout import (
    scout_add,
    scout_begin,
    scout_done,
    scout_forget,
    scout_lead,
    scout_mean,
    scout_next,
)

_MATTERS = 50.0  # with a `near` of 1/50 a loss of ε/k in a round is taken; with a smaller `near`, so much less


@kernel
def begin(state: AuditState) -> None:
    """A round starts by scouting."""
    rules, scout, claim = state.rules[0], state.scout.rules[0], state.claim.rules[0]
    rules.phase = SCOUTING
    scout.usual = rules.hoped / rules.picked if rules.picked > 0 else 0.0
    scout.enough = min(1.0, _MATTERS * scout.near) * claim.epsilon / rules.k
    scout.patience = AT_LEAST * state.board.round[0].candidates
    scout_begin(state.scout, state.board)


@rare
def _audit(state: AuditState) -> None:
    """Is the claim shown? Can it be? Else what to ask next: a batch given the anchor, for the picks, or both."""
    rules, claim, in_flight = state.rules[0], state.claim.rules[0], state.board.round[0].in_flight
    renew_pool(state.claim)
    update_shown(state.claim)
    if claim.shown >= 0.0:
        _close(state, RULE)
        return
    if is_worthless(state.reach, state.claim):
        _close(state, UNREACHABLE)
        return
    never = out_of_reach(state.reach, state.claim)
    if never or is_far(state):
        here = claim.anchor
        anchor = leave_anchor(state, GIVEN_UP if never else ASIDE)
        if anchor < 0:
            _close(state, UNREACHABLE)
            return
        if anchor != here:
            _begin_from_anchor(state)
            go_on_from_first(state)
        update_shown(state.claim)
    if state.reach.rules[0].answers >= state.reach.rules[0].renew:
        name(state.reach, state.claim)
    rules.next = 0
    rules.queued, cycles = plan_batch(state.plan, state.claim, state.queue, in_flight)
    rules.goal = claim.cycles + cycles
    _enqueue_picks(state)


@kernel
def _enqueue_picks(state: AuditState) -> None:
    """Ask for the fresh answers that are missing for the goal too."""
    rules = state.rules[0]
    for n in range(state.claim.rules[0].cycles, rules.goal):
        for at in range(rules.k):
            if state.fresh[at] <= n and rules.queued < len(state.queue):
                state.queue[rules.queued] = -1 - at
                rules.queued += 1


@rare
def _close(state: AuditState, ended: int) -> None:
    """End the last round; its epsilon is what is missing for the claim."""
    rules, board = state.rules[0], state.board
    rules.phase = DONE
    board.best[0] = state.picks[rules.k - 1]
    board.round[0].size = 1
    end(board, ended, max(0.0, state.claim.rules[0].epsilon - state.claim.rules[0].shown))


@kernel
def _pick(state: AuditState, item: int) -> None:
    """Note that `item` is picked."""
    rules = state.rules[0]
    remember(state)
    state.picks[rules.picked] = item
    rules.picked += 1
    rules.hoped += max(scout_mean(state.scout, item), 0.0)


@rare
def _end_round(state: AuditState, item: int, ended: int) -> None:
    """Pick `item` and end the round."""
    _pick(state, item)
    state.board.best[0] = item
    state.board.round[0].size = 1
    end(state.board, ended, np.inf)


@rare
def _begin_audit(state: AuditState, item: int) -> None:
    """Note the last pick, choose the anchor and begin the audit."""
    _pick(state, item)
    choose_anchor(state)
    state.rules[0].phase = AUDITING
    _begin_from_anchor(state)


@rare
def _begin_from_anchor(state: AuditState) -> None:
    """Nothing is known of W yet; what is known of gains stays."""
    rules, claim = state.rules[0], state.claim.rules[0]
    claim.worth = rules.hoped
    if claim.cycles > 0:  # what was learnt from the anchor before
        claim.worth = 0.0
        for p in range(rules.k):
            claim.worth += max(state.totals[p] / state.fresh[p], 0.0)
    claim.cycles = 0
    claim.pooled = 0
    claim.fresh = 0.0
    claim.fresh_spread = 0.0
    claim.whole = 0.0
    claim.whole_spread = 0.0
    claim.shown = -np.inf
    for p in range(rules.k):
        state.fresh[p] = 0
        state.totals[p] = 0.0
    _plan(state)
    renew_pool(state.claim)
    state.reach.rules[0].answers = 0
    state.reach.rules[0].renew = 0  # a set is named as soon as the audit looks, and often at first
    rules.goal = 0


@kernel
def _plan(state: AuditState) -> None:
    """ρ for the fresh answers: sharpest about where the claim will be shown, if the scout saw right."""
    rules, claim = state.rules[0], state.claim.rules[0]
    gap = max(
        gap_of(state, claim.anchor),
        0.1 * rules.hoped,
        1e-3 * claim.noise,
    )
    q = squares(state.claim)
    n = 12.0 * q * (1.0 + claim.share) * (claim.noise / gap) ** 2 if claim.noise > 0.0 else 1.0
    claim.fresh_rho = max(1.0, 0.5 * n * q)


@kernel
def propose(state: AuditState, n: int) -> tuple[int, int, int]:
    """The scout's wish; or the audit's next question, given ∅ or given the picks before a pick."""
    rules = state.rules[0]
    if rules.phase == SCOUTING:
        item = scout_next(state.scout, state.board)
        if item >= 0:
            note_first(state.claim, item, rules.picked, n)
        return item, NOBODY, NOW
    if rules.next == rules.queued:
        return -1, NOBODY, NOW
    if rules.next == 0:
        rules.first = n
    rules.newest = n
    at = state.queue[rules.next]
    rules.next += 1
    if at >= 0:
        return at, NOBODY, state.claim.rules[0].anchor
    return state.picks[-1 - at], NOBODY, -1 - at


@kernel
def tell(state: AuditState, item: int, rival: int, given: int, answer: float) -> None:
    """Hand the answer to the scout, or to the audit."""
    if state.board.round[0].ended != OPEN:
        return
    if given == NOW:
        scout_add(state.scout, state.board, item, answer)
        hear(state.claim, item, state.rules[0].picked, answer)
    else:
        state.rules[0].latest = max(state.rules[0].latest, state.number[0])
        _credit(state, item, given, answer)
    _go_on(state)


@kernel
def _credit(state: AuditState, item: int, given: int, answer: float) -> None:
    """An answer about `item` given the first `given` picks: to the account that it was asked for.

    In a round that is gone through again, with answers left out, it may be wanted by neither.
    """
    rules, claim = state.rules[0], state.claim.rules[0]
    state.reach.rules[0].answers += 1
    place = state.number[0] - rules.first
    for_picks = given != claim.anchor or (0 <= place < rules.queued and state.queue[place] < 0)
    if for_picks and given < rules.k and state.picks[given] == item and state.fresh[given] < rules.goal:
        claim.fresh += weight(state, given) * answer
        claim.fresh_spread += weight(state, given) ** 2 * surprise(state.fresh[given], state.totals[given], answer)
        state.fresh[given] += 1
        state.totals[given] += answer
    elif rules.phase == AUDITING and given == claim.anchor and state.claim.items[item].old >= 0:
        learn(state.claim, item, answer)
        notice(state.reach, item, answer)


@kernel
def _go_on(state: AuditState) -> None:
    """Once nothing is in flight, see whether the scout is done; or, if the batch is asked, what it showed."""
    rules, r = state.rules[0], state.board.round[0]
    if rules.phase == DONE or r.asked != r.counted:
        return
    if rules.phase == SCOUTING:
        if r.counted >= state.scout.rules[0].patience:
            state.scout.rules[0].patience = patience_of(state)
        if not scout_done(state.scout, state.board):
            return
        if rules.picked < rules.k - 1:
            _end_round(state, scout_lead(state.scout), RULE)
            return
        _begin_audit(state, scout_lead(state.scout))
    elif rules.next != rules.queued:
        return
    else:
        for p in range(rules.k):
            if state.fresh[p] < rules.goal:  # some came to nothing
                rules.next = 0
                rules.queued = 0
                _enqueue_picks(state)
                return
        claim = state.claim.rules[0]
        claim.cycles = rules.goal
        claim.whole = claim.fresh
        claim.whole_spread = claim.fresh_spread
    _audit(state)


@kernel
def void(state: AuditState, item: int, rival: int, given: int) -> None:
    """Nothing was learnt; what the audit misses is asked again."""
    if state.board.round[0].ended == OPEN:
        if given == NOW:
            hear_nothing(state.claim, item)
        else:
            state.rules[0].latest = max(state.rules[0].latest, state.number[0])
        _go_on(state)


@kernel
def leave(state: AuditState, item: int) -> None:
    """The scout looks no more. A pick that the rules did not make is noted; what is withdrawn is no part of f(OPT)."""
    rules, r = state.rules[0], state.board.round[0]
    scout_forget(state.scout, item)
    at = r.round - 1 - rules.given
    if r.ended != OPEN and r.pick == item and at >= 0:
        if rules.picked == at:
            _pick(state, item)
        state.picks[at] = item
        return
    for p in range(rules.picked):
        if state.picks[p] == item:
            return
    state.claim.items[item].old = -1
    state.claim.items[item].start = -1
    state.claim.rules[0].moved += 1


@kernel
def conclude(state: AuditState, ended: int) -> None:
    """The best mean; and in an audit, what has been shown so far.

    Nothing is, where later questions were answered before earlier ones: what was counted then may depend on how long
    answers took.
    """
    rules, r = state.rules[0], state.board.round[0]
    if rules.phase == AUDITING:
        if r.asked - r.counted not in (0, rules.newest - rules.latest):
            rules.torn = 1 if rules.latest >= 0 else 0  # where nothing of it is answered, no later question is
            state.claim.rules[0].cycles = 0
            state.claim.rules[0].shown = -np.inf
        _close(state, ended)
        return
    _end_round(state, scout_lead(state.scout), ended)


explores(AuditState, begin=begin, propose=propose, tell=tell, void=void, leave=leave, conclude=conclude)

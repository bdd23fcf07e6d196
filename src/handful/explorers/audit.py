"""`certified`, audited: pick by scouting, and prove the whole at the end, from an anchor."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from handful.certificates import (
    MONOTONE_SUBMODULAR,
    NO_GUARANTEE,
    OPTIMUM_BOUND,
    Certificate,
    Evidence,
    Guarantee,
    assumptions_of,
    claim_by_values,
    radii,
)
from handful.explorers.board import NOBODY, NOW, Board, Rows, View, end, interval_view, new_board, surprise
from handful.explorers.bounds import rank
from handful.explorers.claim import (
    ABOVE,
    AFRESH,
    BELOW,
    CLAIM,
    BatchPlan,
    Claim,
    ReachTest,
    back_to_first,
    begin_afresh,
    best_score,
    close_round,
    drop_anchor,
    hear,
    hear_nothing,
    is_worthless,
    keep_first,
    largest_share,
    learn,
    looks_worth_something,
    looks_worthless,
    name,
    new_plan,
    new_reach,
    note_first,
    notice,
    out_of_reach,
    plan_batch,
    renew_pool,
    squares,
    update_shown,
)
from handful.explorers.gains import (
    Scout,
    scout_add,
    scout_begin,
    scout_done,
    scout_forget,
    scout_lead,
    scout_mean,
    scout_next,
)
from handful.explorers.protocol import explores
from handful.kernels import kernel, rare
from handful.problem import OPEN, RULE, UNREACHABLE, Floats, Ints

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


_TRIED = 2.0  # times what it costs to try another anchor must have been asked from this one,
_FAR = 30.0  # and so many times that must be needed still, to set it aside,
_LUCK = 1.0 / 3.0  # even if the margin is larger than it looks by so much of its width: about a standard deviation


@kernel
def gap_of(state: AuditState, anchor: int) -> float:
    """By how much W − s·U exceeds −ε from an anchor, as the scout saw it."""
    claim = state.claim.rules[0]
    return state.rules[0].hoped + claim.epsilon - claim.share * state.anchors[anchor].outlook


@kernel
def _answers(state: AuditState, logs: float, noise: float, gap: float) -> float:
    """About how many answers show a claim by such a gap, at such an allowance."""
    rules, claim = state.rules[0], state.claim.rules[0]
    return 2.0 * logs * rules.k * ((1.0 + claim.share) * noise / gap) ** 2


@kernel
def _price(state: AuditState, anchor: int) -> float:
    """About how many answers the audit would need from an anchor, beside another; ∞ if the claim looks false."""
    rules, claim, gap = state.rules[0], state.claim.rules[0], gap_of(state, anchor)
    if gap <= 0.0:
        return np.inf
    logs = 0.5 + 0.25 * rules.k - math.log(claim.delta)
    if anchor > 0:
        logs += math.log(4.0 * rules.k) + 1.2 * rules.k
    return _answers(state, logs, claim.noise, gap)


@kernel
def choose_anchor(state: AuditState) -> None:
    """Prove from the anchor for which the fewest answers seem to be needed; if none will do, where least is missing."""
    later = state.claim.rules[0].anchor
    first, other = _price(state, 0), _price(state, later)
    if later > 0 and (first < other or (first == other and gap_of(state, 0) >= gap_of(state, later))):
        back_to_first(state.claim)
    state.anchors[state.claim.rules[0].anchor].visits = 1


@kernel
def _worth(state: AuditState) -> float:
    """f(S), as far as is known."""
    if state.claim.rules[0].cycles == 0:
        return state.rules[0].hoped
    total = 0.0
    for p in range(state.rules[0].k):
        total += max(state.totals[p] / state.fresh[p], 0.0)
    return total


@kernel
def _trial(state: AuditState) -> float:
    """What it costs to see whether another anchor is far better: what it needs if f(OPT) is hardly more than f(S)."""
    rules, claim = state.rules[0], state.claim.rules[0]
    gap = (1.0 - claim.share) * _worth(state) + claim.epsilon
    if not gap > 0.0:
        return np.inf
    logs = 0.5 + 0.25 * rules.k - math.log(claim.delta * AFRESH / (2.0 * rules.k))
    return _answers(state, logs, usual_error(state), gap) + len(state.claim.items)


@rare
def _margin(claim: Claim, plan: BatchPlan) -> float:
    """W − s·U + ε as it looks, by the largest means, a little less for those of few answers; in a plan's room."""
    rules, keys, items = claim.rules[0], plan.keys, plan.items
    for p in range(rules.k):
        keys[p] = 0.0
        items[p] = -1
    for at in range(rules.pooled):
        row = claim.items[claim.pool[at]]
        if row.old < 0:
            continue
        newer = rules.alone == 0 and row.now > 0
        count, total = (row.now, row.now_total) if newer else (row.old, row.old_total)
        rank(keys, items, rules.k, rules.k, total / (count + 1.0), claim.pool[at])
    margin = rules.whole / rules.cycles + rules.epsilon
    for p in range(rules.k):
        margin -= rules.share * keys[p]
    return margin


@kernel
def _needed(state: AuditState, luck: float) -> float:
    """How many answers seem to be needed from this anchor, those asked among them: widths fall with their root."""
    asked, margin = float(state.reach.rules[0].answers), _margin(state.claim, state.plan)
    width = margin - state.claim.rules[0].shown
    share = margin / width + luck if width > 0.0 else 1.0
    return asked / (share * share) if share > 0.0 else np.inf


@kernel
def _is_last(state: AuditState) -> bool:
    """Whether no other anchor is left to turn to."""
    last = True
    for i in range(state.rules[0].k):
        last &= i == state.claim.rules[0].anchor or state.anchors[i].standing == GIVEN_UP
    return last


@kernel
def _is_for_first(state: AuditState) -> bool:
    """Whether all that could be gained looks like nothing, which can be shown from ∅ alone, and that can be tried."""
    can = state.claim.rules[0].anchor > 0 and state.anchors[0].standing != GIVEN_UP
    return can and state.rules[0].worthless != IS_NOT and looks_worthless(state.reach, state.claim)


@kernel
def _was_for_nothing(state: AuditState) -> bool:
    """Whether the audit went back to ∅ to show that all is worth nothing, and it looks otherwise from there."""
    here = state.claim.rules[0].anchor == 0 and state.rules[0].worthless == LOOKS_SO
    return here and looks_worth_something(state.reach, state.claim)


@rare
def is_far(state: AuditState) -> bool:
    """Whether the claim seems so far away from this anchor that another should be tried first."""
    claim, asked = state.claim.rules[0], state.reach.rules[0].answers
    if claim.cycles == 0:
        return False
    if _is_for_first(state) or _was_for_nothing(state):
        return True
    if state.anchors[claim.anchor].visits > 1 or _is_last(state):
        return False
    trial = _trial(state)
    return asked >= _TRIED * trial and _needed(state, _LUCK) >= _FAR * trial


@rare
def _keep(state: AuditState) -> None:
    """What was shown from this anchor stays shown."""
    claim, kept = state.claim, state.kept[0]
    rules = claim.rules[0]
    if rules.cycles == 0:
        return
    kept.ratio = max(kept.ratio, largest_share(claim))
    kept.value = max(kept.value, best_score(claim, BELOW, 1.0, 0.0))
    kept.epsilon = min(kept.epsilon, max(0.0, -best_score(claim, CLAIM, rules.share, 0.0)))
    if rules.anchor == 0:
        kept.optimum = min(kept.optimum, -best_score(claim, ABOVE, 1.0, 0.0))


@kernel
def _copy_worth(source: Rows, target: Rows) -> None:
    """What is known of W, as sums."""
    known, copy = source[0], target[0]
    copy.cycles = known.cycles
    copy.fresh = known.fresh
    copy.fresh_spread = known.fresh_spread
    copy.whole = known.whole
    copy.whole_spread = known.whole_spread
    copy.fresh_rho = known.fresh_rho


@kernel
def _keep_worth(state: AuditState) -> None:
    """What is known of W from anchor 0: while nothing is asked from there, its test stands still."""
    _copy_worth(state.claim.rules, state.first)
    for p in range(state.rules[0].k):
        state.first_fresh[p] = state.fresh[p]
        state.first_totals[p] = state.totals[p]


@kernel
def go_on_from_first(state: AuditState) -> None:
    """The audit is back at anchor 0, if it was there before: all is as it was when it left."""
    first = state.first[0]
    if state.claim.rules[0].anchor > 0 or first.cycles == 0:
        return
    _copy_worth(state.first, state.claim.rules)
    for p in range(state.rules[0].k):
        state.fresh[p] = state.first_fresh[p]
        state.totals[p] = state.first_totals[p]
    state.rules[0].goal = first.cycles


@kernel
def _next(state: AuditState) -> int:
    """The most hopeful anchor that was not tried, or the one that was set aside and seemed to need least; else -1."""
    anchors, best = state.anchors, -1
    for i in range(state.rules[0].k):
        if anchors[i].standing == UNTRIED and (best < 0 or gap_of(state, i) > gap_of(state, best)):
            best = i
    if best >= 0:
        return best
    for i in range(state.rules[0].k):
        if anchors[i].standing == ASIDE and (best < 0 or anchors[i].needed < anchors[best].needed):
            best = i
    return best


@rare
def leave_anchor(state: AuditState, standing: int) -> int:
    """This anchor is set aside or given up: which is next, perhaps itself, or -1.

    From a later anchor an audit begins anew, and fresh answers alone count; from 0 it goes on where it was.
    """
    anchors, claim = state.anchors, state.claim
    here = claim.rules[0].anchor
    first = standing == ASIDE and _is_for_first(state)
    if first:
        state.rules[0].worthless = LOOKS_SO
    elif _was_for_nothing(state):
        state.rules[0].worthless = IS_NOT
    _keep(state)
    anchors[here].standing = GIVEN_UP if here > 0 and anchors[here].visits > 1 else standing
    anchors[here].needed = _needed(state, 0.0) if claim.rules[0].cycles > 0 else np.inf
    best = 0 if first else _next(state)
    if best < 0:
        return best
    anchors[best].visits += 1
    if best == here:
        return best
    if here == 0:
        keep_first(claim)
        _keep_worth(state)
    if best == 0:
        back_to_first(claim)
    else:
        begin_afresh(claim, best, state.picks)
    return best


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


AUDITED = 0.95  # the share of δ that an audit may spend; the rest is for what can be said where answers end before it
_UNAUDITED = "the answers ended before the audit that would have shown more"
_UNFINISHED = "the answers ended in the middle of the audit that would have shown more"
_TORN = (
    "the answers ended in the middle of the audit, with an earlier question open when a later one was answered: what "
    "was counted may then depend on how long answers took, so nothing is claimed by it"
)
_NOTHING_TO_GAIN = (
    "all that could be gained is shown to be next to nothing beside how far answers are off, so what share of it was "
    "found would take answers without end; ask for an epsilon instead of a ratio"
)
_OUT_OF_REACH = (
    "the claim asked for is out of reach of any proof from these picks, or so close to the edge of it that no number "
    "of answers would tell; to ask for less takes fewer answers"
)


@dataclass(frozen=True)
class ShownByAudit:
    """Each holds with probability 1 − δ. (ratio and epsilon hold together: one product of mixtures is behind both.)"""

    ratio: float  # f(S)/f(OPT) is at least this
    epsilon: float  # what must be taken off s·f(OPT), for the s that the audit was to show; ∞ if nothing is shown
    value: float  # f(S) is at least this
    optimum: float | None  # f(OPT) is at most this; None where the audit was never at ∅


def audit_view(state: AuditState) -> View:
    """The mean of each item asked in this round, with an anytime interval."""
    rules, items = state.claim.rules[0], state.board.items
    span, high = float(rules["span"]), float(rules["high"])
    alpha = float(rules["delta"]) / (len(items) * int(rules["k"]))
    view = interval_view(state.board, radii(items["count"], items["spread"], float(rules["noise"]), alpha, span))
    return view.within(high - span, high) if span > 0 else view


def claim_of_audit(evidence: Evidence, state: AuditState, guarantee: Guarantee) -> Certificate:
    """What the audit has shown; where the answers ended before it, what the rounds' own answers show."""
    ended = evidence.rounds[-1].ended == "rule"
    begun = ended or state.claim.rules["cycles"][0] > 0 or bool(state.anchors["standing"].any())
    if evidence.all_picked and ended:
        return _claimed(evidence, state, guarantee)
    reasons = (_why_not_begun(state),) if evidence.all_picked else ()
    by_rounds = claim_by_values(evidence, NO_GUARANTEE, (1.0 - AUDITED) * evidence.problem.delta, reasons)
    if evidence.all_picked and begun:
        return _better(_claimed(evidence, state, guarantee), by_rounds)
    return by_rounds


def _better(audited: Certificate, by_rounds: Certificate) -> Certificate:
    """What the audit has shown, and what the rounds' own answers show beyond that: each has its own part of δ."""
    values = [c.value for c in (audited, by_rounds) if c.value is not None]
    ratios = [c.ratio for c in (audited, by_rounds) if c.ratio is not None]
    optima = [c.optimum for c in (audited, by_rounds) if c.optimum is not None]
    return replace(
        audited,
        value=max(values, default=None),
        ratio=max(ratios, default=None),
        optimum=min(optima, default=None),
    )


def _why_not_begun(state: AuditState) -> str:
    """Why nothing is claimed by the audit."""
    if state.rules["torn"][0]:
        return _TORN
    begun = state.reach.rules["answers"][0] > 0 or state.anchors["standing"].any()
    return _UNFINISHED if begun else _UNAUDITED


def _claimed(evidence: Evidence, state: AuditState, guarantee: Guarantee) -> Certificate:
    """The guarantee if it was kept, and what the audit's answers show besides."""
    problem, ended, kept = evidence.problem, evidence.rounds[-1].ended, evidence.kept(guarantee)
    shown = _shown_in_all(state)
    ratio = max(shown.ratio, problem.ratio or 0.0) if kept.bound is not None else shown.ratio
    reasons: tuple[str, ...] = ()
    if ended == "out of reach":
        reasons = (_NOTHING_TO_GAIN if is_worthless(state.reach, state.claim) else _OUT_OF_REACH,)
    elif ended != "rule":
        reasons = (_TORN if state.rules["torn"][0] else _UNFINISHED,)
    bound, epsilon = kept.bound, kept.epsilon
    if bound is None and problem.ratio is None and shown.epsilon <= shown.value and shown.value > 0:
        bound, epsilon = OPTIMUM_BOUND, shown.epsilon  # else it says next to nothing
    return Certificate(
        bound=bound,
        epsilon=epsilon,
        delta=problem.delta,
        ratio=ratio if ratio > 0 else None,
        value=shown.value if shown.value > 0 else None,
        optimum=shown.optimum,
        assumptions=(MONOTONE_SUBMODULAR, *assumptions_of(problem)),
        reasons=reasons,
    )


def shown_by(claim: Claim) -> ShownByAudit:
    """Read what is shown from this anchor; nothing of the claim changes."""
    claim = claim._replace(
        rules=claim.rules.copy(), best=claim.best.copy(), keys=claim.keys.copy(), pool=claim.pool.copy()
    )
    renew_pool(claim)
    share, anchor = float(claim.rules["share"][0]), int(claim.rules["anchor"][0])
    optimum = -best_score(claim, ABOVE, 1.0, 0.0) if anchor == 0 else None
    value = best_score(claim, BELOW, 1.0, 0.0)
    epsilon = max(0.0, -best_score(claim, CLAIM, share, 0.0))
    return ShownByAudit(largest_share(claim), epsilon, max(0.0, value), optimum)


def _shown_in_all(state: AuditState) -> ShownByAudit:
    """The best of what is shown from this anchor, and of what was from those before it."""
    kept = state.kept[0]
    ratio, epsilon = float(kept["ratio"]), float(kept["epsilon"])
    value, optimum = float(kept["value"]), float(kept["optimum"])
    if state.claim.rules["cycles"][0] > 0 or state.claim.rules["shown"][0] > -math.inf:
        here = shown_by(state.claim)
        ratio, epsilon, value = max(ratio, here.ratio), min(epsilon, here.epsilon), max(value, here.value)
        optimum = min(optimum, math.inf if here.optimum is None else here.optimum)
    if math.isfinite(optimum):
        most = int(state.rules["k"][0]) * float(state.claim.rules["high"][0])  # no gain is above the range
        return ShownByAudit(ratio, epsilon, value, min(optimum, most))
    return ShownByAudit(ratio, epsilon, value, None)

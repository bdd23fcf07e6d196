"""From where an audit proves its claim: its anchor, and when it turns to another.

Each anchor has tests of its own, with shares of δ of their own (`claim.py`), so what was shown from one stays shown
when the audit goes on from another, and the certificate tells the best of all.

An anchor is given up when the claim is shown to be out of reach from it. It is set aside when the claim may not be, but
seems so far away that it is cheap to try the others first: the scout's view says in which order, and not whether, for
where many items are alike it has not seen how far their gains fall. Once all were tried, the audit goes back to the one
that seemed to need least, and stays until that is shown or given up.
"""

from __future__ import annotations

import math

import numpy as np

from handful.core.explorers.certified.audit_state import (
    ASIDE,
    GIVEN_UP,
    IS_NOT,
    LOOKS_SO,
    UNTRIED,
    AuditState,
    usual_error,
)
from handful.core.kernels import kernel, rare
from handful.core.parts.board import Rows
from handful.core.parts.claim import ABOVE, AFRESH, BELOW, CLAIM, best_score, largest_share
from handful.core.parts.claim_asking import BatchPlan
from handful.core.parts.claim_state import Claim, back_to_first, begin_afresh, keep_first
from handful.core.parts.ranking import rank
from handful.core.parts.reach import looks_worth_something, looks_worthless

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

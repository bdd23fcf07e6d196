"""What is said of an audit: its view of each item, and what its answers show, whether or not it came to its end."""

from __future__ import annotations

import math
from dataclasses import dataclass

from handful.core.certificates import Certificate, radii
from handful.core.evidence import Evidence, claim_by_values
from handful.core.explorers.certified.audit_state import AuditState
from handful.core.guarantees import MONOTONE_SUBMODULAR, NO_GUARANTEE, OPTIMUM_BOUND, Guarantee
from handful.core.parts.claim import ABOVE, BELOW, CLAIM, best_score
from handful.core.parts.claim_state import Claim
from handful.core.parts.pool import renew_pool
from handful.core.parts.reach import is_worthless
from handful.core.parts.requirements import assumptions_of
from handful.core.views import View, interval_view

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
    "of answers would tell; ask for less to see how much can be shown"
)
_STEPS = 40


@dataclass(frozen=True)
class ShownByAudit:
    """Each holds with probability 1 − δ. (ratio and epsilon hold together: one product of mixtures is behind both.)"""

    ratio: float  # f(S)/f(OPT) is at least this
    epsilon: float  # what must be taken off s·f(OPT), for the s that the audit was to show; ∞ if nothing is shown
    value: float  # f(S) is at least this
    optimum: float | None  # f(OPT) is at most this; None where the audit did not begin from ∅


def audit_view(state: AuditState) -> View:
    """The mean of each item asked in this round, with an anytime interval."""
    rules, items = state.claim.rules[0], state.board.items
    span, high = float(rules["span"]), float(rules["high"])
    alpha = float(rules["delta"]) / (len(items) * int(rules["k"]))
    view = interval_view(state.board, radii(items["count"], items["spread"], float(rules["noise"]), alpha, span))
    return view.within(high - span, high) if span > 0 else view


def claim_of_audit(evidence: Evidence, state: AuditState, guarantee: Guarantee) -> Certificate:
    """What the audit has shown; where the answers ended before it, what the rounds' own answers show."""
    begun = state.claim.rules[0]["cycles"] > 0 or evidence.rounds[-1].ended == "rule"
    if evidence.all_picked and begun:
        return _claimed(evidence, state, guarantee)
    reasons = (_why_not_begun(state),) if evidence.all_picked else ()
    return claim_by_values(evidence, NO_GUARANTEE, (1.0 - AUDITED) * evidence.problem.delta, reasons)


def _why_not_begun(state: AuditState) -> str:
    """Why nothing is claimed by the audit."""
    if state.rules["torn"][0]:
        return _TORN
    begun = state.reach.rules["answers"][0] > 0 or state.given_up.any()
    return _UNFINISHED if begun else _UNAUDITED


def _claimed(evidence: Evidence, state: AuditState, guarantee: Guarantee) -> Certificate:
    """The guarantee if it was kept, and what the audit's answers show besides."""
    problem, ended, kept = evidence.problem, evidence.rounds[-1].ended, evidence.kept(guarantee)
    shown = shown_by(state.claim)
    ratio = max(shown.ratio, problem.ratio or 0.0) if kept.bound is not None else shown.ratio
    reasons: tuple[str, ...] = ()
    if ended == "out of reach":
        reasons = (_NOTHING_TO_GAIN if is_worthless(state.reach, state.claim) else _OUT_OF_REACH,)
    elif ended != "rule":
        reasons = (_UNFINISHED,)
    bound, epsilon = kept.bound, kept.epsilon
    if bound is None and problem.ratio is None and shown.epsilon <= shown.value and shown.value > 0:
        bound, epsilon = OPTIMUM_BOUND, shown.epsilon  # else it says next to nothing
    known = shown.optimum is not None and math.isfinite(shown.optimum)
    return Certificate(
        bound=bound,
        epsilon=epsilon,
        delta=problem.delta,
        ratio=ratio if ratio > 0 else None,
        value=shown.value if shown.value > 0 else None,
        optimum=shown.optimum if known else None,
        assumptions=(MONOTONE_SUBMODULAR, *assumptions_of(problem)),
        reasons=reasons,
    )


def shown_by(claim: Claim) -> ShownByAudit:
    """Read what is shown; nothing of the claim changes."""
    claim = claim._replace(
        rules=claim.rules.copy(), best=claim.best.copy(), keys=claim.keys.copy(), pool=claim.pool.copy()
    )
    renew_pool(claim)
    share, anchor = float(claim.rules["share"][0]), int(claim.rules["anchor"][0])
    # From a later anchor W is for one share, and for smaller ones it is larger still.
    ratio = _largest_share(claim, 1.0 if anchor == 0 else share)
    optimum = -best_score(claim, ABOVE, 1.0, 0.0) if anchor == 0 else None
    value = best_score(claim, BELOW, 1.0, 0.0)
    epsilon = max(0.0, -best_score(claim, CLAIM, share, 0.0))
    return ShownByAudit(ratio, epsilon, max(0.0, value), optimum)


def _largest_share(claim: Claim, most: float) -> float:
    """The largest s for which f(S) ≥ s·f(OPT) is shown."""
    low, high = 0.0, most
    for step in range(_STEPS):  # from above, for small s may be shown only where larger ones are
        s = most * (1.0 - step / _STEPS)
        if best_score(claim, CLAIM, s, 0.0) >= 0.0:
            low = s
            break
        high = s
    if low in (0.0, most):
        return low
    for _ in range(20):
        s = 0.5 * (low + high)
        low, high = (s, high) if best_score(claim, CLAIM, s, 0.0) >= 0.0 else (low, s)
    return low

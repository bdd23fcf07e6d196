"""What is said of an audit: its view of each item, and what its answers show, whether or not it came to its end."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from handful.core.certificates import Certificate, radii
from handful.core.evidence import Evidence, claim_by_values
from handful.core.explorers.certified.audit_state import AuditState
from handful.core.guarantees import MONOTONE_SUBMODULAR, NO_GUARANTEE, OPTIMUM_BOUND, Guarantee
from handful.core.parts.claim import ABOVE, BELOW, CLAIM, best_score, largest_share
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

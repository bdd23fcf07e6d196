"""What is said of an audit: its view of each item, and what it has shown."""

from __future__ import annotations

from dataclasses import replace

from handful.core.certificates import Account, Certificate, radii
from handful.core.evidence import Evidence, claim_by_account, claim_by_values
from handful.core.explorers.certified.audit_state import AuditState
from handful.core.guarantees import NO_GUARANTEE, OPTIMUM_BOUND, Guarantee
from handful.core.views import View, interval_view

AUDITED = 0.9  # the share of δ that an audit may spend; the rest is for what can be said where answers end before it
UNAUDITED = "the answers ended before the audit that would have shown more"
UNFINISHED = "the answers ended in the middle of the audit that would have shown more"


def audit_view(state: AuditState) -> View:
    """The mean of each item asked in this round, with an anytime interval."""
    rules, items = state.joint.rules[0], state.board.items
    span, high = float(rules["span"]), float(rules["high"])
    alpha = float(rules["delta"]) / (len(items) * int(rules["k"]))
    view = interval_view(state.board, radii(items["count"], items["spread"], float(rules["noise"]), alpha, span))
    return view.within(high - span, high) if span > 0 else view


def claim_of_audit(evidence: Evidence, state: AuditState, guarantee: Guarantee) -> Certificate:
    """What the audit has shown; where the answers ended before it, what the rounds' own answers show."""
    begun = state.rules[0]["cycles"] > 0 or evidence.rounds[-1].ended == "rule"
    if evidence.all_picked and begun:
        return _shown(evidence, state, guarantee)
    reasons = (UNAUDITED,) if evidence.all_picked else ()
    return claim_by_values(evidence, NO_GUARANTEE, (1.0 - AUDITED) * evidence.problem.delta, reasons)


def _shown(evidence: Evidence, state: AuditState, guarantee: Guarantee) -> Certificate:
    """W ≥ lower, and the k largest gains given the anchor's picks are at most upper."""
    problem, rules, above = evidence.problem, state.rules[0], state.joint.rules[0]
    lower, upper, share = float(rules["lower"]), float(above["upper"]), float(rules["share"])
    reasons: tuple[str, ...] = ()
    shown = min(1.0, lower / upper) if upper > 0 else 0.0
    if evidence.rounds[-1].ended == "out of reach":
        seen = f"seen when {100 * shown:.0f}% was shown; ask for less to see how much can be"
        reasons = (f"the claim asked for is out of reach: {seen}",)
    elif evidence.rounds[-1].ended != "rule":
        reasons = (UNFINISHED,)
    certificate = claim_by_account(evidence, Account(lower, upper), guarantee, reasons)
    if int(above["anchor"]) == 0:
        return certificate
    kept = evidence.kept(guarantee)
    bound, epsilon = kept.bound, kept.epsilon
    if bound is None and problem.ratio is None and certificate.bound is not None:
        bound, epsilon = OPTIMUM_BOUND, max(0.0, share * upper - lower)
    ratio = min(share, shown) if shown > 0 else None
    return replace(certificate, bound=bound, epsilon=epsilon, ratio=ratio, optimum=None)

"""What the rounds of a study showed, and what any explorer may claim of it.

An explorer makes its claim in `claim(evidence, state)`, by one of the functions below or by its own reckoning.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from handful.core.certificates import NO_SCALE, Account, Certificate, Counted, account_of, from_values, total_slack
from handful.core.endings import DECIDED
from handful.core.feedback import Values
from handful.core.guarantees import MONOTONE_SUBMODULAR, NO_GUARANTEE, OPTIMUM_BOUND, Guarantee
from handful.core.parts.requirements import assumptions_of
from handful.core.problem import Problem

_UNKNOWN_NOISE = (
    "nothing is known about how far answers are off: with their noise R, or the range they lie in, more could be said"
)
_EVERYTHING = "every item there is was picked: no selection is better"
_SHRUNK = "the radius was shrunk, which is for tests of power: nothing is certified"


@dataclass(frozen=True)
class RoundEvidence:
    """One round that is over.

    `reached` is ε′, and `drawn` whether the pick was drawn from several. `shown` is for comparisons: rivals shown to be
    no better than the pick, of how many.
    """

    counted: Counted
    ended: str
    reached: float
    drawn: bool
    shown: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Evidence:
    """All rounds that are over, of a problem of which `withdrawn` items were taken out."""

    problem: Problem
    rounds: tuple[RoundEvidence, ...]
    withdrawn: tuple[int, ...] = ()

    @property
    def all_picked(self) -> bool:
        """Whether every item is picked."""
        return len(self.rounds) >= self.problem.rounds

    @property
    def everything(self) -> bool:
        """Whether every item that was not withdrawn is picked."""
        return self.all_picked and self.problem.size - len(self.withdrawn) <= self.problem.k

    def kept(self, guarantee: Guarantee) -> Guarantee:
        """The guarantee if every item is picked and every round was decided by its rule; else NO_GUARANTEE."""
        decided = all(r.ended in DECIDED for r in self.rounds)
        return guarantee if decided and self.all_picked else NO_GUARANTEE


def claim_of(evidence: Evidence, guarantee: Guarantee, *, shrink: float = 1.0) -> Certificate:
    """The guarantee if it was kept, and what the answers show besides; nothing where a radius was shrunk."""
    if shrink < 1:
        return Certificate(reasons=(_SHRUNK,))
    if isinstance(evidence.problem.feedback, Values):
        return claim_by_values(evidence, guarantee, evidence.problem.delta)
    return claim_by_comparisons(evidence, guarantee)


def claim_of_everything(evidence: Evidence) -> Certificate:
    """That nothing is better than all there is: for sure, whatever was asked and answered."""
    return Certificate(delta=0.0, ratio=1.0, assumptions=(MONOTONE_SUBMODULAR,), reasons=(_EVERYTHING,))


def claim_of_any(evidence: Evidence, reason: str) -> Certificate:
    """What holds whoever chose what to ask and when to stop, and the reason why no more is said."""
    if isinstance(evidence.problem.feedback, Values):
        return claim_by_values(evidence, NO_GUARANTEE, evidence.problem.delta, (reason,))
    certificate = claim_by_comparisons(evidence, NO_GUARANTEE, by_rounds=False)
    return replace(certificate, reasons=(*certificate.reasons, reason))


def claim_by_values(
    evidence: Evidence, guarantee: Guarantee, delta: float, reasons: tuple[str, ...] = ()
) -> Certificate:
    """What the rounds' own answers show, at an error of `delta`, whoever chose what to ask."""
    problem = evidence.problem
    known = problem.feedback
    assert isinstance(known, Values)
    if known.sub_gaussian is None:
        return Certificate(reasons=(_UNKNOWN_NOISE,))
    gone = sorted({*evidence.withdrawn, *problem.chosen})
    account = account_of(
        [r.counted for r in evidence.rounds],
        problem.rounds,
        known.sub_gaussian,
        delta,
        known.span,
        most=known.most,
        without=gone,
    )
    return _claim_by_account(evidence, account, guarantee, reasons)


def _claim_by_account(
    evidence: Evidence, account: Account, guarantee: Guarantee, reasons: tuple[str, ...] = ()
) -> Certificate:
    """The guarantee if it was kept, and what L and F support."""
    problem = evidence.problem
    return from_values(account, evidence.kept(guarantee), problem.delta, assumptions_of(problem), reasons)


def claim_by_comparisons(evidence: Evidence, guarantee: Guarantee, *, by_rounds: bool = True) -> Certificate:
    """The guarantee if it was kept; else, `by_rounds`, what the ε′ that the rounds reached add up to."""
    problem, kept = evidence.problem, evidence.kept(guarantee)
    reasons = (NO_SCALE,)
    shown = tuple(r.shown for r in evidence.rounds)
    if not any(beaten for beaten, _ in shown):
        shown = ()
    if kept.bound is not None:
        return Certificate(
            kept.bound,
            kept.epsilon,
            problem.delta,
            kept.in_expectation,
            shown=shown,
            assumptions=kept.assumptions,
            reasons=reasons,
        )
    assumptions = (MONOTONE_SUBMODULAR, *assumptions_of(problem))
    slacks = [r.reached for r in evidence.rounds]
    # Where picks were drawn, what is bounded is a mean over draws; and these ε′ came with the draws.
    drawn = any(r.drawn for r in evidence.rounds)
    if by_rounds and evidence.all_picked and all(map(math.isfinite, slacks)) and not drawn:
        slack = total_slack(slacks)
        return Certificate(OPTIMUM_BOUND, slack, problem.delta, shown=shown, assumptions=assumptions, reasons=reasons)
    return Certificate(delta=problem.delta, shown=shown, assumptions=assumptions, reasons=reasons)

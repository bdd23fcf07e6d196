"""The certificate of a study: what its journal supports, and nothing more."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from handful.core.certificates import (
    NO_SCALE,
    NOTHING_YET,
    Account,
    Certificate,
    Counted,
    account_of,
    from_values,
    shown_better,
    total_slack,
)
from handful.core.explorers.certified.audit import AuditState
from handful.core.explorers.certified.settings import AUDITED
from handful.core.feedback import Values
from handful.core.guarantees import MONOTONE_SUBMODULAR, NO_GUARANTEE, OPTIMUM_BOUND, Guarantee
from handful.core.parts.requirements import IN_ORDER, assumptions_of
from handful.study.fold import ClosedRound, Fold
from handful.study.questions import ANSWERED, VOID

BY_HAND = "workers were excluded by hand, not by a rule fixed before the start: that voids the confidence"
UNKNOWN_NOISE = "nothing is known about the noise: with Values(noise=R) or Values(range=(lo, hi)) more could be said"
BY_RULE = "excluding workers by the rules was right, and what they had answered in closed rounds was as good as any"
WITHDRAWN = "f(OPT) is over the items that were not withdrawn"
UNAUDITED = "the answers ended before the audit that would have shown more"
UNFINISHED = "the answers ended in the middle of the audit that would have shown more"
SHRUNK = "the radius was shrunk, which is for tests of power: nothing is certified"


def certificate_of(fold: Fold) -> Certificate:
    """What may be claimed about the items chosen so far."""
    if not fold.rounds:
        return Certificate(reasons=(NOTHING_YET,))
    if fold.workers.any_excluded_by_hand or any(closed.excluded_by_hand for closed in fold.rounds):
        return Certificate(reasons=(BY_HAND,))
    if getattr(fold.setup.explorer, "shrink", 1.0) < 1:
        return Certificate(reasons=(SHRUNK,))
    values = isinstance(fold.setup.problem.feedback, Values)
    certificate = _of_values(fold) if values else _of_comparisons(fold)
    extra = (BY_RULE,) if any(excluded_answers(fold, closed) for closed in fold.rounds) else ()
    if fold.exploration.withdrawn:
        extra = (*extra, WITHDRAWN)
    if VOID in fold.questions.standing and IN_ORDER not in certificate.assumptions:
        extra = (*extra, IN_ORDER)
    picked, k = len(fold.chosen), fold.setup.problem.k
    unfinished = () if picked >= k else (f"this is about the {picked} of {k} items that are picked",)
    return replace(
        certificate,
        assumptions=(*certificate.assumptions, *extra) if certificate.assumptions else (),
        reasons=(*certificate.reasons, *unfinished),
    )


def excluded_answers(fold: Fold, closed: ClosedRound) -> int:
    """How many answers to the questions of a closed round come from workers who are excluded."""
    excluded = fold.workers.excluded
    if not excluded:
        return 0
    here = slice(closed.questions.start, closed.questions.stop)
    workers = np.asarray(fold.questions.worker[here], dtype=np.int64)
    return int(np.isin(workers, list(excluded)).sum())


def _guarantee(fold: Fold) -> Guarantee:
    """The explorer's promise, if every round was decided by its rule and nothing was left out."""
    decided = all(closed.closing.ended in ("rule", "alone") for closed in fold.rounds)
    if not decided or not fold.exploration.all_picked:
        return NO_GUARANTEE
    return fold.setup.explorer.guarantee(fold.setup.problem)


def _of_values(fold: Fold) -> Certificate:
    problem = fold.setup.problem
    assert isinstance(problem.feedback, Values)
    noise = problem.feedback.sub_gaussian
    if noise is None:
        return Certificate(reasons=(UNKNOWN_NOISE,))
    state = fold.exploration.state
    if not isinstance(state, AuditState):
        account = _account(fold, noise, problem.delta)
        return from_values(account, _guarantee(fold), problem.delta, assumptions_of(problem))
    if fold.exploration.all_picked and (state.rules[0]["cycles"] > 0 or fold.rounds[-1].closing.ended == "rule"):
        return _of_audit(fold, state)
    account = _account(fold, noise, (1.0 - AUDITED) * problem.delta)
    reasons = (UNAUDITED,) if fold.exploration.all_picked else ()
    return from_values(account, NO_GUARANTEE, problem.delta, assumptions_of(problem), reasons)


def _account(fold: Fold, noise: float, delta: float) -> Account:
    """What the rounds' own answers show."""
    problem = fold.setup.problem
    assert isinstance(problem.feedback, Values)
    rounds = [Counted(closed.closing.pick, closed.answers, closed.means, closed.spreads) for closed in fold.rounds]
    gone = sorted({*fold.exploration.withdrawn, *problem.chosen})
    known = problem.feedback
    return account_of(rounds, problem.rounds, noise, delta, known.span, most=known.most, without=gone)


def _of_audit(fold: Fold, state: AuditState) -> Certificate:
    """What the audit has shown: W ≥ lower, and the k largest gains given the anchor's picks are at most upper."""
    problem, rules, above = fold.setup.problem, state.rules[0], state.joint.rules[0]
    lower, upper, share = float(rules["lower"]), float(above["upper"]), float(rules["share"])
    reasons: tuple[str, ...] = ()
    shown = min(1.0, lower / upper) if upper > 0 else 0.0
    if fold.rounds[-1].closing.ended == "out of reach":
        seen = f"seen when {100 * shown:.0f}% was shown; ask for less to see how much can be"
        reasons = (f"the claim asked for is out of reach: {seen}",)
    elif fold.rounds[-1].closing.ended != "rule":
        reasons = (UNFINISHED,)
    certificate = from_values(Account(lower, upper), _guarantee(fold), problem.delta, assumptions_of(problem), reasons)
    if int(above["anchor"]) == 0:
        return certificate
    met = _guarantee(fold)
    bound, epsilon = met.bound, met.epsilon
    if bound is None and problem.ratio is None and certificate.bound is not None:
        bound, epsilon = OPTIMUM_BOUND, max(0.0, share * upper - lower)
    ratio = min(share, shown) if shown > 0 else None
    return replace(certificate, bound=bound, epsilon=epsilon, ratio=ratio, optimum=None)


def _of_comparisons(fold: Fold) -> Certificate:
    problem = fold.setup.problem
    guarantee = _guarantee(fold)
    reasons = (NO_SCALE,)
    shown = tuple(_shown(fold, closed) for closed in fold.rounds)
    if not any(beaten for beaten, _ in shown):
        shown = ()
    if guarantee.bound is not None:
        return Certificate(
            guarantee.bound,
            guarantee.epsilon,
            problem.delta,
            guarantee.in_expectation,
            shown=shown,
            assumptions=guarantee.assumptions,
            reasons=reasons,
        )
    assumptions = (MONOTONE_SUBMODULAR, *assumptions_of(problem))
    slacks = [math.inf if c.closing.reached is None else c.closing.reached for c in fold.rounds]
    # Where picks were drawn, what is bounded is a mean over draws; and these ε′ came with the draws.
    drawn = any(len(closed.closing.best) > 1 for closed in fold.rounds)
    known = fold.exploration.all_picked and all(map(math.isfinite, slacks)) and not drawn
    if known and fold.setup.explorer.order == "item":
        slack = total_slack(slacks)
        return Certificate(OPTIMUM_BOUND, slack, problem.delta, shown=shown, assumptions=assumptions, reasons=reasons)
    return Certificate(delta=problem.delta, shown=shown, assumptions=assumptions, reasons=reasons)


def _shown(fold: Fold, closed: ClosedRound) -> tuple[int, int]:
    """Rivals shown to be no better than the pick, of how many; by the comparisons counted in this round, in the order
    asked.
    """
    questions = fold.questions
    here = slice(closed.questions.start, closed.questions.stop)
    standing = np.asarray(questions.standing[here])
    worker = np.asarray(questions.worker[here], dtype=np.int64)
    counts = (standing == ANSWERED) & ~np.isin(worker, list(fold.workers.excluded))
    item = np.asarray(questions.item[here], dtype=np.int64)
    rival = np.asarray(questions.rival[here], dtype=np.int64)
    counts &= _unbroken(item, rival, standing)
    problem = fold.setup.problem
    candidates = problem.size - closed.closing.round + 1
    if candidates < 2:
        return 0, 0
    beaten = shown_better(
        closed.closing.pick,
        item[counts],
        rival[counts],
        np.asarray(questions.answer[here])[counts],
        candidates,
        problem.delta / problem.rounds,
    )
    return beaten, candidates - 1


def _unbroken(item: np.ndarray, rival: np.ndarray, standing: np.ndarray) -> np.ndarray:
    """For each question, whether every earlier one about the same pair was answered or void: only those enter a
    bound.
    """
    broken: set[tuple[int, int]] = set()
    whole = np.ones(len(item), bool)
    for q in range(len(item)):
        pair = (min(item[q], rival[q]), max(item[q], rival[q]))
        if standing[q] not in (ANSWERED, VOID):
            broken.add(pair)
        whole[q] = pair not in broken
    return whole

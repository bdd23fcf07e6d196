"""Under which circumstances people answered, for the certificate: the door and who counts."""

from __future__ import annotations

from dataclasses import replace

from handful.certificates import Certificate
from handful.numbers import at_most, confidence
from handful.study.fold import Fold
from handful.study.rules import ONLY_VERIFIED

ATTENTIVE = "which side an item is shown on is drawn by chance, so people who look choose either as it comes"
TOO_MANY = "with so many people the rule may have excluded somebody who looked: that leaves no confidence"


def circumstances_of(fold: Fold) -> tuple[str, ...]:
    """What a reader must know besides the claim."""
    said: list[str] = []
    if fold.setup.continues is not None:
        said.append(f"this study continues {fold.setup.continues}: its picks were seen before this one began")
    if fold.setup.door is not None:
        said.append(fold.setup.door.words)
    said += [f"then the organizer changed how people come: {door.words}" for door in fold.doors]
    if fold.setup.rule is not None:
        said.append(_who_counts(fold))
    elif fold.workers.withdrew and not fold.workers.any_excluded_by_hand:
        said.append(f"{_people(fold.workers.withdrew)} withdrew; {_WITHDRAWALS}")
    if fold.registered is not None:
        said.append(fold.registered.words)
    return tuple(said)


_WITHDRAWALS = "that people withdraw is assumed not to depend on what they answered"


def _who_counts(fold: Fold) -> str:
    rule, workers = fold.setup.rule, fold.workers
    assert rule is not None
    excluded = len(workers.by_rule)  # who withdrew later is among both
    withdrew = "" if rule.withdrawal == "keep" else f", {workers.withdrew} withdrew"  # else nothing tells who did
    return (
        f"who counts was settled before the first answer (rule {rule.hash}): {_people(answerers(fold))} answered, "
        f"{excluded} {'was' if excluded == 1 else 'were'} excluded by it{withdrew}"
        + ("" if rule == ONLY_VERIFIED else "; what is said is about people who pass its checks")
        + (f"; {_WITHDRAWALS}" if workers.withdrew else "")
    )


def answerers(fold: Fold) -> int:
    """How many people answered anything, a check or a question."""
    return sum(count > 0 or fold.conducts.of(number).checks > 0 for number, count in enumerate(fold.workers.answers))


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def paid_for(certificate: Certificate, fold: Fold) -> Certificate:
    """The certificate after what the rule may have done wrongly: each person could be excluded by mere chance.

    Unless that happens to anybody, the answers that count are those that would count without that part of the rule. So
    the probabilities are added up.
    """
    rule = fold.setup.rule
    claimed = certificate.bound is not None or certificate.ratio is not None or bool(certificate.shown)
    if rule is None or certificate.delta is None or not claimed or rule.false_exclusion == 0:
        return certificate
    cost = rule.false_exclusion * answerers(fold)
    delta = certificate.delta + cost
    if delta >= 1:
        return Certificate(reasons=(*certificate.reasons, TOO_MANY))
    each = at_most(rule.false_exclusion, 1)
    said = (
        f"the rule excludes somebody who looks with probability {each} at most; for all of them "
        f"that takes {at_most(cost, 2)} of the confidence, which leaves {confidence(delta)}"
    )
    return replace(
        certificate,
        delta=delta,
        assumptions=(*certificate.assumptions, ATTENTIVE),
        reasons=(*certificate.reasons, said),
    )

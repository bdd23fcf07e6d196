"""The certificate of a study: what its journal supports, nothing more, and under which conditions people answered."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np

from handful.certificates import (
    IN_ORDER,
    NOTHING_YET,
    Certificate,
    Counted,
    Evidence,
    RoundEvidence,
    claim_of_everything,
    refuted,
    shown_better,
)
from handful.explorers.board import NOW
from handful.numbers import at_most, confidence
from handful.problem import Ints
from handful.questions import ANSWERED, LATE, PROVISIONAL, VOID
from handful.rounds import ClosedRound
from handful.rules import ONLY_VERIFIED
from handful.state import State

BY_HAND = "workers were excluded by hand, not by a rule fixed before the start: that voids the confidence"
BY_RULE = "excluding workers by the rules was right, and what they had answered in closed rounds was as good as any"
WITHDRAWN = "f(OPT) is over the items that were not withdrawn"
WITHDRAWN_LATE = "items were withdrawn for reasons that have nothing to do with the answers"
PASSED_ON = "who skips a question, or takes too long over it, would have answered like those who were asked instead"
PAIRED = "scenarios were paired: each round compares its items in the same worlds, and nothing is shown beyond that"
REFUTED = "the answers refute what every claim would rest on, so nothing is claimed"
PEOPLE = "this speaks of people: each counts once for two items, however often they compared them"
ANSWERS = "this speaks of answers, taken for independent: who gave them is not known"
NEVER_CERTIFIED = (
    "this study was made by another version of handful, and was not over: only that version can certify it"
)


def certificate_of(state: State) -> Certificate:
    """What may be claimed about the items chosen so far, and under which circumstances that was found.

    Of a study by other rules, what was recorded when it ended.
    """
    if not state.setup.is_current:
        recorded = state.certificate
        return Certificate(reasons=(NEVER_CERTIFIED,)) if recorded is None else Certificate.from_dict(recorded)
    certificate = paid_for(_claimed(state), state)
    if certificate.reasons == (NOTHING_YET,):
        return certificate
    return replace(certificate, reasons=(*certificate.reasons, *conditions_of(state)))


def _claimed(state: State) -> Certificate:
    filled = _filled_in(state)
    if len(state.rounds) == len(state.filled):
        return Certificate(reasons=filled or (NOTHING_YET,))
    if state.workers.any_excluded_by_hand or any(closed.excluded_by_hand for closed in state.rounds):
        return Certificate(reasons=(BY_HAND, *_whom(state)))
    if state.setup.scenarios == "paired":
        return Certificate(reasons=(PAIRED,))
    against = _refuted(state)
    if against is not None:
        return Certificate(reasons=(f"{REFUTED}: {against}",))
    evidence = _evidence(state)
    if evidence.everything:
        certificate = claim_of_everything(evidence)
    else:
        certificate = state.setup.explorer.claim(evidence, state.exploration.state)
    extra = (BY_RULE,) if any(excluded_answers(state, closed) for closed in state.rounds) else ()
    if state.exploration.withdrawn:
        extra = (*extra, WITHDRAWN, WITHDRAWN_LATE) if state.withdrawn_late else (*extra, WITHDRAWN)
    if state.passed_on:
        extra = (*extra, PASSED_ON)
    if VOID in state.questions.standing and IN_ORDER not in certificate.assumptions:
        extra = (*extra, IN_ORDER)
    if certificate.shown:
        extra = (*extra, *_speaks_of(state))
    picked, k = len(state.chosen), state.setup.problem.k
    unfinished = filled if picked >= k else (f"this is about the {picked} of {k} items that are picked",)
    return replace(
        certificate,
        assumptions=(*certificate.assumptions, *extra) if certificate.assumptions else (),
        reasons=(*certificate.reasons, *unfinished),
    )


def _refuted(state: State) -> str | None:
    """What the answers that counted refute."""
    questions, chosen = state.questions, len(state.setup.problem.chosen)
    standing, worker = np.asarray(questions.standing), np.asarray(questions.worker, dtype=np.int64)
    counts = (standing == ANSWERED) & ~np.isin(worker, list(state.workers.excluded))
    item, given = np.asarray(questions.item, dtype=np.int64), np.asarray(questions.given, dtype=np.int64)
    picks = np.where(given == NOW, np.asarray(questions.round, dtype=np.int64) - 1, chosen + given)
    return refuted(state.setup.problem, item[counts], picks[counts], np.asarray(questions.answer)[counts])


def _whom(state: State) -> tuple[str, ...]:
    """Who was excluded by hand, and who was restored against the rule."""
    excluded, restored = state.workers.by_hand, state.workers.overruled
    said = (f"excluded by hand: {', '.join(excluded)}",) if excluded else ()
    return (*said, f"restored against the rule: {', '.join(restored)}") if restored else said


def _filled_in(state: State) -> tuple[str, ...]:
    """That some picks rest on little, if they do."""
    cut, filled = (", ".join(state.setup.ids[i] for i in picks) for picks in (state.cut_short, state.filled))
    said = (f"decided with what was known when the study was finished early: {cut}",) if cut else ()
    why = "filled in from what was known when the study was finished early, with nothing claimed of that"
    return (*said, f"{why}: {filled}") if filled else said


def excluded_answers(state: State, closed: ClosedRound) -> int:
    """How many answers to the questions of a closed round come from workers who are excluded."""
    questions, excluded = state.questions, state.workers.excluded
    if not excluded:
        return 0
    here = slice(closed.questions.start, closed.questions.stop)
    workers = np.asarray(questions.worker[here], dtype=np.int64)
    answered = np.isin(np.asarray(questions.standing[here]), (ANSWERED, LATE))
    return int((np.isin(workers, excluded) & answered).sum())


def answers_of_excluded(state: State) -> int:
    """How many answers there are, of any round, from workers who are excluded or withdrew."""
    excluded = set(state.workers.excluded)
    if not excluded:
        return 0
    questions = state.questions
    given = np.isin(np.asarray(questions.standing), (ANSWERED, PROVISIONAL, LATE))
    return int((np.isin(np.asarray(questions.worker, dtype=np.int64), list(excluded)) & given).sum())


def _evidence(state: State) -> Evidence:
    """What the closed rounds showed, for the explorer to claim by."""
    rounds = tuple(
        RoundEvidence(
            Counted(closed.closing.pick, closed.answers, closed.means, closed.spreads),
            closed.closing.ended,
            math.inf if closed.closing.reached is None else closed.closing.reached,
            len(closed.closing.best) > 1,
            _shown(state, closed) if state.setup.problem.feedback.compares else (0, 0),
        )
        for closed in state.rounds
        if closed.closing.ended != "filled"
    )
    return Evidence(state.setup.problem, rounds, tuple(state.exploration.withdrawn))


def _shown(state: State, closed: ClosedRound) -> tuple[int, int]:
    """Rivals shown to be no better than the pick, of how many; by the comparisons counted in this round, in the order
    asked.
    """
    questions = state.questions
    here = slice(closed.questions.start, closed.questions.stop)
    standing = np.asarray(questions.standing[here])
    worker = np.asarray(questions.worker[here], dtype=np.int64)
    counts = (standing == ANSWERED) & ~np.isin(worker, list(state.workers.excluded))
    problem = state.setup.problem
    candidates = problem.size - closed.closing.round + 1
    if candidates < 2:
        return 0, 0
    if questions.names_one:
        item, rival = _pairs_of_choices(state, closed.questions, standing, counts, worker)
        won = np.ones(len(item))
    else:
        item = np.asarray(questions.item[here], dtype=np.int64)
        rival = np.asarray(questions.rival[here], dtype=np.int64)
        counts &= _unbroken(item, rival, standing) & _once_each(item, rival, worker, counts)
        item, rival, won = item[counts], rival[counts], np.asarray(questions.answer[here])[counts]
    beaten = shown_better(closed.closing.pick, item, rival, won, candidates, problem.delta / problem.rounds)
    return beaten, candidates - 1


def _pairs_of_choices(
    state: State, numbers: range, standing: np.ndarray, counts: np.ndarray, worker: np.ndarray
) -> tuple[Ints, Ints]:
    """Who was named rather than whom, in the order asked. By Luce's model each is a comparison of these two alone.

    As with comparisons, a pair is counted up to the first question that shows both and has neither answer nor void, and
    once of each person.
    """
    broken: set[tuple[int, int]] = set()
    told: set[tuple[int, int, int]] = set()
    named, passed = [], []
    for at, number in enumerate(numbers):
        options = state.questions.options(number)
        if standing[at] not in (ANSWERED, VOID):
            broken.update(combinations(sorted(options), 2))
        elif counts[at]:
            one = int(state.questions.answer[number])
            for other in options:
                pair = min(one, other), max(one, other)
                if other == one or pair in broken or (worker[at], *pair) in told:
                    continue
                if worker[at] >= 0:
                    told.add((int(worker[at]), *pair))
                named.append(one)
                passed.append(other)
    return np.array(named, np.int64), np.array(passed, np.int64)


def _once_each(item: np.ndarray, rival: np.ndarray, worker: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """For each question, whether it is the first that counts in which this person compared these two items."""
    first = np.ones(len(item), bool)
    known = np.flatnonzero(counts & (worker >= 0))
    if len(known):
        # As one number: rows of three take ten times as long to sort, and meanwhile no other thread goes on.
        size = 1 + max(item.max(), rival.max())
        told = ((worker * size + np.minimum(item, rival)) * size + np.maximum(item, rival))[known]
        first[known] = False
        first[known[np.unique(told, return_index=True)[1]]] = True
    return first


def _speaks_of(state: State) -> tuple[str, ...]:
    """Whether what comparisons show is about people or about answers."""
    workers = np.asarray(state.questions.worker, dtype=np.int64)[np.asarray(state.questions.standing) == ANSWERED]
    return (PEOPLE,) if len(workers) and (workers >= 0).all() else (ANSWERS,)


def _unbroken(item: np.ndarray, rival: np.ndarray, standing: np.ndarray) -> np.ndarray:
    """For each question, whether every earlier one about the same pair was answered or void: only those enter a
    bound.
    """
    whole = np.ones(len(item), bool)
    missing = np.flatnonzero(~np.isin(standing, (ANSWERED, VOID)))
    if len(missing):
        pair = np.minimum(item, rival) * (1 + max(item.max(), rival.max())) + np.maximum(item, rival)
        pairs, first = np.unique(pair[missing], return_index=True)
        at = np.minimum(np.searchsorted(pairs, pair), len(pairs) - 1)
        whole[(pairs[at] == pair) & (np.arange(len(item)) >= missing[first][at])] = False
    return whole


ATTENTIVE = "which side an item is shown on is drawn by chance, so people who look choose either as it comes"
TOO_MANY = "with so many people the rule may have excluded somebody who looked: that leaves no confidence"


def conditions_of(state: State) -> tuple[str, ...]:
    """What a reader must know besides the claim."""
    said: list[str] = []
    if state.setup.continues is not None:
        said.append(f"this study continues {state.setup.continues}: its picks were seen before this one began")
    if state.setup.door is not None:
        said.append(state.setup.door.words)
    said += [f"then the organizer changed how people come: {door.words}" for door in state.doors]
    if state.setup.rule is not None:
        said.append(_who_counts(state))
    elif state.workers.withdrew and not state.workers.any_excluded_by_hand:
        said.append(f"{_people(state.workers.withdrew)} withdrew; {_WITHDRAWALS}")
    if state.registered is not None:
        said.append(state.registered.words)
    return tuple(said)


_WITHDRAWALS = "that people withdraw is assumed not to depend on what they answered"


def _who_counts(state: State) -> str:
    rule, workers = state.setup.rule, state.workers
    assert rule is not None
    excluded = len(workers.by_rule)  # who withdrew later is among both
    withdrew = "" if rule.withdrawal == "keep" else f", {workers.withdrew} withdrew"  # else nothing tells who did
    return (
        f"who counts was settled before the first answer (rule {rule.hash}): {_people(answerers(state))} answered, "
        f"{excluded} {'was' if excluded == 1 else 'were'} excluded by it{withdrew}"
        + ("" if rule == ONLY_VERIFIED else "; what is said is about people who pass its checks")
        + (f"; {_WITHDRAWALS}" if workers.withdrew else "")
    )


def answerers(state: State) -> int:
    """How many people answered anything, a check or a question."""
    return sum(count > 0 or state.conducts.of(number).checks > 0 for number, count in enumerate(state.workers.answers))


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def paid_for(certificate: Certificate, state: State) -> Certificate:
    """The certificate after what the rule may have done wrongly: each person could be excluded by mere chance.

    Unless that happens to anybody, the answers that count are those that would count without that part of the rule. So
    the probabilities are added up.
    """
    rule = state.setup.rule
    claimed = certificate.bound is not None or certificate.ratio is not None or bool(certificate.shown)
    if rule is None or certificate.delta is None or not claimed or rule.false_exclusion == 0:
        return certificate
    cost = rule.false_exclusion * answerers(state)
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

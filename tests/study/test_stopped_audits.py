"""An audit that is ended anywhere claims nothing that is false, and what it has shown is not lost."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from handful import Question, Result, Study, Values
from handful.explorers.board import NOW
from handful.objectives import Modular
from handful.oracles import noisy, uniform

GAINS = [1.0] * 30
K = 10


@pytest.mark.filterwarnings("ignore::handful.errors.SmallBudget")
def test_whenever_the_answers_end_the_value_certified_is_at_most_the_true_one() -> None:
    """Of half a batch the sum is too large for the answers that are counted; that was taken for what was shown."""
    certified = 0
    for budget in range(300, 440, 5):
        study = Study(range(len(GAINS)), K, feedback=Values(noise=0.1), ratio=0.999, budget=budget, seed=budget)
        certificate = study.run(noisy(Modular(GAINS), uniform(0.1))).certificate
        if certificate.value is not None:
            certified += 1
            assert certificate.value <= K
    assert certified >= 10


WORTH = [1.0, 0.99, 0.2, 0.1]


def ended_by_hand(act: Callable[[Study, list[Question], Callable[[Question], None]], None]) -> Result:
    """A study that is ended in the middle of its audit; before that, `act` gets two questions and how to answer."""
    rng = np.random.default_rng(5)
    study = Study(range(4), 1, feedback=Values(noise=0.5), ratio=0.9, in_flight=2, seed=3)

    def answer(q: Question) -> None:
        study.tell(q.id, WORTH[q.item] + 0.5 * float(rng.normal()), "w0")

    asked = study.ask(2, "w0")
    while study.result().answers < 400 or len({q.item for q in asked}) < 2:  # answers about one item keep their order
        for q in asked:
            answer(q)
        asked = study.ask(2, "w0")
    act(study, asked, answer)
    study.finish("enough")
    return study.result()


def test_an_audit_of_which_nothing_is_answered_is_not_said_to_be_answered_out_of_order() -> None:
    study = Study(range(4), 1, feedback=Values(noise=0.5), ratio=0.9, in_flight=2, seed=3)
    rng = np.random.default_rng(5)
    while not any(given != NOW for given in study.state.questions.given):  # until the audit asks
        asked = study.ask(2, "w0")
        for q in asked if study.state.questions.given[-1] == NOW else ():
            study.tell(q.id, WORTH[q.item] + 0.5 * float(rng.normal()), "w0")
    assert study.held_by("w0")
    reasons = " ".join(study.finish("enough").certificate.reasons)
    assert "in the middle of the audit" not in reasons
    assert "before the audit" in reasons
    assert study.mismatches.count == 0


def skip_to_nothing(study: Study, q: Question) -> None:
    """Skipped by one after the other, until it will never be answered."""
    for n in range(3):
        study.skip(q.id, None, f"w{n}")
        study.ask(2, f"w{n + 1}")


def test_what_was_shown_stays_shown_while_later_questions_are_open() -> None:
    result = ended_by_hand(lambda study, asked, answer: answer(asked[0]))
    assert result.certificate.ratio is not None
    assert result.certificate.ratio > 0.8
    assert "in the middle of the audit" in " ".join(result.certificate.reasons)


def test_nothing_is_claimed_by_an_audit_whose_later_question_was_answered_first() -> None:
    result = ended_by_hand(lambda study, asked, answer: answer(asked[1]))
    assert (result.certificate.ratio or 0.0) < 0.5
    assert "with an earlier question open when a later one was answered" in " ".join(result.certificate.reasons)


def test_a_question_that_came_to_nothing_costs_no_proof() -> None:
    def act(study: Study, asked: list[Question], answer: Callable[[Question], None]) -> None:
        skip_to_nothing(study, asked[0])
        answer(asked[1])

    result = ended_by_hand(act)
    assert result.certificate.ratio is not None
    assert result.certificate.ratio > 0.8


def test_what_was_shown_from_an_anchor_stays_shown_when_the_audit_goes_on_from_another() -> None:
    """f(S) = √|S|: nine tenths of the best are out of reach from every anchor, but half of it was shown on the way."""

    def study(ratio: float, budget: int | None) -> Result:
        answers = np.random.default_rng(0)
        made = Study(range(6), k=3, feedback=Values(noise=0.3), ratio=ratio, seed=0, budget=budget)
        return made.run(lambda q: math.sqrt(len(q.chosen) + 1) - math.sqrt(len(q.chosen)) + answers.uniform(-0.3, 0.3))

    whole = study(0.9, None)
    assert whole.rounds[-1].ended == "out of reach"
    for budget in (500, 1_000, 2_000):
        part = study(0.9, budget).certificate
        assert part.ratio is not None
        assert part.value is not None
        assert whole.certificate.ratio is not None
        assert whole.certificate.value is not None
        assert 0.4 < part.ratio <= whole.certificate.ratio
        assert 1.0 < part.value <= whole.certificate.value

"""A certificate names what its claims rest on, and says so where there is nothing to claim."""

from __future__ import annotations

from handful import Study, Values
from handful.claims import PASSED_ON, WITHDRAWN, WITHDRAWN_LATE
from handful.objectives import Modular
from handful.oracles import noisy, uniform
from tests.study.worlds import Clock

ITEMS = [f"node {i}" for i in range(6)]
WORLD = Modular([0.2, 0.4, 1.0, 0.9, 0.1, 1.2])


def study(clock: Clock | None = None, **how: object) -> Study:
    known = {"feedback": Values(noise=0.1), "epsilon": 0.5, "seed": 1} | how
    return Study(ITEMS, 2, clock=clock or Clock(), lease_s=10, **known)  # type: ignore[arg-type]


def assumed(done: Study) -> tuple[str, ...]:
    """What the certificate rests on once the study has run to its end."""
    done.run(noisy(WORLD, uniform(0.1), done.items))
    return done.result().certificate.assumptions


def test_that_everything_was_answered_by_whom_it_was_asked_of_needs_no_assumption() -> None:
    assert PASSED_ON not in assumed(study())


def test_a_question_that_was_skipped_is_named() -> None:
    skipped = study()
    question = skipped.ask(1, "ann")[0]
    skipped.skip(question.id, "too dark", "ann")
    assert PASSED_ON in assumed(skipped)


def test_a_question_that_went_to_somebody_else_for_taking_too_long_is_named() -> None:
    clock = Clock()
    slow = study(clock)
    first = slow.ask(1, "ann")[0]
    clock.now += 60
    assert slow.ask(1, "bob")[0].id == first.id
    assert PASSED_ON in assumed(slow)


def test_items_withdrawn_before_the_first_answer_are_simply_gone() -> None:
    early = study()
    early.withdraw("node 4", "copyright")
    found = assumed(early)
    assert WITHDRAWN in found
    assert WITHDRAWN_LATE not in found


def test_that_items_were_withdrawn_later_for_no_reason_in_the_answers_is_assumed_and_named() -> None:
    later, answer = study(), noisy(WORLD, uniform(0.1), ITEMS)
    for question in later.ask():
        later.tell(question.id, answer(question))
    later.withdraw("node 4", "copyright")
    assert WITHDRAWN_LATE in assumed(later)


def test_whoever_picks_all_there_is_asks_nothing_and_is_told_that_nothing_is_better() -> None:
    done = Study(ITEMS, 6, feedback=Values(noise=0.1), epsilon=0.5, clock=Clock())
    done.run(noisy(WORLD, uniform(0.1), done.items))
    certificate = done.result().certificate
    assert done.result().answers == 0
    assert certificate.ratio == 1.0
    assert "With 100% confidence: this selection is worth at least 100% of the best possible one." in str(certificate)
    assert "audit" not in str(certificate)

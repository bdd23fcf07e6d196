"""Redoing rounds: one event, folded like any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from handful import Preferences, Study, Values
from handful.errors import InvalidProblem
from handful.objectives import Modular
from handful.oracles import noisy, uniform
from handful.study import events
from handful.study.questions import ANSWERED, LATE
from tests.study.worlds import Clock, picture

ITEMS = [f"i{n}" for n in range(8)]


def answered(storage: Path | None = None, explorer: str = "duels", liars: int = 0, **options: object) -> Study[str]:
    """Three picks by ten people; the first `liars` of them push the worst items."""
    settings = {"budget": 240, "in_flight": 5, "storage": storage, "clock": Clock()} | options
    study = Study(ITEMS, 3, feedback=Preferences(), explorer=explorer, **settings)  # type: ignore[arg-type]
    answer_all(study, liars)
    return study


def answer_all(study: Study[str], liars: int = 0) -> None:
    for n in range(1, 3000):
        if study.finished:
            return
        worker = f"w{n % 10}"
        for q in study.ask(1, worker):
            better = q.item < q.rival
            study.tell(q.id, not better if n % 10 < liars else better, worker)
    raise AssertionError("this does not end")


def test_liars_out_and_the_rounds_redone_the_picks_are_those_of_the_others() -> None:
    study = answered(liars=6)
    lied = study.result().chosen
    for n in range(6):
        study.exclude(f"w{n}")
    assert study.result().chosen == lied  # closed picks stand
    study.reopen(1, extend=400)
    assert study.finished is None
    answer_all(study)
    assert study.result().chosen == ("i0", "i1", "i2")
    assert lied != ("i0", "i1", "i2")


def test_answers_of_the_round_are_folded_again_and_later_ones_count_no_more() -> None:
    study = answered()
    rounds = [closed.questions for closed in study.fold.rounds]
    before = list(study.fold.questions.standing)
    study.reopen(2, extend=200)
    standing = study.fold.questions.standing
    assert list(standing[: rounds[0].stop]) == before[: rounds[0].stop]
    assert {standing[q] for q in rounds[1]} == {ANSWERED}
    assert {standing[q] for q in rounds[2]} == {LATE}
    assert len(study.result().chosen) >= 1
    assert study.fold.answers == sum(len(part) for part in rounds)


def test_with_nobody_excluded_a_round_redone_comes_to_the_same_pick() -> None:
    study = answered()
    first = study.result().chosen
    study.reopen(1, extend=400)
    answer_all(study)
    assert study.result().chosen == first


@pytest.mark.parametrize("explorer", ["duels", "topx"])
def test_a_journal_with_redone_rounds_replays_to_the_bit(tmp_path: Path, explorer: str) -> None:
    storage = tmp_path / "study.db"
    with answered(storage, explorer, liars=3) as study:
        study.exclude("w0", by_rule=True)
        study.reopen(2, extend=300)
        answer_all(study, 1)
        study.exclude("w1", by_rule=True)
        study.reopen(1, extend=500)
        for q in study.ask(3, "w5"):
            study.tell(q.id, True, "w5", undo_s=5)
        known = picture(study.fold)
    with Study.open(storage, clock=Clock()) as again:
        assert picture(again.fold) == known
        answer_all(again)
        known = picture(again.fold)
        assert again.mismatches.first == []
    with Study.open(storage, read_only=True) as again:
        assert picture(again.fold) == known


def test_rounds_of_values_are_redone_too(tmp_path: Path) -> None:
    world = Modular([0.2, 0.4, 1.0, 0.9, 0.1, 1.2])
    storage = tmp_path / "study.db"
    with Study(
        range(6), 2, feedback=Values(noise=0.3), explorer="topx", epsilon=2.0, budget=3000, in_flight=4, storage=storage
    ) as study:
        study.run(noisy(world, uniform(0.3), study.items))
        study.reopen(1)
        study.run(noisy(world, uniform(0.3), study.items))
        assert set(study.result().chosen) <= {2, 3, 5}
        known = picture(study.fold)
    with Study.open(storage) as again:
        assert picture(again.fold) == known
        assert again.mismatches.count == 0


def test_where_rounds_were_filled_in_the_preview_says_what_is_left_to_ask() -> None:
    study: Study = Study(range(12), 3, feedback=Preferences(), budget=300)
    for _ in range(20):
        (question,) = study.ask(1)
        study.tell(question.id, question.item > question.rival)
    study.finish("enough")
    assert len(study.fold.filled) == 2
    meant = study.reopening(1)
    assert (meant.kept, meant.needed, meant.missing) == (20, 280, 0)
    assert "about 280 more are needed" in meant.words


def test_the_preview_names_what_is_lost_and_needed_and_the_budget_must_cover_it() -> None:
    study = answered()
    study.exclude("w1", by_rule=True)
    meant = study.reopening(2)
    assert meant.lost == study.result().chosen[1:]
    took = [r.answers for r in study.result().rounds]
    own = study.fold.rounds[1].questions
    out = sum(study.fold.questions.worker[q] == study.fold.workers.number("w1") for q in own)
    assert meant.kept == took[1] - out
    assert meant.needed == out + took[2]
    assert meant.missing == meant.needed - (240 - study.fold.spent)
    assert f"forgets {', '.join(meant.lost)}" in meant.words
    before = len(list(study.records()))
    with pytest.raises(InvalidProblem, match=rf"Let the budget grow by {meant.missing} at least"):
        study.reopen(2)
    assert len(list(study.records())) == before
    study.reopen(2, extend=meant.missing)
    with pytest.raises(InvalidProblem, match="round 3 is not one that is over"):
        study.reopening(3)


def test_the_certificate_says_how_often_and_from_where() -> None:
    study = answered()
    study.reopen(2, extend=300)
    study.reopen(1, extend=300)
    answer_all(study)
    study.reopen(2, extend=300)
    answer_all(study)
    assert "rounds were redone from round 1, from round 2 twice" in study.result().certificate.sentence.lower()


def test_each_time_that_rounds_are_redone_costs_as_much_confidence_as_the_first() -> None:
    study = answered(delta=0.1)
    assert study.result().certificate.delta == 0.1
    for times in (2, 3):
        study.reopen(3, extend=80)
        answer_all(study)
        assert study.result().certificate.delta == pytest.approx(0.1 * times)


def test_a_question_in_flight_is_asked_again_when_its_round_is_open_again() -> None:
    clock = Clock()
    study = Study(ITEMS, 3, feedback=Preferences(), explorer="duels", budget=240, in_flight=5, lease_s=10, clock=clock)
    for n in range(9):
        for q in study.ask(1, f"w{n}"):
            study.tell(q.id, q.item < q.rival, f"w{n}")
    (left,) = study.ask(1, "gone")
    study.finish("enough")
    study.reopen(1)
    assert study.fold.exploration.counted == 9
    clock.now += 100
    assert [q.id for q in study.ask(1, "new")] == [left.id]
    study.tell(left.id, True, "new")
    assert study.fold.exploration.counted == 10


def test_a_study_that_was_closed_early_goes_on_when_a_round_is_redone() -> None:
    study = Study(ITEMS, 3, feedback=Preferences(), explorer="duels", budget=240, in_flight=5)
    for n in range(30):
        for q in study.ask(1, f"w{n % 5}"):
            study.tell(q.id, q.item < q.rival, f"w{n % 5}")
    study.finish("enough")
    assert study.finished
    study.reopen(1)
    assert study.finished is None
    answer_all(study)
    assert study.result().filled == ()
    assert any(isinstance(event, events.Reopened) for _, event in study.journal())

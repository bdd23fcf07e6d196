"""Finishing early fills the places left from what is known, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from handful import Preferences, Study, TopX, Values
from tests.study.worlds import Clock, folded, live

NAMES = [f"photo {i}" for i in range(6)]


def duel(**how: object) -> Study:
    """A study by a belief that has picked one of four, of somebody who likes the last best."""
    study = Study(NAMES, 4, feedback=Preferences(), budget=160, seed=2, clock=Clock(), **how)  # type: ignore[arg-type]
    while len(study.result().chosen) < 1:
        for q in study.ask():
            study.tell(q.id, NAMES.index(q.item) > NAMES.index(q.rival))
    return study


def test_places_left_are_filled_by_the_belief_and_marked(tmp_path: Path) -> None:
    study = duel(storage=tmp_path / "s.db")
    believed = dict(zip(NAMES, study.status().mean, strict=True))
    left = sorted((name for name in NAMES if name != "photo 5"), key=lambda name: -believed[name])
    result = study.finish("holiday is over")
    assert result.chosen == ("photo 5", *left[:3])
    assert result.filled == result.chosen[1:]
    assert [(r.ended, r.answers) for r in result.rounds[1:]] == [("filled", 0)] * 3
    assert result.to_dict()["filled"] == list(result.filled)
    assert "Filled in from what was known" in str(result)
    assert "3 of 4 items were filled in" in str(study.finished)
    assert ", ".join(left[:3]) in " ".join(result.certificate.reasons)
    assert study.result().plot() is not None
    assert live(study) == folded(study)
    assert study.mismatches.count == 0
    study.close()
    with Study.open(tmp_path / "s.db") as again:
        assert again.result() == result


def test_an_open_round_that_knows_something_is_decided_and_only_the_rest_is_filled() -> None:
    study = duel()
    (q,) = study.ask()
    study.tell(q.id, True)
    result = study.finish()
    assert [r.ended for r in result.rounds] == ["budget", "closed", "filled", "filled"]
    assert len(set(result.chosen)) == 4


def test_a_study_that_is_finished_in_its_last_round_says_so() -> None:
    study = duel()
    while len(study.result().chosen) < 3 or study.state.exploration.counted == 0:
        for q in study.ask():
            study.tell(q.id, NAMES.index(q.item) > NAMES.index(q.rival))
    result = study.finish()
    assert [r.ended for r in result.rounds] == ["budget", "budget", "budget", "closed"]
    assert study.finished == "the study was finished early: the last of 4 items was decided with what was known"
    said = f"decided with what was known when the study was finished early: {result.chosen[-1]}"
    assert said in result.certificate.reasons


def test_without_a_belief_the_means_of_earlier_rounds_speak() -> None:
    study = Study(NAMES, 3, feedback=Values(noise=0.1), explorer=TopX(), epsilon=30.0, seed=1, clock=Clock())
    while len(study.result().chosen) < 1:
        for q in study.ask():
            study.tell(q.id, float(NAMES.index(q.item)))
    known = {e.item: e.mean for e in study.result().rounds[0].estimates if e.item not in study.result().chosen}
    expected = tuple(sorted(known, key=lambda name: -known[name]))[:2]
    assert study.finish().filled == expected
    assert live(study) == folded(study)


def test_where_nothing_is_known_a_prior_speaks_and_withdrawn_items_are_left_out() -> None:
    scores = [1.0, 9.0, 5.0, 7.0, 2.0, 3.0]
    study = Study(NAMES, 2, feedback=Values(), explorer="worth", budget=40, prior=scores, seed=1, clock=Clock())
    study.withdraw("photo 1")
    result = study.finish()
    assert set(result.filled) == {"photo 3", "photo 2"}
    assert "nothing claimed" in str(result.certificate)
    assert live(study) == folded(study)


def test_where_nothing_at_all_is_known_nothing_is_filled_in() -> None:
    study = Study(NAMES, 2, feedback=Preferences(), budget=40, clock=Clock())
    assert study.finish().chosen == ()
    assert study.finished == "the study was finished early with 0 of 2 items picked"


def test_nothing_is_filled_in_a_study_that_is_finished_already() -> None:
    study = duel()
    study.run(lambda q: NAMES.index(q.item) > NAMES.index(q.rival))
    before = list(study.records())
    assert study.finish().filled == ()
    assert list(study.records()) == before


def test_what_people_did_in_the_last_round_is_told_of_the_last_that_was_not_filled_in() -> None:
    study = Study(NAMES, 4, feedback=Preferences(), budget=160, seed=2, clock=Clock())
    answered = 0
    while answered < 50:
        worker = "ann" if answered % 3 else "bob"
        (question,) = study.ask(1, worker)
        study.tell(question.id, NAMES.index(question.item) > NAMES.index(question.rival), worker)
        answered += 1
    before = {line.name: line.round_answers for line in study.status().workers}
    assert study.status().round == 2
    assert all(before.values())
    result = study.finish("enough")
    assert [closed.ended for closed in result.rounds[1:]] == ["closed", "filled", "filled"]
    assert {line.name: line.round_answers for line in study.status().workers} == before
    nothing = Study(NAMES, 2, feedback=Preferences(), budget=160, seed=2, clock=Clock())
    nothing.ask(1, "ann")
    nothing.finish("nobody came")
    assert all(line.round_answers == 0 for line in nothing.status().workers)


def finished_after_one_answer(seed: int) -> Study:
    """One answer about fifty items says nothing of the others."""
    study = Study(range(50), 4, feedback=Values(noise=1.0), budget=60, seed=seed, clock=Clock())
    (q,) = study.ask()
    study.tell(q.id, 1.0)
    study.finish()
    return study


@pytest.mark.filterwarnings("ignore::handful.errors.SmallBudget")
def test_places_are_not_filled_in_the_order_of_the_list() -> None:
    first = 0
    for seed in range(8):
        study = finished_after_one_answer(seed)
        assert len(set(study.result().chosen)) == 4
        assert live(study) == folded(study)
        assert study.mismatches.count == 0
        first += sum(item < 10 for item in study.result().filled)
    assert first < 16  # of 24 that were filled in, about 5 by chance; in the order of the list, all

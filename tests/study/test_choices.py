"""Studies whose questions show several options: what travels, what is kept, and what may be said."""

from __future__ import annotations

import csv
import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from handful import Preferences, Question, Study
from handful.errors import InvalidAnswer, StorageCorrupt
from handful.export import answer_lines
from handful.objectives import SampleAverage
from handful.oracles import btl, chooses, compares, linear, tastes
from handful.simulation import simulate
from handful.storage import Record, open_journal
from tests.study.worlds import Clock, coverage, folded, live

NAMES = [f"photo {i}" for i in range(8)]


def study_of(options: int = 4, **how: object) -> Study:
    settings = {"budget": 60, "in_flight": 3, "seed": 1, "clock": Clock(), "lease_s": 10} | how
    return Study(NAMES, 2, feedback=Preferences(options=options), **settings)  # type: ignore[arg-type]


def best(question: Question) -> str:
    """Somebody who likes the last best."""
    return max(question.options, key=NAMES.index)


def test_a_question_has_its_options_and_the_answer_is_one_of_them() -> None:
    study = study_of()
    (q,) = study.ask(1, "ann")
    assert len(set(q.options)) == 4
    assert q.options[:2] == (q.item, q.rival)
    receipt = study.tell(q.id, q.options[2], "ann")
    assert (receipt.answer, receipt.standing) == (q.options[2], "answered")
    _, told = [record for record in study.records() if record.kind in ("asked", "told")]
    assert json.loads(told.payload)["a"] == NAMES.index(q.options[2])
    assert live(study) == folded(study)


def test_two_options_stay_item_and_rival_and_their_records_are_as_ever() -> None:
    study = study_of(2)
    (q,) = study.ask()
    assert q.options == (q.item, q.rival)
    study.tell(q.id, True)
    assert {record.version for record in study.records()} == {1}
    assert "options" not in next(iter(study.records())).payload
    with pytest.raises(InvalidAnswer, match="True"):
        study.tell(study.ask()[0].id, q.item)


@pytest.mark.parametrize("answer", [True, 0, 1.0, None, "photo 99", np.array([1, 2])])
def test_an_answer_that_is_none_of_the_options_is_refused_with_their_names(answer: object) -> None:
    study = study_of()
    (q,) = study.ask()
    with pytest.raises(InvalidAnswer, match=rf"question q0, about {q.options[0]}, .* and {q.options[3]}: .*one of the"):
        study.tell(q.id, answer)
    other = next(name for name in NAMES if name not in q.options)
    with pytest.raises(InvalidAnswer, match="one of the options"):
        study.tell(q.id, other)
    assert study.status().answers == 0


def test_true_is_no_item_even_where_items_are_numbers() -> None:
    study = Study(range(4), 1, feedback=Preferences(options=4), budget=10)
    (q,) = study.ask()
    with pytest.raises(InvalidAnswer, match="one of the options"):
        study.tell(q.id, True)
    assert study.tell(q.id, 1).answer == 1


def test_a_run_finds_what_the_oracle_likes_and_decides_as_the_simulator_to_the_bit() -> None:
    world = coverage(8)
    study = study_of(in_flight=5)
    result = study.run(chooses(world, btl(4.0), study.items))
    state = study.setup.explorer.build(study.setup.problem)
    made = simulate(state, world, btl(4.0), 2, budget=study.setup.problem.total)
    assert [NAMES[i] for i in made.chosen] == list(result.chosen)
    for mine, theirs in zip(study.state.exploration.arrays(), _arrays(state), strict=True):
        if mine.dtype.names is None or "round" not in mine.dtype.names:  # the study has opened the round after the last
            assert mine.tobytes() == theirs.tobytes()
    assert study_of().run(best).chosen == ("photo 7", "photo 6")


def _arrays(state: object) -> list[np.ndarray]:
    from handful.rounds import arrays_of

    return list(arrays_of(state))


def test_people_with_tastes_answer_in_a_study_as_in_the_simulator() -> None:
    crowd = SampleAverage([coverage(8, seed) for seed in range(5)])
    study = study_of()
    result = study.run(chooses(crowd, tastes(), study.items))
    state = study.setup.explorer.build(study.setup.problem)
    made = simulate(state, crowd, tastes(), 2, budget=study.setup.problem.total)
    assert [NAMES[i] for i in made.chosen] == list(result.chosen)
    pairs = study_of(2)
    assert len(pairs.run(compares(crowd, tastes(), pairs.items)).chosen) == 2


def test_an_oracle_of_pairs_alone_is_refused() -> None:
    with pytest.raises(Exception, match="does not choose among several"):
        chooses(coverage(8), linear(2.0))


def test_answers_may_be_revised_left_out_or_given_by_the_next_person() -> None:
    clock = Clock()
    study = study_of(clock=clock, budget=24, in_flight=4)
    a, b = study.ask(2, "ann")
    study.tell(a.id, a.options[0], "ann", undo_s=5)
    assert study.revise(a.id, a.options[3], "ann").answer == a.options[3]
    assert live(study) == folded(study)
    before = study.state.exploration.state.belief.said["mean"].copy()  # type: ignore[attr-defined]
    study.tell(study.ask(1, "bob")[0].id, study.held_by("bob")[0].options[1], "bob")
    study.exclude("bob", "test", by_rule=True)
    assert study.state.exploration.state.belief.said["mean"].tolist() == before.tolist()  # type: ignore[attr-defined]
    assert study.skip(b.id, "unclear", "ann")
    again = study.ask(1, "cid")[0]
    assert (again.id, again.options) == (b.id, b.options)
    study.tell(b.id, b.options[2], "cid")
    assert live(study) == folded(study)
    assert study.mismatches.count == 0


def test_a_withdrawn_item_is_shown_no_more_and_questions_with_it_are_void() -> None:
    study = study_of(in_flight=6)
    asked = study.ask(6)
    gone = asked[0].options[3]
    study.withdraw(gone)
    for q in asked:
        assert (study.tell(q.id, q.options[0]).standing == "void") == (gone in q.options)
    for _ in range(20):
        for q in study.ask():
            assert gone not in q.options
            study.tell(q.id, best(q))
    assert live(study) == folded(study)
    assert study.state.exploration.state.board.items["waiting"].tolist() == [0] * 8


def test_an_export_has_the_option_that_was_named_and_all_that_were_shown() -> None:
    study = study_of()
    study.run(best)
    rows = list(csv.DictReader(answer_lines(study)))
    assert len(rows) == 60
    for row in rows:
        options = json.loads(row["options"])
        assert row["answer"] == max(options, key=NAMES.index)
        assert options[:2] == [row["item"], row["rival"]]
    assert "options" not in next(iter(answer_lines(study_of(2))))


def test_status_and_result_count_an_answer_for_every_option_it_showed() -> None:
    study = study_of()
    for _ in range(5):
        (q,) = study.ask()
        study.tell(q.id, best(q))
    status = study.status()
    assert status.counted.sum() == 20
    assert status.leader == max((q for q in NAMES if status.counted[NAMES.index(q)]), key=NAMES.index)
    result = study.run(best)
    assert sum(result.rounds[0].answers_per_item.values()) == 4 * 30
    assert "The picks were named in" in str(result)
    assert result.plot() is not None


def test_under_luce_a_choice_shows_the_pick_better_than_each_of_the_others() -> None:
    """120 answers of somebody sure prove far more by choices than could be by as many pairs; a coin proves nothing."""
    sure = study_of(budget=240)
    certificate = sure.run(best).certificate
    assert min(beaten for beaten, _ in certificate.shown) >= 3
    assert any("Luce's model" in held for held in certificate.assumptions)
    coin = study_of(budget=240, seed=5)
    assert coin.run(lambda q: q.options[q.seed % len(q.options)]).certificate.shown == ()


def test_a_journal_that_names_what_was_not_shown_is_corrupt(tmp_path: Path) -> None:
    study = study_of()
    (q,) = study.ask()
    records = list(study.records())
    absent = next(i for i, name in enumerate(NAMES) if name not in q.options)
    records.append(Record(len(records), 1, "told", 0.0, json.dumps({"q": 0, "a": absent})))
    journal = open_journal(tmp_path / "s.db", "study")
    journal.append(records).wait()
    journal.close()
    with pytest.raises(StorageCorrupt, match="none of its options"):
        Study.open(tmp_path / "s.db")


@pytest.mark.parametrize("more", [None, "12", 3, ["1", "2"], [1, None], {"1": 2}])
def test_a_journal_whose_options_are_no_items_is_corrupt(tmp_path: Path, more: object) -> None:
    study = study_of()
    study.ask()
    created, asked = study.records()
    broken = json.dumps({**json.loads(asked.payload), "o": more})
    journal = open_journal(tmp_path / "s.db", "study")
    journal.append([created, Record(1, 1, asked.kind, asked.time, broken)]).wait()
    journal.close()
    with pytest.raises(StorageCorrupt, match="restore"):
        Study.open(tmp_path / "s.db")


def test_a_stored_study_goes_on_and_its_settings_say_how_many_options(tmp_path: Path) -> None:
    with study_of(storage=tmp_path / "s.db") as study:
        for q in study.ask(3):
            study.tell(q.id, best(q))
    with Study.open(tmp_path / "s.db", items=NAMES) as again:
        assert again.setup.problem.feedback == Preferences(options=4)
        assert again.run(best).chosen == ("photo 7", "photo 6")
    with pytest.raises(Exception, match="options"):
        Study(NAMES, 2, feedback=Preferences(options=3), budget=60, storage=tmp_path / "s.db", exists="open")


def test_a_run_that_failed_goes_on_with_what_was_answered_out_of_turn() -> None:
    items = [f"photo {i}" for i in range(8)]
    study = Study(items, 2, feedback=Preferences(options=3), budget=30, in_flight=4, seed=1)
    failed: list[str] = []

    def chooses(question: Question[str]) -> str:
        if question.id == "q5" and not failed:
            failed.append(question.id)
            time.sleep(0.3)  # meanwhile the others are answered
            raise RuntimeError("once")
        return min(question.options)

    with ThreadPoolExecutor(4) as pool:
        with pytest.raises(RuntimeError, match="once"):
            study.run(chooses, executor=pool)
        assert study.run(chooses, executor=pool).answers == 30

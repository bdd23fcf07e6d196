"""What a study promises to those who ask and tell."""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handful import PerItem, Preferences, Question, Study, TopX, Values
from handful.errors import MissingExtra, SmallBudget, StudyFinished
from handful.events import Event, RoundClosed, Told
from tests.pace import slowness
from tests.study.worlds import Clock, folded, live


def comparing(**options: Any) -> Study:
    settings: dict[str, Any] = {
        "feedback": Preferences(),
        "explorer": TopX(),
        "budget": 90,
        "in_flight": 4,
        "lease_s": 10,
    }
    return Study([f"photo {i}" for i in range(6)], 3, **(settings | options))


def valuing(**options: Any) -> Study:
    settings: dict[str, Any] = {"feedback": Values(noise=0.1), "explorer": TopX(), "epsilon": 3.0}
    return Study([f"photo {i}" for i in range(6)], 3, **(settings | options))


def test_a_question_says_all_that_is_needed_to_answer_it() -> None:
    study = comparing(chosen=["photo 4"], budget=40)
    first, second = study.ask(2, "ann")
    assert (first.id, first.round, first.number, first.chosen) == ("q0", 2, 0, ("photo 4",))
    assert (second.id, second.number) == ("q1", 1)
    assert first.rival in study.items
    assert first.rival not in (first.item, "photo 4")
    assert first.seed != second.seed
    with pytest.raises(AttributeError):
        first.item = "another"  # type: ignore[misc]


def test_items_are_the_users_own_objects() -> None:
    class Thing:
        pass

    things = [Thing() for _ in range(4)]
    study = Study(things, 2, feedback=Values(noise=0.1), epsilon=3.0)
    result = study.run(lambda q: float(things.index(q.item)))
    assert result.chosen == (things[3], things[2])
    assert result.rounds[1].pick is things[2]


def test_answers_may_arrive_in_any_order_and_count_in_the_order_asked_about_each_item() -> None:
    study = comparing(in_flight=12)
    questions = study.ask(12, "ann")
    same = [q for q in questions if q.item == questions[0].item]
    assert len(same) > 1
    study.tell(same[1].id, True, "ann")
    assert study.status().counted.sum() == 0
    study.tell(same[0].id, False, "ann")
    assert study.status().counted.sum() == 2
    assert live(study) == folded(study)


def test_a_skipped_question_does_not_hold_up_the_answers_after_it() -> None:
    study = comparing(in_flight=12)
    questions = study.ask(12, "ann")
    same = [q for q in questions if q.item == questions[0].item]
    study.tell(same[1].id, True, "ann")
    for worker in ("ann", "bob", "cid"):
        assert study.skip(same[0].id, "too dark", worker)
        if worker != "cid":
            (again,) = study.ask(1, {"ann": "bob", "bob": "cid"}[worker])
            assert again == same[0]
    assert study.status().counted.sum() == 1
    assert study.tell(same[0].id, True, "ann").standing == "void"


def test_more_than_in_flight_is_never_asked() -> None:
    study = comparing(in_flight=4)
    assert len(study.ask(10, "ann")) == 4
    assert study.ask(1, "bob") == []
    assert study.finished is None


def test_an_expired_question_is_asked_again_unchanged_and_first_of_somebody_new() -> None:
    clock = Clock()
    study = comparing(clock=clock)
    lost, *_ = study.ask(1, "ann")
    assert study.ask(1, "bob") != [lost]
    clock.now += 11
    assert study.ask(1, "bob")[0] == lost
    assert live(study) == folded(study)


def test_a_worker_who_let_a_question_expire_gets_another_if_there_is_one() -> None:
    clock = Clock()
    study = comparing(clock=clock, in_flight=2)
    (seen,) = study.ask(1, "ann")
    clock.now += 11
    (other,) = study.ask(1, "ann")
    assert other != seen
    assert study.ask(1, "ann") == [seen]
    assert study.ask(1, "ann") == []


def test_an_answer_after_the_lease_is_taken_while_nobody_else_answered() -> None:
    clock = Clock()
    study = comparing(clock=clock)
    (question,) = study.ask(1, "ann")
    clock.now += 11
    assert study.ask(1, "bob") == [question]
    assert not study.tell(question.id, True, "ann").repeated
    assert study.tell(question.id, False, "bob").answer is True


def test_a_repeat_changes_nothing_and_gives_what_is_stored() -> None:
    study = comparing()
    (question,) = study.ask(1, "ann")
    assert study.tell(question.id, True, "ann").answer is True
    before = live(study)
    receipt = study.tell(question.id, False, "ann")
    assert (receipt.answer, receipt.repeated) == (True, True)
    assert live(study) == before
    assert sum(event.kind == "told" for _, event in study.journal()) == 1


def test_a_repeat_waits_until_the_answer_it_repeats_is_durable(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow:
        """A ticket that says who waited for it."""

        def __init__(self) -> None:
            self.waited = 0
            self.done = False

        def wait(self) -> None:
            self.waited += 1

    study = comparing()
    (question,) = study.ask(1, "ann")
    ticket, append = Slow(), study._writer.journal.append
    monkeypatch.setattr(study._writer.journal, "append", lambda records: append(records) and ticket)
    study.tell(question.id, True, "ann")
    assert ticket.waited == 1
    study.tell(question.id, True, "bob")
    assert ticket.waited == 2


def test_an_answer_to_a_closed_round_is_kept_and_charged_and_enters_no_bound() -> None:
    study = valuing(in_flight=8)
    *firsts, _, stray = study.ask(8, "ann")
    for q in firsts:
        study.tell(q.id, 50.0 if q.item == "photo 2" else 0.0, "ann")
    assert study.result().chosen == ("photo 2",)
    before = study.status()
    assert before.in_flight == 2
    receipt = study.tell(stray.id, 100.0, "ann")
    after = study.status()
    assert receipt.standing == "late"
    assert after.answers == before.answers + 1
    assert np.array_equal(after.counted, before.counted)
    assert np.array_equal(after.mean, before.mean, equal_nan=True)
    assert study.result().rounds[0].late == 1


def test_a_provisional_answer_is_durable_and_counts_once_it_is_settled() -> None:
    clock = Clock()
    study = comparing(clock=clock)
    first, second, third = study.ask(3, "ann")
    assert study.tell(first.id, True, "ann", undo_s=5).standing == "provisional"
    assert study.status().answers == 1
    assert study.status().counted.sum() == 0
    assert study.revise(first.id, False, "ann").answer is False
    study.tell(second.id, True, "ann", undo_s=5)  # her next answer settles the one before
    assert (study.status().counted.sum(), study.status().provisional) == (1, 1)
    clock.now += 6
    assert study.settle() == 1
    assert study.status().counted.sum() == 2
    assert study.exchange(third.id, True, "ann")[0].standing == "answered"
    assert live(study) == folded(study)


def test_excluding_a_worker_counts_the_round_again_without_them_and_restoring_brings_it_back() -> None:
    study = comparing(in_flight=1, budget=60)
    for n in range(12):
        worker = "ann" if n % 3 else "bob"
        for q in study.ask(1, worker):
            study.tell(q.id, n % 2 == 0, worker)
    before = study.status()
    study.exclude("bob", "always left")
    without = study.status()
    assert without.counted.sum() == before.counted.sum() - 4
    assert (without.answers, without.in_flight) == (before.answers, before.in_flight)
    assert study.ask(1, "bob") == []
    study.restore("bob")
    after = study.status()
    assert np.array_equal(after.counted, before.counted)
    assert np.array_equal(after.mean, before.mean, equal_nan=True)


def test_excluded_answers_stay_charged() -> None:
    study = comparing(in_flight=1, budget=30)
    while not study.finished:
        for worker in ("ann", "bob"):
            for q in study.ask(1, worker):
                study.tell(q.id, True, worker)
        if study.status().answers == 14:
            study.exclude("bob")
    assert study.status().answers == 30
    assert [r.affected_by_exclusion for r in study.result().rounds] == [True, True, False]
    assert "excluded by hand" in str(study.result().certificate)


def test_withdrawing_an_item_voids_its_questions_and_it_is_never_picked() -> None:
    study = valuing(in_flight=6)
    questions = study.ask(6)
    study.withdraw(questions[2].item)
    assert study.status().in_flight == 5
    result = study.run(lambda q: 9.0 if q.item == questions[2].item else float(q.item[-1]))
    assert questions[2].item not in result.chosen
    assert len(result.chosen) == 3


def test_a_pause_hands_out_nothing_but_takes_answers() -> None:
    study = comparing()
    (question,) = study.ask(1, "ann")
    study.pause()
    assert study.ask(1, "bob") == []
    assert not study.tell(question.id, True, "ann").repeated
    study.resume()
    assert len(study.ask(1, "bob")) == 1


def test_finishing_early_keeps_what_was_picked_and_decides_the_open_round() -> None:
    study = valuing(in_flight=1)
    asked = []
    for value in (0.0, 0.0, 7.0):
        (q,) = study.ask(1)
        asked.append(q.item)
        study.tell(q.id, value)
    open_question = study.ask(1)[0]
    result = study.finish("enough")
    assert (result.chosen[0], set(result.chosen[1:])) == (asked[2], set(asked[:2]))
    assert [r.ended for r in result.rounds] == ["closed", "filled", "filled"]
    assert study.finished == "the study was finished early: 2 of 3 items were filled in from what was known"
    with pytest.raises(StudyFinished, match="takes no more answers"):
        study.tell(open_question.id, 1.0)
    assert live(study) == folded(study)


def test_an_extended_budget_is_spent() -> None:
    study = comparing(budget=30, in_flight=1)
    study.extend(15)
    study.extend(PerItem(0.5))
    result = study.run(lambda q: q.item < q.rival)
    assert result.answers == 30 + 15 + 9


def test_a_budget_that_leaves_the_first_round_without_an_answer_is_told() -> None:
    for feedback in (Preferences(), Preferences(options=4)):
        with pytest.warns(SmallBudget, match="no answer, and its pick is drawn by chance; 3 answers are one for each"):
            Study(range(9), 3, feedback=feedback, explorer="duels", budget=2)


def test_a_budget_below_one_answer_per_candidate_is_warned_of_and_spent() -> None:
    with pytest.warns(SmallBudget, match="2 answers for 6 candidates"):
        study = comparing(budget=6)
    result = study.run(lambda q: True)
    assert result.answers == 6
    assert len(result.chosen) == 3


def choosing(budget: int) -> Study:
    names = [f"photo {i}" for i in range(78)]
    return Study(names, 6, feedback=Preferences(options=4), explorer="duels", budget=budget)


def test_with_several_options_the_budget_is_small_where_not_every_candidate_has_a_place(
    recwarn: pytest.WarningsRecorder,
) -> None:
    choosing(400)
    assert not recwarn, "66 answers in the first round show 264 places, and 78 candidates need as many"
    with pytest.warns(SmallBudget) as caught:
        choosing(6 * 19)
    assert str(caught[0].message) == (
        "the budget gives the first round 19 answers, each to 4 candidates of 78: some will never be shown; "
        "120 answers have room for every candidate in each round"
    )
    choosing(120)


def test_a_single_candidate_is_picked_unasked() -> None:
    study = Study(["a", "b"], 2, feedback=Values(noise=0.1), epsilon=1.0)
    result = study.run(lambda q: {"a": 0.0, "b": 5.0}[q.item])
    assert result.chosen == ("b", "a")
    assert (result.rounds[1].ended, result.rounds[1].answers) == ("alone", 0)
    assert Study(["only"], 1, feedback=Values(noise=0.1), epsilon=1.0).result().chosen == ("only",)


def test_a_result_is_plain_data() -> None:
    study = valuing()
    result = study.run(lambda q: float(q.item[-1]))
    assert pickle.loads(pickle.dumps(result)) == result
    told = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert told["chosen"] == list(result.chosen) == ["photo 5", "photo 4", "photo 3"]
    assert told["rounds"][0]["ended"] == "rule"
    first = result.rounds[0]
    assert sum(first.answers_per_item.values()) == first.answers
    assert first.estimates[0].item == "photo 5"
    assert first.estimates[0].lower < first.estimates[0].mean < first.estimates[0].upper
    assert "photo 5" in str(result)
    assert "f(OPT)" in str(result)
    assert "<table" in result._repr_html_()


@pytest.mark.parametrize("explorer", ["certified", "certified:rule=bank", "sharp", "worth"])
def test_a_round_knows_every_item_that_was_asked_about(explorer: str) -> None:
    budget = {"epsilon": None, "budget": 60} if explorer == "worth" else {}
    result = valuing(explorer=explorer, **budget).run(lambda q: float(q.item[-1]))
    for r in result.rounds:
        assert r.answers_about.sum() == r.answers
        assert (r.answers_about >= r.counted).all()
    last = result.rounds[-1]
    audited = last.answers_about.sum() - last.counted.sum()
    assert (audited > 0) == (explorer == "certified")


@pytest.mark.parametrize("explorer", ["worth", "sharp", "topx", "certified", "certified:rule=chain"])
def test_what_was_chosen_at_the_start_does_not_keep_the_rest_from_being_certified(explorer: str) -> None:
    for known in (Values(noise=0.1), Values(range=(0, 6))):
        options: dict[str, Any] = {"feedback": known, "epsilon": None, "budget": 600, "explorer": explorer}
        ratios = [
            valuing(chosen=chosen, **options).run(lambda q: float(q.item[-1])).certificate.ratio
            for chosen in ([], ["photo 0"])
        ]
        assert ratios[0] is not None
        assert ratios[1] is not None
        assert ratios[1] > 0.3


def test_comparisons_that_a_budget_ended_claim_no_mean_over_draws() -> None:
    def better(q: Question) -> bool:
        item, rival = int(q.item[1]), int(q.rival[1])
        if item // 3 == rival // 3:
            return random.Random(q.seed).random() < 0.5
        return item > rival

    items, known = [f"p{i}" for i in range(6)], Preferences(beta=2.0)
    study = Study(items, 3, feedback=known, explorer="sharp", epsilon=0.01, budget=700, seed=4)
    result = study.run(better)
    assert any(r.size > 1 for r in result.rounds)
    assert all(np.isfinite(r.reached) for r in result.rounds)
    assert result.certificate.bound is None


@pytest.mark.parametrize("explorer", ["duels", "topx", "uniform", "sharp"])
@pytest.mark.parametrize("first", [True, False])
def test_a_judge_who_always_says_the_same_side_shows_nothing(explorer: str, first: bool) -> None:
    result = comparing(explorer=explorer, budget=600).run(lambda q: first)
    assert result.certificate.shown == ()


def test_a_run_tells_of_either_side_first_and_an_impartial_oracle_of_the_item() -> None:
    asked: list[Question] = []

    def better(q: Question) -> bool:
        asked.append(q)
        return int(q.item[-1]) > int(q.rival[-1])

    study = comparing(budget=200)
    assert study.run(better).chosen[0] == "photo 5"
    drawn = [study._ask_tell.question(int(q.id[1:])) for q in asked]
    turned = [q.item == d.rival for q, d in zip(asked, drawn, strict=True)]
    assert 60 < sum(turned) < 140
    asked.clear()
    better.impartial = True  # type: ignore[attr-defined]
    again = comparing(budget=200)
    again.run(better)
    assert all(q == again._ask_tell.question(int(q.id[1:])) for q in asked)
    assert again.result() == study.result()


def test_a_result_is_drawn(tmp_path: Path) -> None:
    valuing().run(lambda q: float(q.item[-1])).plot(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    valuing().result().plot(tmp_path / "nothing yet.svg")


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.delitem(sys.modules, "handful.plots", raising=False)  # an earlier test may have drawn
    with pytest.raises(MissingExtra, match=r"handful\[plots\]"):
        valuing().result().plot()


def test_subscribers_hear_of_every_event_and_may_look_at_the_study() -> None:
    study = valuing()
    heard: list[tuple[Event, int]] = []
    end = study.subscribe(lambda event: heard.append((event, study.status().answers)))
    study.run(lambda q: float(q.item[-1]))
    assert [event for event, _ in heard] == [event for _, event in study.journal()][1:]
    assert any(isinstance(event, RoundClosed) for event, _ in heard)
    end()
    study.note("afterwards")
    assert not any(event.kind == "noted" for event, _ in heard)


def test_what_is_told_with_an_answer_is_kept_with_it() -> None:
    study = comparing()
    (q,) = study.ask(1, "ann")
    study.tell(q.id, True, "ann", {"ms": 812, "side": "left"})
    study.note("consent", {"worker": "ann"})
    told = [event for _, event in study.journal() if isinstance(event, Told)]
    assert told[0].meta == {"ms": 812, "side": "left"}


def test_many_threads_may_ask_and_tell_at_once(sqlite_storage: str) -> None:
    study = comparing(in_flight=16, budget=600, storage=sqlite_storage)
    once = threading.Lock()
    acknowledged: list[str] = []

    def work(worker: str) -> None:
        questions = study.ask(1, worker)
        while not study.finished:
            for q in questions:
                receipt, _ = study.exchange(q.id, q.seed % 2 == 0, worker)
                with once:
                    acknowledged.append(receipt.question)
            questions = study.held_by(worker) or study.ask(1, worker)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, [f"w{n}" for n in range(8)]))
    assert len(acknowledged) == len(set(acknowledged)) == 600
    assert live(study) == folded(study)
    study.close()
    with Study.open(sqlite_storage, read_only=True) as again:
        assert live(again) == live(study)


def test_a_study_goes_on_where_it_ended(storage: str) -> None:
    def oracle(q: Question) -> bool:
        return (q.seed + int(q.item[-1])) % 3 > 0

    whole = comparing().run(oracle)
    with comparing(storage=storage, name="venice") as study:
        for _ in range(20):
            for q in study.ask(1, "ann"):
                study.tell(q.id, oracle(q), "ann")
    with Study.open(storage, "venice") as study:
        assert study.status().answers == 20
    with Study.open(storage, "venice", items=study.items) as study:
        resumed = study.run(oracle)
    assert resumed.answers == whole.answers == 90


def test_without_items_a_reopened_study_gives_their_names(sqlite_storage: str) -> None:
    with Study(range(5), 2, feedback=Values(noise=1), explorer="topx", budget=20, storage=sqlite_storage):
        pass
    with Study.open(sqlite_storage) as study:
        name = study.ask(1)[0].item
        assert name in set("01234")
    with Study.open(sqlite_storage, items=range(5)) as study:
        assert study.held_by(None)[0].item == int(name)


def test_importing_handful_is_light() -> None:
    code = (
        "import time; start = time.process_time(); import handful; took = time.process_time() - start; import sys;"
        "assert not {'numba', 'numpy', 'sqlalchemy', 'rich'} & set(sys.modules);"
        "handful.Values(noise=1); handful.PerItem(3); assert 'numba' not in sys.modules; print(took)"
    )
    took = min(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    )
    assert took < 0.1 * slowness()


def test_every_explorer_may_be_named_or_given() -> None:
    assert comparing(explorer="topx").setup == comparing(explorer=TopX()).setup

"""Whatever happens to a study in the middle of its audit, every answer stays in the account it belongs to."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np
import pytest

from handful import Certified, Study, Values
from handful.errors import InvalidProblem
from handful.explorers.audit import SCOUTING
from handful.export import answer_lines
from handful.questions import Question

DEPTH = (10.0, 8.0, 6.0)  # what any item gains, given none, one and two others


def answer(q: Question, rng: np.random.Generator) -> float:
    return DEPTH[len(q.chosen)] + float(rng.normal())


def step(study: Study, worker: str, rng: np.random.Generator) -> None:
    questions = study.ask(1, worker=worker)
    assert questions, "there is nothing to ask and the study has not ended"
    study.tell(questions[0].id, answer(questions[0], rng), worker=worker)


def audited(seed: int, rng: np.random.Generator) -> Study:
    """A study in the middle of its audit, one answer in five by worker b."""
    study = Study(
        [f"i{j}" for j in range(6)], 3, feedback=Values(noise=1.0), explorer=Certified(near=0.3), ratio=0.78, seed=seed
    )
    while study.state.exploration.state.rules["phase"][0] == SCOUTING or len(study.state.rounds) < 2:
        step(study, "a", rng)
    for n in range(100):
        step(study, "b" if n % 5 == 0 else "a", rng)
    assert study.finished is None
    return study


def check_accounts(study: Study) -> None:
    """Means of answers given ∅ are about 10, and a cycle of fresh answers adds up to about 24."""
    state = study.state.exploration.state
    if int(state.claim.rules["anchor"][0]) == 0:
        asked = state.claim.items["old"] > 0
        T = state.claim.items["old"][asked]
        assert np.all(np.abs(state.claim.items["old_total"][asked] / T - DEPTH[0]) < 5 / np.sqrt(T))
        n = int(state.fresh.sum())
        if n and state.fresh.min() == state.fresh.max():
            cycles = n / 3
            assert abs(float(state.claim.rules["fresh"][0]) / cycles - sum(DEPTH)) < 5 * np.sqrt(3 / cycles)


@pytest.mark.parametrize("seed", range(4))
def test_excluding_somebody_in_an_audit_mixes_no_accounts_and_the_study_still_ends(seed: int) -> None:
    rng = np.random.default_rng(seed)
    study = audited(seed, rng)
    study.exclude("b", reason="failed gold", by_rule=True)
    for _ in range(20000):
        check_accounts(study)
        if study.finished is not None:
            break
        step(study, "a", rng)
    assert study.finished is not None
    ratio = study.result().certificate.ratio
    assert ratio is None or ratio <= 0.8 + 1e-9  # 24 of the 30 that single gains show


@pytest.mark.parametrize("feedback", [Values(noise=0.1), Values(range=(-1.0, 2.0))], ids=["R", "range"])
@pytest.mark.parametrize("worker", [0, 3, 4, 9])
def test_excluding_somebody_while_scouting_leaves_no_item_out(worker: int, feedback: Values) -> None:
    gains = (1.0, 0.5, 0.3, 0.2)
    for after in (1, 2, 5):
        rng = np.random.default_rng(worker)
        study = Study(range(4), 2, feedback=feedback, epsilon=0.3, seed=1)
        for n in range(4000):
            if study.finished is not None:
                break
            (q,) = study.ask(1, worker=f"w{n}")
            study.tell(q.id, gains[q.item] + rng.uniform(-0.1, 0.1), worker=f"w{n}")
            if n == worker + after:
                study.exclude(f"w{worker}", reason="failed gold", by_rule=True)
        assert study.finished is not None
        assert study.result().chosen[0] == 0


def test_who_gave_all_first_answers_may_be_excluded_and_the_best_are_still_found() -> None:
    gains = [1.0] * 9 + [0.1]
    rng = np.random.default_rng(0)
    study = Study(range(10), 2, feedback=Values(noise=0.1), epsilon=0.3, seed=0)
    n = 0
    while study.finished is None:
        worker = "hasty" if n < 10 else f"w{n}"
        (q,) = study.ask(1, worker=worker)
        study.tell(q.id, gains[q.item] + rng.uniform(-0.1, 0.1), worker=worker)
        n += 1
        if n == 10:
            study.exclude("hasty", reason="failed gold", by_rule=True)
    assert 9 not in study.result().chosen


@pytest.mark.parametrize("seed", range(3))
def test_an_item_withdrawn_before_or_in_an_audit_is_asked_about_no_more_and_the_study_still_ends(seed: int) -> None:
    rng = np.random.default_rng(seed)
    study = audited(seed, rng)
    gone = next(item for item in (f"i{j}" for j in range(6)) if item not in study.result().chosen)
    study.withdraw(gone)
    for _ in range(20000):
        if study.finished is not None:
            break
        questions = study.ask(1, worker="a")
        assert questions
        assert questions[0].item != gone
        study.tell(questions[0].id, answer(questions[0], rng), worker="a")
    assert study.finished is not None
    assert gone not in study.result().chosen


@pytest.mark.parametrize("budget", [84, 120])
def test_answers_that_end_before_an_audit_still_certify_what_they_show(budget: int) -> None:
    gains, careful = np.linspace(2.0, 0.1, 20), Certified(near=1e-6)

    def answer(q: Question) -> float:
        return float(gains[q.item] + np.random.default_rng(q.seed).uniform(-0.5, 0.5))

    found = Study(range(20), 4, feedback=Values(noise=0.5), epsilon=0.01, budget=budget, seed=1, explorer=careful).run(
        answer
    )
    certificate = found.certificate
    assert found.answers == budget
    assert certificate.ratio is not None
    assert certificate.ratio > 0.02
    assert certificate.value is None or certificate.value <= gains[:4].sum()


def noisy(q: Question) -> float:
    """Between 0 and 5."""
    gain = (3.4 - 0.1 * q.item) * 0.8 ** len(q.chosen)
    return gain + float(np.random.default_rng(q.seed).uniform(-1, 1)) * min(1.0, gain, 5.0 - gain)


@pytest.mark.parametrize(
    "given", [{"budget": 500}, {"epsilon": 0.5, "budget": 1000, "explorer": Certified(rule="bank")}]
)
def test_a_known_range_caps_what_any_selection_may_be_worth(given: dict[str, Any]) -> None:
    certificate = Study(range(30), 4, feedback=Values(range=(0, 5)), seed=1, **given).run(noisy).certificate
    assert certificate.optimum is not None
    assert certificate.optimum <= 4 * 5


def test_an_audit_that_ends_early_says_so_and_claims_no_share_of_nothing() -> None:
    certificate = (
        Study(range(30), 4, feedback=Values(range=(0, 5)), epsilon=0.5, budget=400, seed=1).run(noisy).certificate
    )
    assert certificate.ratio is None or certificate.ratio > 0
    assert any("the answers ended" in reason for reason in certificate.reasons)


def test_exported_answers_say_given_how_many_picks_they_were_asked() -> None:
    study = Study(range(30), 4, feedback=Values(range=(0, 5)), ratio=0.5, seed=1)
    study.run(noisy)
    rows = list(csv.DictReader("".join(answer_lines(study)).splitlines()))
    picks = [str(item) for item in study.result().chosen]
    last = [row for row in rows if row["round"] == "4"]
    assert {row["given"] for row in rows if row["round"] == "2"} == {"1"}
    assert {row["given"] for row in last} >= {"0", "1", "2", "3"}  # the audit looks back
    assert {row["item"] for row in last if row["given"] == "2"} <= {picks[2]}


def test_two_claims_at_once_are_refused() -> None:
    with pytest.raises(InvalidProblem, match="one claim is proved"):
        Study(range(9), 2, feedback=Values(noise=1), epsilon=0.1, ratio=0.5)

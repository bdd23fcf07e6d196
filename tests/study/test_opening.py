"""A study that is there already: it is gone on with if it is the same one, and what differs is named."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from handful import Preferences, Study, TopX, Values
from handful.errors import (
    InvalidAnswer,
    InvalidProblem,
    ItemsChanged,
    StorageError,
    StorageLocked,
    StudyExists,
    StudyFinished,
)
from handful.questions import UNANSWERED, VOID
from handful.storage import Record
from tests.study.test_interleavings import EXPLORERS, PEOPLE, STEPS, World
from tests.study.worlds import folded, live

ITEMS = ["a", "b", "c", "d"]
SETTINGS: dict[str, Any] = {"feedback": Preferences(), "budget": 40, "in_flight": 2, "exists": "open"}


def made(storage: str, items: object = ITEMS, k: int = 2, **changed: Any) -> Study:
    return Study(items, k, storage=storage, **(SETTINGS | changed))  # type: ignore[arg-type]


def test_the_same_lines_make_a_study_and_then_go_on_with_it(storage: str) -> None:
    with made(storage) as study:
        for q in study.ask(2, "ann"):
            study.tell(q.id, True, "ann")
        events = len(list(study.records()))
    with made(storage, tuple(ITEMS)) as again:
        assert again.status().answers == 2
        assert again.items == tuple(ITEMS)
        assert len(list(again.records())) == events
        result = again.run(lambda q: q.item < q.rival)
    with made(storage) as over:
        assert over.result() == result


def test_whoever_opens_a_study_may_watch_its_records(storage: str) -> None:
    with made(storage) as study:
        for q in study.ask(2, "ann"):
            study.tell(q.id, True, "ann", {"ms": 700})
        study.note("topic", [1, "é"])
        first, *stored = study.records()
    seen: list[tuple[Record, object]] = []
    Study.open(storage, watch=lambda record, data: seen.append((record, data))).close()
    assert seen == [(first, None), *((record, json.loads(record.payload)) for record in stored)]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"k": 3}, "k: 2 there, 3 here"),
        ({"feedback": Values(noise=1)}, "feedback: kind preferences, tau 1 there, kind values, noise 1 here"),
        ({"feedback": Preferences(beta=2.0)}, "feedback: kind preferences, tau 1 there, kind preferences, tau 1, beta"),
        ({"explorer": TopX(variant="O")}, "explorer: duels there, topx:variant=O here"),
        ({"budget": 50}, r"budget: 40 there, 50 here.* grows by extend\(\)"),
        ({"budget": None, "epsilon": 0.5, "explorer": "topx"}, "explorer: .*epsilon: none there, 0.5 here; budget: 40"),
        ({"delta": 0.1}, "delta: 0.05 there, 0.1 here"),
        ({"in_flight": 3}, "in_flight: 2 there, 3 here"),
        ({"lease_s": 60}, "lease_s: 120 there, 60 here"),
        ({"prior": [1, 2, 3, 4]}, r"prior: none there, \[1.0, 2.0, 3.0, 4.0\] here"),
        ({"chosen": ["b"]}, r"chosen: \[\] there, \[1\] here"),
        ({"seed": 5}, "seed: 0 there, 5 here"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_what_differs_is_named(changed: dict[str, Any], said: str, sqlite_storage: str) -> None:
    made(sqlite_storage).close()
    with pytest.raises(StudyExists, match=f"made with other settings .*{said}"):
        made(sqlite_storage, **changed)
    made(sqlite_storage).close()  # and the file is free again


def test_other_items_are_refused(sqlite_storage: str) -> None:
    made(sqlite_storage).close()
    with pytest.raises(ItemsChanged, match="item 1 is 'x', but the study was made with 'b'"):
        made(sqlite_storage, ["a", "x", "c", "d"])


def test_an_extended_study_is_gone_on_with_by_either_budget(sqlite_storage: str) -> None:
    with made(sqlite_storage) as study:
        study.extend(10)
    for budget in (40, 50):
        with made(sqlite_storage, budget=budget) as study:
            assert study.status().budget == 50


def test_a_study_that_is_there_is_an_error_unless_told_otherwise(sqlite_storage: str) -> None:
    made(sqlite_storage).close()
    with pytest.raises(StudyExists, match="has a study 'study' already"):
        made(sqlite_storage, exists="error")


def test_in_memory_every_study_is_new() -> None:
    assert Study(ITEMS, 2, **SETTINGS).status().answers == 0


def test_another_word_for_exists_is_refused() -> None:
    with pytest.raises(InvalidProblem, match='exists must be "error" or "open"'):
        Study(ITEMS, 2, **(SETTINGS | {"exists": "replace"}))


def test_closing_lets_go_and_changes_nothing(sqlite_storage: str) -> None:
    study = made(sqlite_storage)
    (q,) = study.ask(1)
    with pytest.raises(StorageLocked):
        made(sqlite_storage)
    study.close()
    study.close()
    with made(sqlite_storage) as other:
        assert not other.finished
        assert not other.tell(q.id, True).repeated
    assert study.status().in_flight == 1
    with pytest.raises(StorageError, match="was closed here: open it again"):
        study.ask(1)


def test_answers_that_wait_behind_a_void_question_are_counted_after_reopening_too() -> None:
    study = Study(range(3), 1, feedback=Values(noise=0.5), explorer="uniform", epsilon=0.5, in_flight=30)
    asked = study.ask(30)
    second = next(question for question in asked[1:] if question.item == asked[0].item)
    assert study.skip(second.id)
    for _ in range(2):
        assert study.ask(1) == [second]
        assert study.skip(second.id)
    assert study.state.questions.standing[int(second.id[1:])] == VOID
    for question in asked:
        if question is not second:
            study.tell(question.id, float(question.item))
    assert study.state.exploration.counted == 29
    assert folded(study) == live(study)


HAPPENING = [step for step, weight in STEPS.items() if step not in ("finish", "pause") for _ in range(weight)]
HAPPENING += ["take", "refuse", "tell some"] * 8
COUNTED = [step for step in HAPPENING if step not in ("exclude", "withdraw")]  # every answer


class CrowdedWorld(World):
    """Many questions are out about each item, and are answered in any order."""

    def some_question(self) -> str:
        first, standing = self.study.state.exploration.first, self.study.state.questions.standing
        out = [question for question in range(first, len(standing)) if standing[question] == UNANSWERED]
        return f"q{self.rng.choice(out)}" if out else super().some_question()

    def refuse(self, who: str | None, n: int) -> None:
        """Nobody answers this one: it ends void, unless others wait longer."""
        id_ = self.some_question()
        for _ in range(5):
            held, worker = self.study.state.leases.holder(int(id_[1:]))
            if held:
                self.study.skip(id_, None, worker)
            else:
                self.study.ask(2, who)

    def tell_some(self, who: str | None, n: int) -> None:
        for _ in range(2 * n):
            id_ = self.some_question()
            self.study.tell(id_, self.answer(id_), who)


@pytest.mark.filterwarnings("ignore::handful.errors.SmallBudget")
@pytest.mark.parametrize("explorer", ["uniform", "sharp", "duels", "choices"])
def test_whatever_happened_it_is_opened_to_the_same_state(explorer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "epsilon" in EXPLORERS[explorer]:  # long rounds
        monkeypatch.setitem(EXPLORERS, explorer, EXPLORERS[explorer] | {"epsilon": 0.5})
    for seed in range(10):
        world, rng = CrowdedWorld(explorer, None, 30, 300, seed, None), np.random.default_rng(seed)
        for step in rng.choice(COUNTED if seed % 2 else HAPPENING, 80):
            with suppress(InvalidAnswer, InvalidProblem, StudyFinished, LookupError):
                getattr(world, step.replace(" ", "_"))(PEOPLE[rng.integers(len(PEOPLE))], int(rng.integers(10)))
        assert folded(world.study) == live(world.study)

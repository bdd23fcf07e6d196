"""Scenarios: fresh for each question, or paired within a round; never used again in another."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from handful import Preferences, Question, Study, Values
from handful.errors import InvalidProblem
from tests.study.worlds import folded, live

SETTINGS: dict[str, Any] = {"feedback": Values(), "explorer": "worth", "budget": 150, "seed": 3, "in_flight": 4}


def asked(**options: Any) -> list[Question]:
    """All questions of a run."""
    questions: list[Question] = []

    def oracle(q: Question) -> float:
        questions.append(q)
        return int(q.item) + (q.seed % 1000) / 500

    Study(range(9), 3, **(SETTINGS | options)).run(oracle)
    return questions


def test_fresh_scenarios_are_used_once() -> None:
    questions = asked()
    assert len({q.seed for q in questions}) == len(questions) == 150


def test_paired_scenarios_are_shared_by_the_items_of_a_round_and_by_no_other_round() -> None:
    questions = asked(scenarios="paired")
    of_item: dict[tuple[int, int], list[int]] = defaultdict(list)
    rounds: dict[int, set[int]] = defaultdict(set)
    for q in questions:
        of_item[q.round, q.item].append(q.seed)
        rounds[q.seed].add(q.round)
    assert all(len(used) == 1 for used in rounds.values())
    for round_ in (1, 2, 3):
        longest = max((seeds for (r, _), seeds in of_item.items() if r == round_), key=len)
        assert len(set(longest)) == len(longest)
        for (r, _), seeds in of_item.items():
            if r == round_:
                assert seeds == longest[: len(seeds)]


def test_a_paired_study_goes_on_as_it_was_made(tmp_path: Any) -> None:
    url = tmp_path / "study.db"
    options = SETTINGS | {"scenarios": "paired"}
    with Study(range(9), 3, storage=url, **options) as study:
        for q in study.ask(4):
            study.tell(q.id, float(q.item))
        seeds = [q.seed for q in study.ask(4)]
    with Study.open(url, items=range(9)) as again:
        assert again.setup.scenarios == "paired"
        assert [q.seed for q in again.held_by(None)] == seeds
        assert live(again) == folded(again)
        again.finish()
        assert "Scenarios were paired" in str(again.result().certificate)


@pytest.mark.parametrize(
    "options",
    [
        {"scenarios": "same"},
        {"explorer": "certified", "epsilon": 1.0},
        {"feedback": Preferences(), "explorer": "duels"},
    ],
)
def test_pairing_is_refused_where_it_makes_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidProblem, match="scenarios"):
        Study(range(9), 3, **(SETTINGS | {"scenarios": "paired"} | options))

"""How far people agree, and whether two halves of them would choose alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from handful import Preferences, Study, Values, agreement
from handful.agreement import FEWEST, Agreement
from handful.problem import Feedback

ITEMS = [f"item {n}" for n in range(8)]
Answers = Callable[[int, list[str]], Any]
rng = np.random.default_rng(3)


def played(
    feedback: Feedback, said: Answers, people: int = 12, budget: int = 480, explorer: str = "duels"
) -> Study[str]:
    """A study whose question is answered by people in turn: `said` gives what somebody makes of these options."""
    study = Study(ITEMS, 3, feedback=feedback, explorer=explorer, budget=budget, seed=5, in_flight=1)
    turn = 0
    while not study.finished:
        turn += 1
        worker = f"w{turn % people}"
        for question in study.ask(1, worker):
            study.tell(question.id, said(turn % people, list(question.options)), worker)
    return study


def of_two(named: Callable[[int, list[str]], str]) -> Answers:
    return lambda person, options: named(person, options) == options[0]


def first(person: int, options: list[str]) -> str:
    return min(options)


def coin(person: int, options: list[str]) -> str:
    return options[int(rng.integers(len(options)))]


@pytest.mark.parametrize("options", [2, 4])
def test_people_of_one_mind_agree_always_and_their_halves_choose_alike(options: int) -> None:
    study = played(Preferences(options=options), of_two(first) if options == 2 else first)
    found = study.agreement()
    assert (found.people, found.share, found.interval) == (12, 1.0, (1.0, 1.0))
    assert found.common is not None
    assert found.common > 0.9 * found.picks == 0.9 * 3


@pytest.mark.parametrize("options", [2, 4])
def test_people_who_toss_coins_agree_half_the_time_and_their_halves_choose_as_by_lot(options: int) -> None:
    study = played(Preferences(options=options), of_two(coin) if options == 2 else coin, budget=960)
    found = study.agreement()
    assert found.share is not None
    assert found.interval is not None
    assert found.interval[0] < 0.5 < found.interval[1]
    assert found.common is not None
    assert found.common < 1.5


def test_values_have_no_pairs_but_halves() -> None:
    def worth(person: int, options: list[str]) -> float:
        return float(8 - ITEMS.index(options[0]))

    study = played(Values(range=(0, 10)), worth, people=11, explorer="uniform")
    found = study.agreement()
    assert (found.share, found.pairs, found.picks) == (None, 0, 3)
    assert found.common == 3.0
    assert len(found.sentences()) == 1


def test_people_who_do_not_count_are_left_out() -> None:
    def said(person: int, options: list[str]) -> str:
        return min(options) if person else max(options)

    study = Study(ITEMS, 2, feedback=Preferences(), budget=4000, seed=5, in_flight=1)
    for turn in range(600):
        worker = f"w{turn % 6}"
        for question in study.ask(1, worker):
            study.tell(question.id, said(turn % 6, list(question.options)) == question.item, worker)
    before = study.agreement()
    study.exclude("w0", "by a rule", by_rule=True)
    after = study.agreement()
    assert before.share is not None
    assert before.share < 1.0
    assert (after.people, after.share) == (5, 1.0)


def test_nothing_is_said_of_too_few_people_or_before_anything_was_asked() -> None:
    study = Study(ITEMS, 2, feedback=Preferences(), budget=100)
    assert study.agreement() == Agreement(0)
    assert study.agreement().sentences() == ()
    assert played(Preferences(), of_two(first), people=FEWEST - 1).agreement().common is None


def test_each_number_comes_with_what_it_does_not_mean() -> None:
    said = played(Preferences(), of_two(first)).agreement().sentences()
    assert len(said) == 2
    assert all("That does not say how" in sentence for sentence in said)


def test_looking_twice_shows_the_same() -> None:
    study = played(Preferences(), of_two(coin))
    assert study.agreement() == study.agreement()


def covered(people: int, runs: int = 150) -> float:
    """How often the interval holds the true share, of people drawn at random."""
    draw, hits, both = np.random.default_rng(0), 0, np.tile([0, 1], (people, 1))
    chances = draw.uniform(0.3, 0.9, 30)
    truth = float((chances**2 + (1 - chances) ** 2).mean())
    for _ in range(runs):
        votes = draw.random((people, 30)) < chances
        answers = [agreement._Answers(both, 1.0 - votes[:, n], np.arange(people)) for n in range(30)]
        _, interval, _ = agreement._agreeing(answers, np.arange(people), 2)
        assert interval is not None
        hits += interval[0] <= truth <= interval[1]
    return hits / runs


def test_the_interval_holds_the_share_and_a_narrower_one_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    assert covered(40) > 0.88
    monkeypatch.setattr(agreement, "_WIDTH", 0.3 * agreement._WIDTH)
    assert covered(40) < 0.6

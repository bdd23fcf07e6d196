"""What is said of the picks is what people answered, no more."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from handful import Preferences, Study
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import ServerLimits, Settings
from handful.results import Wins, verdict_of
from tests.crowd.clients import STUDY, Started

Serve = Callable[..., Started]


def study_of(explorer: str, k: int, budget: int) -> Study:
    """Eight items of which lower numbers are better; every seventh answer errs, and "careless" gives them all."""
    study = Study(range(8), k, feedback=Preferences(), explorer=explorer, budget=budget, in_flight=3, seed=3)
    number = 0
    while study.finished is None:
        for question in study.ask(2, worker="w"):
            number += 1
            errs = number % 7 == 0
            study.tell(question.id, (question.item < question.rival) != errs, "careless" if errs else "w")
    return study


def counted_by_hand(study: Study, *, without: str | None = None) -> tuple[int, int]:
    """Won and of how many, from the journal alone. No answer is late here: every round ends by its budget."""
    picks = {closed.round: closed.pick for closed in study.result().rounds}
    asked: dict[int, tuple[int, int]] = {}
    won = of = closed = 0
    for _, event in study.journal():
        if event.kind == "asked":
            asked[event.question] = event.item, event.rival  # type: ignore[union-attr]
        elif event.kind == "round closed":
            closed += 1
        elif event.kind == "told" and event.worker != without:  # type: ignore[union-attr]
            pair, pick = asked[event.question], picks[closed + 1]  # type: ignore[union-attr]
            if pick in pair:
                of += 1
                won += (pair[0] == pick) == bool(event.answer)  # type: ignore[union-attr]
    return won, of


@pytest.mark.parametrize("explorer", ["duels", "topx"])
def test_the_verdict_counts_the_comparisons_of_each_pick_in_its_round(explorer: str) -> None:
    study = study_of(explorer, k=3, budget=90)
    won, of = counted_by_hand(study)
    said = f"The picks won {won} of the {of} comparisons they were in ({100 * won / of:.0f}%)"
    assert verdict_of(study.state).startswith(said)


def test_answers_of_those_excluded_are_left_out() -> None:
    study = study_of("duels", k=2, budget=80)
    before = verdict_of(study.state)
    study.exclude("careless")
    won, of = counted_by_hand(study, without="careless")
    assert verdict_of(study.state) != before
    assert verdict_of(study.state).startswith(f"The picks won {won} of the {of} comparisons they were in")


def test_the_closest_rival_is_one_that_was_beaten_by_little() -> None:
    study = study_of("duels", k=1, budget=60)
    found = re.search(r"and (\d+) of the (\d+) against the closest rival \((\d+)%\)\.$", verdict_of(study.state))
    assert found
    won, of = counted_by_hand(study)
    assert 0 < int(found[2]) < of
    assert int(found[1]) <= won


@pytest.mark.parametrize(
    ("rounds", "picks"), [(1, "The pick that answers decided"), (2, "The 2 picks that answers decided")]
)
@pytest.mark.parametrize("options", [2, 4])
def test_places_that_were_filled_in_are_not_spoken_of(rounds: int, picks: str, options: int) -> None:
    study = Study(range(8), 5, feedback=Preferences(options=options), explorer="duels", budget=150, seed=3)
    while len(study.state.chosen) < rounds:
        for question in study.ask():
            best = min(question.options)
            study.tell(question.id, best if options > 2 else best == question.item)
    result = study.finish()
    assert len(result.filled) == 5 - rounds
    wins = sum((pick.wins for pick in result.picks[:rounds]), start=Wins())
    said = "named in" if options > 2 else "won"
    assert result.verdict.startswith(picks)
    assert f"{said} {wins.won} of the {wins.of} " in result.verdict


def test_before_the_first_pick_nothing_is_said() -> None:
    assert verdict_of(Study(range(4), 2, feedback=Preferences(), explorer="duels", budget=20).state) == ""


def test_what_was_found_is_looked_through_once_a_round_and_after_an_exclusion(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(
        StudyPlan(k=3, explorer="duels", options=2, budget=60, in_flight=4), Settings(limits=ServerLimits.none())
    )
    hosted, organizer, person = server.registry.studies[STUDY], server.organizer(), server.person()
    looked: list[object] = []
    result = hosted.study.result
    monkeypatch.setattr(hosted.study, "result", lambda: looked.append(None) or result())
    path = f"/api/organize/{STUDY}"
    while not hosted.study.state.chosen:
        assert organizer.get(path).json()["verdict"] == ""
        person.answer()
    for _ in range(5):
        assert organizer.get(path).json()["verdict"].startswith("The pick won ")
        person.answer()
    assert len(looked) == 2
    (worker,) = hosted.study.state.workers.names
    organizer.post(f"{path}/exclude", json={"worker": worker})
    assert organizer.get(path).json()["verdict"] == ""
    assert "excluded by hand" in organizer.get(path).json()["certificate"]
    assert len(looked) == 3

"""What is said of each pick is what was answered, and what the belief says; no more."""

from __future__ import annotations

import random
import re

import pytest

from handful import Preferences, Question, Study, Values
from handful.events import Asked, Told
from handful.explorers.strengths import standing_of
from handful.results import CUT_SHORT, FILLED, GIVEN, TOO_FEW, Believed
from tests.study.worlds import Clock

NAMES = [f"photo {i}" for i in range(8)]


def study_of(options: int, **how: object) -> Study[str]:
    """Of somebody who likes later ones better, and errs in every seventh answer."""
    settings = {"budget": 120, "seed": 3, **how}
    return Study(NAMES, 3, feedback=Preferences(options=options), clock=Clock(), **settings)  # type: ignore[arg-type]


def answered(study: Study[str], until: int = 3) -> Study[str]:
    number = 0
    while study.finished is None and len(study.state.chosen) < until:
        for question in study.ask():
            number += 1
            order = sorted(question.options, key=NAMES.index)
            named = order[0] if number % 7 == 0 else order[-1]
            study.tell(question.id, named if len(question.options) > 2 else named == question.item)
    return study


def counted_by_hand(study: Study[str], round_: int, pick: str) -> tuple[int, int]:
    """In how many of a round's questions the pick was named, and in how many it was shown, from the journal alone."""
    shown: dict[int, tuple[int, ...]] = {}
    won = of = closed = 0
    for _, event in study.journal():
        if isinstance(event, Asked):
            shown[event.question] = (event.item, event.rival, *event.more)
        elif event.kind == "round closed":
            closed += 1
        elif isinstance(event, Told) and closed + 1 == round_:
            options = shown[event.question]
            named = event.answer if len(options) > 2 else options[0 if event.answer else 1]
            of += NAMES.index(pick) in options
            won += named == NAMES.index(pick)
    return won, of


@pytest.mark.parametrize(("options", "noun"), [(2, "comparison"), (4, "showing")])
def test_each_pick_says_how_often_it_won_in_its_round(options: int, noun: str) -> None:
    study = answered(study_of(options))
    for round_, pick in enumerate(study.result().picks, start=1):
        won, of = counted_by_hand(study, round_, pick.item)
        assert of > 1
        assert (pick.wins.won, pick.wins.of) == (won, of)
        assert pick.sentences()[0] == f"Won {won} of {of} {noun}s."


def test_the_runner_up_is_named_as_the_page_names_it() -> None:
    pick = answered(study_of(2)).result().picks[0]
    assert pick.runner_up is not None
    assert pick.runner_up != pick.item
    said = " ".join(pick.sentences(str.upper))
    name = pick.runner_up.upper()
    found = re.search(rf"Seen beside the runner-up, {name}, it was preferred (\d+) of (\d+) times\.", said)
    assert found
    assert 0 < int(found[2]) <= pick.wins.of


def test_a_pick_that_was_filled_in_says_so_and_names_no_runner_up() -> None:
    study = answered(study_of(4), until=1)
    result = study.finish("enough")
    assert [pick.filled for pick in result.picks] == [False, True, True]
    for pick in result.picks[1:]:
        assert pick.sentences()[0] == FILLED
        assert pick.runner_up is None
        assert "in the rounds before" in pick.sentences()[1]
    assert str(result).count(FILLED) == 2


@pytest.mark.parametrize("options", [2, 4])
def test_a_pick_whose_round_was_cut_short_says_so(options: int) -> None:
    study = answered(study_of(options), until=1)
    (question,) = study.ask()
    study.tell(question.id, question.item if options > 2 else True)
    result = study.finish("enough")
    assert [pick.basis for pick in result.picks] == ["answers", "cut short", "filled"]
    assert [pick.sentences()[0] == CUT_SHORT for pick in result.picks] == [False, True, False]
    assert result.to_dict()["picks"][1]["basis"] == "cut short"


def test_what_was_chosen_before_the_start_says_so() -> None:
    result = answered(study_of(2, chosen=["photo 0"])).result()
    assert [pick.item for pick in result.picks] == list(result.chosen)
    assert result.picks[0].sentences() == (GIVEN,)
    assert str(result.picks[1].item) in str(result)


def test_the_belief_says_how_likely_a_pick_is_among_the_best_and_names_near_ties() -> None:
    study = answered(study_of(4))
    for closed, pick in zip(study.state.rounds, study.result().picks, strict=True):
        standing = standing_of(closed.view, closed.closing.pick, runners_up=2)
        assert standing is not None
        assert pick.believed is not None
        assert (pick.believed.chance, pick.believed.best_of) == (standing.chance, standing.best_of)
        assert pick.believed.candidates == 9 - closed.closing.round
        near = [NAMES[one.item] for one in standing.runners_up if one.near]
        assert list(pick.believed.near_ties) == near
        if pick.believed.tells_little:
            assert pick.sentences()[1] == TOO_FEW
            continue
        assert pick.sentences()[1].startswith("By the model, ")
        assert all(name.upper() in pick.sentences(str.upper)[1] for name in near)
        assert study.result().to_dict()["picks"][0]["believed"]["near_ties"] is not None


def test_a_probability_is_rounded_down_and_never_said_to_be_certain() -> None:
    assert "93% likely among the best 3 of 202;" in Believed(0.9399, 3, 202, ("a",)).sentence()
    assert Believed(0.9399, 3, 202, ("a", "b")).sentence().endswith("; near-tie with a and b.")
    assert Believed(1.0, 1, 4, ()).sentence() == "By the model, more than 99% likely the best of 4."


def test_among_more_than_half_of_the_candidates_is_said_in_plain_words() -> None:
    assert Believed(0.9, 66, 78, ("a",)).sentence() == TOO_FEW
    assert Believed(0.9, 40, 78, ()).sentence() == TOO_FEW
    assert "among the best 39 of 78" in Believed(0.9, 39, 78, ()).sentence()
    assert "the best of 1." in Believed(1.0, 1, 1, ()).sentence()
    assert "too few answers to tell it from most" in TOO_FEW


def test_an_explorer_without_a_belief_about_strengths_says_none() -> None:
    result = answered(study_of(2, explorer="topx", budget=200)).result()
    assert all(pick.believed is None for pick in result.picks)
    assert "By the model" not in str(result)


def test_numbers_say_their_mean_and_that_whoever_is_picked_for_it_is_likely_worth_less() -> None:
    study = Study(NAMES, 2, feedback=Values(noise=0.1), explorer="worth", budget=60, clock=Clock())
    result = study.run(lambda q: float(NAMES.index(q.item)))
    for pick in result.picks:
        answers = f"{pick.answers} answer{'' if pick.answers == 1 else 's'}"
        said = f"Mean answer {NAMES.index(pick.item)}, of {answers} by which it was picked (so it is likely too high)."
        assert pick.sentences()[0] == said
        assert pick.wins.of == 0


@pytest.mark.parametrize("given", [(), (NAMES[2],)])
def test_the_mean_of_what_an_audit_proved_is_that_of_the_answers_given_after_it_was_picked(given: tuple[str]) -> None:
    study = Study(NAMES, 3, feedback=Values(noise=1.0), epsilon=1.0, chosen=given, seed=4, clock=Clock())
    told: list[tuple[str, tuple[str, ...], int, float]] = []

    def answer(question: Question[str]) -> float:
        value = NAMES.index(question.item) + random.Random(question.seed).gauss(0, 1)
        told.append((question.item, question.chosen, question.round, value))
        return value

    result = study.run(answer)
    own, last = result.picks[len(given) :], result.rounds[-1].round
    scouted = own[-1].item, result.chosen[:-1]
    for place, pick in enumerate(own):
        chosen = result.chosen[: len(given) + place]
        values = [value for item, after, round_, value in told if (item, after, round_) == (pick.item, chosen, last)]
        if (pick.item, chosen) == scouted:  # its own round asked about it too, before it was picked
            assert pick.answers < len(values)
            values = values[-pick.answers :]
        assert pick.afresh
        assert pick.answers == len(values)
        assert pick.mean == pytest.approx(sum(values) / len(values))
        assert "given after it was picked" in pick.sentences()[0]
    assert [r.ending.by for r in result.rounds] == [*["its belief"] * (2 - len(given)), "its rule"]


def test_a_result_says_it_wherever_it_is_read() -> None:
    result = answered(study_of(4)).result()
    for pick, told in zip(result.picks, result.to_dict()["picks"], strict=True):
        said = " ".join(pick.sentences())
        assert said in str(result)
        assert said in result._repr_html_()
        assert told["sentences"] == list(pick.sentences())
        assert (told["item"], told["won"], told["shown"]) == (pick.item, pick.wins.won, pick.wins.of)


def test_answers_of_those_excluded_are_left_out() -> None:
    study = study_of(2, in_flight=2)
    while study.finished is None:
        for number, question in enumerate(study.ask(2)):
            study.tell(question.id, number == 0, worker=f"w{number}")
    before = study.result().picks[0].wins
    study.exclude("w1", "careless")
    assert study.result().picks[0].wins.of < before.of

"""More than two at a time, over HTTP: an answer is the id of an option, and where it stood is no part of it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from handful.crowd.registry import StudyPlan
from handful.crowd.settings import ServerLimits, Settings
from handful.crowd.simulation.simulated_people import Crew, answer_all
from handful.events import Told
from tests.crowd.clients import STUDY, Person, Started
from tests.crowd.test_simulated_people import by_number

Serve = Callable[..., Started]
PLAN = StudyPlan(k=3, options=4, budget=60, in_flight=20)
QUICK = Settings(undo_s=0, redo_s=0, limits=ServerLimits.none())


def options_of(person: Person) -> list[dict[str, Any]]:
    options: list[dict[str, Any]] = person.work["questions"][0]["options"]
    return options


def choose(person: Person, place: int, **more: Any) -> dict[str, Any]:
    """Answer with the option at a place."""
    response = person.post("answer", {"token": person.token, "option": options_of(person)[place]["id"], **more})
    assert response.status_code == 200, response.text
    person.work = response.json()
    return person.work


def test_an_answer_is_the_option_itself_and_the_journal_says_which(serve: Serve) -> None:
    server = serve(PLAN)
    person = server.person()
    asked, token = options_of(person), person.token
    assert len({card["id"] for card in asked}) == 4
    reply = choose(person, 2, ms=800)
    assert reply["answer"] == {"token": token, "side": None, "option": asked[2]["id"], "repeated": False}
    (told,) = [event for _, event in server.registry.studies[STUDY].study.journal() if isinstance(event, Told)]
    assert asked[2]["id"] == f"i{told.answer}"
    assert told.meta == {"place": 3, "places": 4, "ms": 800}


def test_an_answer_with_several_options_can_be_changed_while_it_is_offered(serve: Serve) -> None:
    server = serve(PLAN)
    person = server.person()
    asked, token = options_of(person), person.token
    work = choose(person, 0)
    assert (work["undo"]["token"], work["undo"]["option"]) == (token, asked[0]["id"])
    changed = person.post("undo", {"token": token, "option": asked[3]["id"]}).json()
    assert changed["answer"]["option"] == asked[3]["id"]
    repeated = person.post("answer", {"token": token, "option": asked[0]["id"]}).json()
    assert (repeated["answer"]["option"], repeated["answer"]["repeated"]) == (asked[3]["id"], True)


@pytest.mark.parametrize("said", [{"side": "left"}, {"option": "i999"}, {"option": "0"}, {}])
def test_what_is_no_option_is_refused_in_words(serve: Serve, said: dict[str, str]) -> None:
    person = serve(PLAN).person()
    for what in ("answer", "undo"):
        refused = person.post(what, {"token": person.token, **said})
        assert (refused.status_code, refused.json()["error"]) == (422, "not_an_option")


def test_a_study_of_pairs_wants_a_side(serve: Serve) -> None:
    person = serve().person()
    refused = person.post("answer", {"token": person.token, "option": "i1"})
    assert (refused.status_code, refused.json()["error"]) == (422, "no_side")


def test_everybody_sees_the_options_in_places_of_their_own(serve: Serve) -> None:
    server = serve(StudyPlan(k=1, options=4, budget=400, in_flight=200), QUICK)
    questions, at = server.registry.studies[STUDY].study.state.questions, Counter[int]()
    for _ in range(60):
        shown = [int(card["id"][1:]) for card in options_of(server.person())]
        asked = [questions.options(q) for q in range(len(questions)) if set(questions.options(q)) == set(shown)]
        at[shown.index(asked[0][0])] += 1
    assert all(at[place] >= 5 for place in range(4)), at  # 15 on average, with a standard deviation of 3.4


def test_people_who_always_tap_the_first_place_teach_the_belief_nothing(serve: Serve) -> None:
    """With five times as many answers as would rank the items, no item is named more often than chance has it."""
    server = serve(StudyPlan(k=1, options=4, budget=400, in_flight=8), QUICK)
    persons = [server.person() for _ in range(8)]
    study = server.registry.studies[STUDY].study
    for _ in range(48):
        for person in persons:
            if person.work["questions"] or person.next()["questions"]:
                choose(person, 0)
    named, shown = Counter[int](), Counter[int]()
    questions = study.state.questions
    for q in range(len(questions)):
        if questions.standing[q]:
            shown.update(questions.options(q))
            named[int(questions.answer[q])] += 1
    chi2 = sum((named[i] - shown[i] / 4) ** 2 / (shown[i] * 3 / 16) for i in shown)
    assert sum(named.values()) > 200
    assert chi2 < 48  # eight items: by chance once in 10 million; it is in the hundreds where places tell who is named


@pytest.mark.parametrize("options", [3, 4, 6])
def test_simulated_people_choose_among_several_and_find_what_they_prefer(serve: Serve, options: int) -> None:
    server = serve(StudyPlan(k=3, options=options, budget=240, in_flight=30), QUICK)
    crew = Crew(10, think_s=0, beta=(2, 5), careless=0.2, skips=0.05, wait_s=0.05)
    report = asyncio.run(
        answer_all(server.url, [STUDY], next(iter(server.registry.studies.values())).collection, by_number, crew)
    )
    study = server.registry.studies[STUDY].study
    assert study.finished is not None
    assert (report.refused, report.broken, report.repeated) == ({}, 0, 0)
    # The order of arrival is not the same twice, and people choose by chance: two of the best three are there.
    assert len(set(study.result().chosen) & {"photo 5.jpg", "photo 6.jpg", "photo 7.jpg"}) >= 2


def test_a_page_is_told_how_many_are_shown_at_a_time(serve: Serve) -> None:
    server = serve(PLAN)
    assert server.browser().get(f"/api/s/{STUDY}").json()["options"] == 4
    assert server.organizer().get(f"/api/organize/{STUDY}").json()["options"] == 4


def test_four_are_shown_unless_the_explorer_asks_pairs_or_there_are_fewer() -> None:
    assert StudyPlan().shown(100) == 4
    assert StudyPlan(explorer="topx:variant=O").shown(100) == 2
    assert StudyPlan(explorer="duels:careless=0.2").shown(3) == 3
    assert StudyPlan(options=9).shown(100) == 9

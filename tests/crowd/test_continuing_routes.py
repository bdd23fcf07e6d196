"""A study goes on from the organizer's page: with more answers, or with a round that is done again."""

from __future__ import annotations

from collections.abc import Callable

import httpx

from handful.crowd.hosting.startup import StudyPlan
from handful.crowd.settings import ServerLimits, Settings
from tests.crowd.clients import STUDY, Started

Serve = Callable[..., Started]
HERE = f"/api/organize/{STUDY}"
QUICK = Settings(undo_s=0, redo_s=0, limits=ServerLimits.none())


def finished(serve: Serve) -> tuple[Started, httpx.Client]:
    server = serve(StudyPlan(k=2, options=2, budget=24, in_flight=4), QUICK)
    person = server.person()
    while person.next()["questions"]:
        person.answer()
    return server, server.organizer()


def test_more_answers_are_allowed_while_a_study_is_open_and_not_after(serve: Serve) -> None:
    server = serve(StudyPlan(k=2, options=2, budget=24, in_flight=4), QUICK)
    organizer = server.organizer()
    assert organizer.post(f"{HERE}/extend", json={"answers": 6}).json()["budget"] == 30
    server.person().answer()
    organizer.post(f"{HERE}/close")
    refused = organizer.post(f"{HERE}/extend", json={"answers": 6})
    assert refused.status_code == 409
    assert refused.json()["error"] == "not_possible"


def test_a_finished_study_goes_on_from_a_round_that_is_done_again(serve: Serve) -> None:
    server, organizer = finished(serve)
    before = organizer.get(HERE).json()
    assert (before["state"], len(before["picks"])) == ("finished", 2)
    meant = organizer.get(f"{HERE}/rounds/2/redoing").json()
    assert meant["words"].startswith("Redoing round 2 forgets ")
    again = organizer.post(f"{HERE}/rounds/2/redo", json={"extend": meant["missing"] + 10}).json()
    assert (again["state"], again["round"], again["budget"]) == ("open", 2, 24 + meant["missing"] + 10)
    assert [pick["name"] for pick in again["picks"]] == [before["picks"][0]["name"]]
    person = server.person()
    while person.next()["questions"]:
        person.answer()
    after = organizer.get(HERE).json()
    assert (after["state"], len(after["picks"])) == ("finished", 2)
    assert after["answers"] > before["answers"]


def test_a_round_that_is_not_over_cannot_be_done_again(serve: Serve) -> None:
    _, organizer = finished(serve)
    for refused in (organizer.get(f"{HERE}/rounds/3/redoing"), organizer.post(f"{HERE}/rounds/3/redo", json={})):
        assert refused.status_code == 409
        assert "only such a round can be redone" in refused.json()["message"]


def test_only_the_organizer_may_let_a_study_go_on(serve: Serve) -> None:
    server, _ = finished(serve)
    stranger = server.browser()
    assert stranger.post(f"{HERE}/extend", json={"answers": 6}).status_code == 401
    assert stranger.get(f"{HERE}/rounds/2/redoing").status_code == 401
    assert stranger.post(f"{HERE}/rounds/2/redo", json={}).status_code == 401

"""A study goes on from the organizer's page: with more answers."""

from __future__ import annotations

from collections.abc import Callable

import httpx

from handful.crowd.registry import StudyPlan
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


def test_only_the_organizer_may_let_a_study_go_on(serve: Serve) -> None:
    server, _ = finished(serve)
    stranger = server.browser()
    assert stranger.post(f"{HERE}/extend", json={"answers": 6}).status_code == 401
    assert stranger.post(f"{HERE}/door", json={"kind": "room"}).status_code == 401

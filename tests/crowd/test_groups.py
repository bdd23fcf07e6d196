"""An organizer excludes a whole network, or all who came in a span of time, after having seen what it would mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from handful.crowd.hosting.startup import StudyPlan
from handful.study.conduct import PRACTICE
from handful.study.doors import Door
from handful.study.events import Excluded
from tests.crowd.clients import STUDY, Person, Started
from tests.crowd.test_people import OFTEN
from tests.crowd.test_worker_routes import Clock

Serve = Callable[..., Started]
HERE = f"/api/organize/{STUDY}"
MANY = StudyPlan(k=3, explorer="topx", budget=300, in_flight=50, door=Door(share=1.0))
BEHIND_A_PROXY = replace(OFTEN, proxies=("127.0.0.1",))


def person_from(server: Started, address: str, *, answers: int = 2) -> Person:
    """Somebody who joins from this address, and answers so often."""
    browser = server.browser()
    browser.headers["X-Forwarded-For"] = address
    person = Person(browser)
    for _ in range(answers):
        person.answer()
    return person


def test_a_network_is_excluded_as_a_whole_and_by_hand(serve: Serve) -> None:
    server = serve(MANY, BEHIND_A_PROXY)
    strangers = [person_from(server, f"192.0.2.{n}") for n in range(3)]
    silent = person_from(server, "192.0.2.9", answers=0)
    honest = person_from(server, "198.51.100.1", answers=3)
    organizer, study = server.organizer(), server.registry.studies[STUDY].study
    lines = organizer.get(f"{HERE}/networks").json()
    assert [(line["people"], line["answers"], line["excluded"]) for line in lines] == [(4, 6, 0), (1, 3, 0)]

    meant = organizer.get(f"{HERE}/group", params={"network": lines[0]["network"]}).json()
    assert (meant["people"], meant["answers"], meant["leaving"], meant["rounds"]) == (4, 6, 6, [])
    assert "claim nothing" in meant["words"]
    assert study.fold.workers.excluded == []  # a preview changes nothing

    body = {"network": lines[0]["network"], "reason": "one stranger"}
    organizer.post(f"{HERE}/group/exclude", json=body)
    written = [event for _, event in study.journal() if isinstance(event, Excluded)]
    assert [(event.reason, event.by_rule) for event in written] == [("one stranger", False)] * 4
    assert study.fold.workers.any_excluded_by_hand
    assert [person.next()["state"] for person in (*strangers, silent)] == ["finished"] * 4
    assert honest.next()["state"] == "questions"
    assert organizer.get(f"{HERE}/networks").json()[0]["excluded"] == 4
    again = organizer.get(f"{HERE}/group", params={"network": lines[0]["network"]}).json()
    assert again["people"] == 0


def test_who_came_in_a_span_of_time_is_excluded_and_who_was_there_before_stays(serve: Serve) -> None:
    clock = Clock()
    server = serve(MANY, BEHIND_A_PROXY, clock=clock)
    before = person_from(server, "198.51.100.1")
    clock.now += 1000
    start = clock.now
    person_from(server, "192.0.2.1")
    before.answer()
    clock.now += 1000
    after = person_from(server, "192.0.2.2")
    organizer, study = server.organizer(), server.registry.studies[STUDY].study
    span = {"since": start - 1, "until": start + 1}
    assert organizer.get(f"{HERE}/group", params=span).json()["people"] == 1
    organizer.post(f"{HERE}/group/exclude", json=span)
    assert len(study.fold.workers.excluded) == 1
    assert before.next()["state"] == after.next()["state"] == "questions"


def test_a_time_is_a_condition_also_when_it_is_zero_and_of_whom_none_is_known_nobody_is_taken(serve: Serve) -> None:
    server = serve(MANY, BEHIND_A_PROXY)
    person_from(server, "192.0.2.1")
    organizer, study = server.organizer(), server.registry.studies[STUDY].study
    study.check("w-from-nowhere", PRACTICE, True)  # never joined, and never answered
    assert len(study.fold.workers.names) == 2
    for span, people in (({"until": 0}, 0), ({"until": 1e10}, 1), ({"since": 0}, 1), ({"since": 0, "until": 1e10}, 1)):
        assert organizer.get(f"{HERE}/group", params=span).json()["people"] == people, span


def test_rounds_that_were_decided_with_their_answers_are_named(serve: Serve) -> None:
    server = serve(replace(MANY, budget=60), BEHIND_A_PROXY)
    person_from(server, "192.0.2.1", answers=25)
    organizer = server.organizer()
    network = organizer.get(f"{HERE}/networks").json()[0]["network"]
    meant = organizer.get(f"{HERE}/group", params={"network": network}).json()
    assert meant["rounds"] == [1]
    assert (meant["answers"], meant["leaving"]) == (25, 5)
    assert "1 decided round with answers of theirs stands: 1. To decide without them, redo round 1" in meant["words"]
    (worker,) = server.registry.studies[STUDY].study.fold.workers.names
    assert organizer.get(f"{HERE}/exclude", params={"worker": worker}).json() == meant
    assert organizer.get(f"{HERE}/exclude", params={"worker": "nobody"}).status_code == 404
    assert server.browser().get(f"{HERE}/exclude", params={"worker": worker}).status_code == 401
    organizer.post(f"{HERE}/group/exclude", json={"network": network})
    assert "exclud" in organizer.post(f"{HERE}/close").json()["certificate"]


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ({}, 409, "say whom"),
        ({"network": "00000000"}, 409, "nobody is known"),
        ({"since": 5, "until": 4}, 409, "ends before it begins"),
        ({"since": "nan"}, 422, "since"),
    ],
)
def test_a_group_that_makes_no_sense_is_refused_in_words(
    serve: Serve, query: dict[str, object], status: int, said: str
) -> None:
    refused = serve(MANY).organizer().get(f"{HERE}/group", params=query)  # type: ignore[arg-type]
    assert refused.status_code == status
    assert said in refused.json()["message"].lower()


def test_only_who_owns_a_study_excludes_groups(serve: Serve) -> None:
    server = serve(MANY)
    assert server.browser().get(f"{HERE}/networks").status_code == 401
    assert server.browser().post(f"{HERE}/group/exclude", json={"since": 1}).status_code == 401

"""Questions that are out, and from where."""

from __future__ import annotations

import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace

import httpx
import pytest

from handful.crowd.caps import Caps
from handful.crowd.guard import address_of
from handful.crowd.identity import new_person
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import Rate, ServerLimits, Settings
from handful.rules import Door, DoorKind
from tests.crowd.clients import PATIENCE_S, STUDY, Started
from tests.crowd.test_connections import LISTEN, connected
from tests.crowd.test_worker_routes import Clock

Serve = Callable[..., Started]
PLAN = StudyPlan(k=3, explorer="topx", budget=400, in_flight=40, door=Door())
OFTEN = Settings(
    undo_s=0, redo_s=0, limits=ServerLimits(worker=Rate(1e6, 1e6), address=Rate(1e6, 1e6), joining=Rate(1e6, 1e6))
)


def test_a_flood_from_one_address_leaves_questions_for_others(serve: Serve) -> None:
    server = serve(PLAN, OFTEN)
    hosted = server.registry.studies[STUDY]
    flood = []
    for _ in range(50):
        flood.append(server.person())
        hosted.refresh_status()
    assert sum(len(one.work["questions"]) for one in flood) == 30
    assert flood[-1].work["state"] == "waiting"
    assert len(questions_for(server, "192.0.2.7")) > 0


def test_once_the_leases_of_a_flood_are_over_its_address_gets_questions_again(serve: Serve) -> None:
    clock = Clock()
    server = serve(PLAN, OFTEN, clock=clock)
    hosted = server.registry.studies[STUDY]
    for _ in range(40):
        last = server.person()
        hosted.refresh_status()
    assert last.work["state"] == "waiting"
    clock.now += PLAN.lease_s + 1
    hosted.tick()
    assert last.next()["state"] == "questions"


def questions_for(server: Started, where: str) -> list[object]:
    """What somebody gets who comes from another address."""
    hosted = server.registry.studies[STUDY]
    return list(hosted.work(new_person(server.registry.secret, hosted, where)[1]).questions)


def test_a_class_behind_one_address_is_never_kept_from_its_next_question(serve: Serve) -> None:
    server = serve(PLAN, OFTEN)
    hosted = server.registry.studies[STUDY]
    pupils = []
    for _ in range(28):
        hosted.refresh_status()
        pupils.append(server.person())
    for turn in range(4):  # all within the first round
        hosted.refresh_status()
        for pupil in pupils:
            if pupil.work["questions"] or pupil.next()["questions"]:
                pupil.answer()
            else:
                assert turn == 0, "only as long as the first to come still have a question ahead"


def test_many_at_once_from_one_address_hold_no_more_than_its_share(serve: Serve) -> None:
    server = serve(PLAN, OFTEN)
    hosted = server.registry.studies[STUDY]
    people = [new_person(server.registry.secret, hosted, "192.0.2.1")[1] for _ in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(hosted.work, people))
    assert len(hosted.study.state.leases) == 30


def test_a_small_study_is_not_divided() -> None:
    assert Caps(6, 0.5, lambda worker: None).most_held is None


@pytest.mark.parametrize(
    ("client", "known_as"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
    ],
)
def test_a_household_is_one_address(client: str, known_as: str) -> None:
    assert address_of({"client": (client, 1)}) == known_as


LITTLE = ServerLimits(address=Rate(0.01, 20), files=Rate(0.01, 2), joining=Rate(0.01, 2), streams_per_address=2)


@pytest.mark.parametrize(("door", "limited"), [("open", True), ("room", False)])
def test_while_a_study_for_one_room_is_open_no_address_has_a_limit(serve: Serve, door: DoorKind, limited: bool) -> None:
    server = serve(replace(PLAN, door=Door(door)), Settings(limits=LITTLE))
    hosted, page, join = server.registry.studies[STUDY], f"{server.url}/s/{STUDY}", f"{server.url}/api/s/{STUDY}/join"
    pages = [httpx.get(page, timeout=PATIENCE_S).status_code for _ in range(5)]
    joined = [httpx.post(join, json={"consent": True}, timeout=PATIENCE_S).status_code for _ in range(5)]
    asked = [httpx.get(f"{server.url}/healthz", timeout=PATIENCE_S).status_code for _ in range(30)]
    with ExitStack() as open_:
        listening = [open_.enter_context(connected(server)) for _ in range(15)]
        streams = [_heard(connection) for connection in listening]
    for codes in (pages, joined, asked, streams):
        assert (set(codes) != {200}) == limited, codes
    assert hosted.marks_networks == limited
    hosted.study.finish()
    assert httpx.get(page, timeout=PATIENCE_S).status_code == 429  # all that an address may ask for was asked for


def _heard(connection: socket.socket) -> int:
    """The status of an event stream; 0 where the connection is ended."""
    try:
        connection.sendall(LISTEN)
        return int(connection.recv(12)[-3:] or 0)
    except OSError:
        return 0

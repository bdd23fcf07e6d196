"""Questions that are out, and from where."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from handful.crowd.hosting.address_shares import AddressShares
from handful.crowd.hosting.startup import StudyPlan
from handful.crowd.hosting.tokens import new_cookie, worker_of
from handful.crowd.settings import Rate, ServerLimits, Settings
from handful.crowd.web.addresses import address_of
from handful.study.leases import Leases
from tests.crowd.clients import STUDY, Started
from tests.crowd.test_worker_routes import Clock

Serve = Callable[..., Started]
PLAN = StudyPlan(k=3, explorer="topx", budget=400, in_flight=40)
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
    worker = worker_of(server.registry.secret, STUDY, new_cookie(server.registry.secret, STUDY), where)
    assert worker is not None
    return list(server.registry.studies[STUDY].work(worker).questions)


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


def test_what_was_answered_skipped_or_left_is_held_no_more(serve: Serve) -> None:
    server = serve(PLAN, OFTEN)
    hosted = server.registry.studies[STUDY]
    person = server.person()
    for _ in range(30):
        person.answer()
    for _ in range(5):
        person.post("skip", {"token": person.token, "reason": "unsure"})
        person.next()
    hosted.refresh_status()
    assert hosted._shares.left("127.0.0.1") == 30 - len(person.work["questions"])


def test_shares_are_counted_by_who_holds_what() -> None:
    leases, shares = Leases(), AddressShares(in_flight=8, share=0.5)
    for question, worker in enumerate(("a", "b", "c")):
        leases.grant(question, worker, 60.0)
        shares.took(worker, "x" if worker < "c" else "y", 1)
    assert (shares.left("x"), shares.left("y"), shares.left("z")) == (2, 3, 4)
    leases.drop(0)
    shares.count(leases.holders(now=59.0))
    assert (shares.left("x"), shares.left("y")) == (3, 3)
    leases.grant(2, "c", 59.0)
    shares.count(leases.holders(now=59.0))
    assert (shares.left("x"), shares.left("y")) == (3, 4)


def test_a_small_study_is_not_divided() -> None:
    assert AddressShares(in_flight=6, share=0.5).left("x") > 1000


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

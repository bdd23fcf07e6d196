"""Bonuses over the JSON interface: a request that is repeated, because no reply came, pays once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.crowd.clients import STUDY
from tests.fakes.prolific import FakeSubmission
from tests.recruit.arrivals import Paid

FIRST, SECOND = "a" * 32, "b" * 32


@pytest.fixture
def somebody(paid: Paid) -> tuple[str, FakeSubmission]:
    """A person who came: the pseudonym, and the submission on the platform."""
    visitor, there = paid.come()
    visitor.arrive()
    (person,) = paid.store.people(STUDY)
    return person.pseudonym, there


def promise(paid: Paid, id: str, who: str, cents: int = 150) -> httpx.Response:
    body = {"id": id, "who": who, "cents": cents, "reason": "thank you"}
    return paid.server.organizer().post(f"/api/organize/{STUDY}/recruiting/bonus", json=body)


def test_the_same_bonus_sent_again_is_paid_once_and_another_one_is_paid_too(
    paid: Paid, somebody: tuple[str, FakeSubmission]
) -> None:
    who, there = somebody
    assert [promise(paid, FIRST, who).status_code for _ in range(2)] == [200, 200]
    paid.settle()
    assert there.bonuses == [150]
    assert promise(paid, FIRST, who).status_code == 200, "also once it has been paid"
    paid.settle()
    assert there.bonuses == [150]
    promise(paid, SECOND, who)
    paid.settle()
    assert there.bonuses == [150, 150]


def test_the_same_bonus_sent_many_times_at_once_is_promised_once(
    paid: Paid, somebody: tuple[str, FakeSubmission]
) -> None:
    with ThreadPoolExecutor(6) as pool:
        replies = list(pool.map(lambda _: promise(paid, FIRST, somebody[0]), range(6)))
    assert [reply.status_code for reply in replies] == [200] * 6
    assert len(paid.store.entries(STUDY)) == len([e for e in paid.store.entries(STUDY) if e.kind != "bonus"]) + 1


def test_a_person_is_named_whole(paid: Paid, somebody: tuple[str, FakeSubmission]) -> None:
    who, there = somebody
    assert promise(paid, FIRST, who[:8]).status_code == 409
    organizer = paid.server.organizer()
    refused = organizer.post(f"/api/organize/{STUDY}/recruiting/decide", json={"who": who[:8], "pay": True})
    assert refused.status_code == 409
    assert "whole pseudonym" in refused.json()["message"]
    paid.settle()
    assert there.bonuses == []


def test_one_id_is_of_one_bonus(paid: Paid, somebody: tuple[str, FakeSubmission]) -> None:
    who, there = somebody
    promise(paid, FIRST, who)
    refused = promise(paid, FIRST, who, cents=200)
    assert (refused.status_code, refused.json()["error"]) == (409, "platform")
    assert "an id of its own" in refused.json()["message"]
    assert promise(paid, "", who).status_code == 422
    paid.settle()
    assert there.bonuses == [150]

"""A reply leaves a whole number of steps after its request came, whatever was done meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import httpx
import pytest

from handful.crowd.hosting.startup import StudyPlan
from handful.crowd.web.even_replies import MARGIN_S, STEP_S, EvenReplies
from tests.crowd.clients import STUDY, Started
from tests.crowd.test_checks_cannot_be_told import RULE
from tests.crowd.test_drawn_checks import Visitor
from tests.crowd.test_people import OFTEN

Serve = Callable[..., Started]


def kept_by(replies: EvenReplies, doing: Callable[[], Awaitable[object]]) -> None:
    async def within() -> None:
        replies.start()
        try:
            await doing()
        finally:
            replies.stop()

    asyncio.run(within())


@pytest.mark.parametrize("work_s", [0.0, 0.3 * STEP_S, 0.8 * STEP_S, 1.5 * STEP_S])
def test_a_reply_leaves_no_sooner_than_at_the_step_that_follows_its_work(work_s: float) -> None:
    replies = EvenReplies()

    async def reply() -> None:
        came = time.monotonic()
        time.sleep(work_s)
        ready = time.monotonic()
        await replies.in_step(came)
        steps = (ready - came) // STEP_S + 1
        assert time.monotonic() >= came + steps * STEP_S

    kept_by(replies, reply)


def test_replies_in_a_study_with_checks_are_held_and_refusals_too(serve: Serve) -> None:
    person = Visitor(serve(StudyPlan(k=2, budget=400, in_flight=20, options=4, rule=RULE), OFTEN))
    picture = person.work["questions"][0]["options"][0]["image"]
    token = {"token": person.token}
    asked: list[tuple[int, Callable[[], httpx.Response]]] = [
        (200, lambda: person.http.get(f"/api/s/{STUDY}/next")),
        (200, lambda: person.http.get(picture)),
        (404, lambda: person.http.get(picture.replace("pictures/", "pictures/x"))),
        (422, lambda: person.post("answer", {**token, "option": "not shown"})),
        (422, lambda: person.post("answer", {})),
        (409, lambda: person.post("undo", {**token, **person.choice(right=True)})),
        (404, lambda: person.post("skip", {"token": "x", "reason": "unsure"})),
        (200, lambda: person.post("answer", {**token, **person.choice(right=True)})),
    ]
    for status, ask in asked:
        began = time.monotonic()
        reply = ask()
        assert time.monotonic() - began >= STEP_S, reply.request.url
        assert reply.status_code == status, reply.text


def test_who_is_due_first_does_not_wait_for_who_came_first() -> None:
    now = 100.0
    replies = EvenReplies(lambda: now)

    async def both() -> None:
        nonlocal now
        came_now = asyncio.create_task(replies.in_step(now))
        came_before = asyncio.create_task(replies.in_step(now - STEP_S + 4 * MARGIN_S))
        await asyncio.sleep(0)
        now += 5 * MARGIN_S
        await asyncio.wait_for(came_before, 20)
        assert not came_now.done()
        now += STEP_S
        await asyncio.wait_for(came_now, 20)

    kept_by(replies, both)


def test_many_replies_at_once_all_leave() -> None:
    replies = EvenReplies()

    async def many() -> None:
        now = time.monotonic()
        await asyncio.wait_for(asyncio.gather(*(replies.in_step(now - at * 1e-4) for at in range(500))), 20)

    kept_by(replies, many)


def test_one_who_leaves_meanwhile_holds_up_nobody() -> None:
    replies = EvenReplies()

    async def reply() -> None:
        now = time.monotonic()
        gone, there = (asyncio.ensure_future(replies.in_step(now)) for _ in range(2))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait_for(there, 20)

    kept_by(replies, reply)


def test_a_server_that_stops_lets_replies_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handful.crowd.web.even_replies.STEP_S", 3600.0)

    async def reply() -> None:
        replies = EvenReplies()
        replies.start()
        waiting = asyncio.ensure_future(replies.in_step(time.monotonic()))
        await asyncio.sleep(0)
        replies.stop()
        await asyncio.wait_for(waiting, 20)
        await asyncio.wait_for(replies.in_step(time.monotonic()), 20)

    asyncio.run(reply())

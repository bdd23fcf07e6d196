"""Answers are taken in the event loop: acknowledged once they are durable, and nobody else waits for that."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from handful.crowd import messages
from handful.crowd.hosting.answering import Answering
from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.hosting.identity import known_worker
from handful.crowd.web import thread_pool
from handful.crowd.web.thread_pool import THREADS
from tests.crowd.clients import PATIENCE_S, STUDY, Started
from tests.crowd.test_people import OFTEN

Serve = Callable[..., Started]


def test_an_answer_waits_for_the_disk_and_everybody_else_is_served_meanwhile(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(settings=OFTEN, storage=tmp_path / "s.db")
    person, study = server.person(), server.registry.studies[STUDY].study
    committer = study._writer.journal._committer  # type: ignore[attr-defined]
    commit, go = committer._commit, threading.Event()

    def waiting(records: object) -> None:
        go.wait(PATIENCE_S)
        commit(records)

    monkeypatch.setattr(committer, "_commit", waiting)
    replies: list[dict[str, object]] = []
    answering = threading.Thread(target=lambda: replies.append(person.answer()))
    answering.start()
    time.sleep(0.5)
    assert httpx.get(f"{server.url}/api/s/{STUDY}", timeout=PATIENCE_S / 2).status_code == 200
    assert replies == []
    go.set()
    answering.join()
    assert replies[0]["answer"]["repeated"] is False  # type: ignore[index]


def test_where_the_study_is_busy_an_answer_is_left_to_a_thread(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HostedStudy, "tick", lambda _: None)  # nothing else keeps the study busy
    server = serve(settings=OFTEN)
    person, study = server.person(), server.registry.studies[STUDY].study
    in_threads: list[str] = []
    answer = Answering.answer
    monkeypatch.setattr(
        Answering, "answer", lambda self, worker, said: (in_threads.append(said.token), answer(self, worker, said))[1]
    )
    person.answer()
    assert in_threads == []
    with study._writer.lock:
        slow = threading.Thread(target=person.answer)
        slow.start()
        until = time.monotonic() + PATIENCE_S
        while not in_threads and time.monotonic() < until:
            time.sleep(0.01)
        assert httpx.get(f"{server.url}/api/s/{STUDY}", timeout=PATIENCE_S).status_code == 200
    slow.join()
    assert len(in_threads) == 1
    assert study.status().answers == 2


def test_two_tabs_that_answer_at_the_same_moment_give_one_answer(serve: Serve, tmp_path: Path) -> None:
    server = serve(settings=OFTEN, storage=tmp_path / "s.db")
    person, study = server.person(), server.registry.studies[STUDY].study
    body = {"token": person.token, "side": "left"}
    cookies = dict(person.http.cookies)
    replies: list[httpx.Response] = []

    def answer() -> None:
        replies.append(httpx.post(f"{server.url}/api/s/{STUDY}/answer", json=body, cookies=cookies, timeout=PATIENCE_S))

    tabs = [threading.Thread(target=answer) for _ in range(8)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    assert [reply.status_code for reply in replies] == [200] * 8
    assert sum(not reply.json()["answer"]["repeated"] for reply in replies) == 1
    assert study.status().answers == 1


def test_a_worker_whose_request_is_cancelled_is_busy_until_the_reply_is_made(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(settings=OFTEN)
    person, hosted = server.person(), server.registry.studies[STUDY]
    (cookie,) = person.http.cookies.values()
    worker = known_worker(server.registry.secret, hosted, cookie)
    assert worker is not None
    reply, begun, go = Answering._reply, threading.Event(), threading.Event()

    def slow(self: Answering, *args: Any) -> messages.Answered:
        begun.set()
        go.wait(PATIENCE_S)
        return reply(self, *args)

    monkeypatch.setattr(Answering, "_desk_may_store", lambda *_: True)
    monkeypatch.setattr(Answering, "_reply", slow)

    async def cancelled() -> bool:
        said = messages.Answer(token=person.token, side="left")
        answering = asyncio.create_task(hosted.answer_at_once(worker, said))
        assert await asyncio.to_thread(begun.wait, PATIENCE_S)
        answering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answering
        busy = not hosted._locks.take_at_once(worker.id)
        go.set()
        async with asyncio.timeout(PATIENCE_S):
            while busy and not hosted._locks.take_at_once(worker.id):
                await asyncio.sleep(0.01)
        hosted._locks.give_back(worker.id)
        return busy

    assert asyncio.run(cancelled())
    assert hosted.study.status().answers == 1


def test_a_reply_is_made_although_all_threads_wait_for_the_same_worker(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HostedStudy, "tick", lambda _: None)  # nothing else keeps the study busy
    server = serve(settings=OFTEN, storage=tmp_path / "s.db")
    person, hosted = server.person(), server.registry.studies[STUDY]
    committer = hosted.study._writer.journal._committer  # type: ignore[attr-defined]
    commit, storing, go = committer._commit, threading.Event(), threading.Event()

    def waiting(records: object) -> None:
        storing.set()
        go.wait(3 * PATIENCE_S)
        commit(records)

    monkeypatch.setattr(Answering, "_desk_may_store", lambda *_: True)
    monkeypatch.setattr(committer, "_commit", waiting)
    cookies, replies = dict(person.http.cookies), list[int]()

    def look() -> None:
        replies.append(
            httpx.get(f"{server.url}/api/s/{STUDY}/next", cookies=cookies, timeout=3 * PATIENCE_S).status_code
        )

    requests = [threading.Thread(target=person.answer), *(threading.Thread(target=look) for _ in range(THREADS + 2))]
    requests[0].start()
    assert storing.wait(PATIENCE_S)
    for request in requests[1:]:
        request.start()
    deadline = time.monotonic() + PATIENCE_S
    while thread_pool._threads._work_queue.qsize() < 2:
        assert time.monotonic() < deadline, "the threads are all taken"
        time.sleep(0.01)
    go.set()
    requests[0].join(PATIENCE_S / 2)
    stuck = requests[0].is_alive()
    if stuck:  # so that the test ends
        for lock, _ in list(hosted._locks._taken.values()):
            lock.release()
    for request in requests:
        request.join(PATIENCE_S)
    assert not stuck
    assert replies == [200] * (THREADS + 2)

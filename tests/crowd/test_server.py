"""Listening, logging, and stopping."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
import threading
import time
import weakref
from pathlib import Path

import httpx
import pytest

from handful.crowd import app
from handful.crowd.app import JsonLines, Server, listen, log_to, port_of
from handful.crowd.collection import Collection
from handful.crowd.host import ChangeSignal
from handful.crowd.registry import open_registry
from handful.crowd.replies import _events
from handful.errors import InvalidProblem
from tests.crowd.clients import PATIENCE_S, PLAN, STUDY, started


def test_an_error_is_logged_by_its_kind_and_place_and_without_its_words() -> None:
    try:
        raise ValueError("the name of a person")
    except ValueError:
        record = logging.LogRecord("a", logging.ERROR, __file__, 1, "it failed", (), sys.exc_info())
    told = json.loads(JsonLines().format(record))
    assert (told["event"], told["level"], told["error"]) == ("it failed", "error", "ValueError")
    assert told["where"][0].startswith("test_server.py:")
    assert "person" not in json.dumps(told)


def test_logs_go_where_they_are_sent(tmp_path: Path) -> None:
    logger = logging.getLogger("handful.crowd")
    try:
        log_to(tmp_path / "log.jsonl")
        logger.info("begun", extra={"study": "a"})
        told = json.loads((tmp_path / "log.jsonl").read_text())
        assert (told["event"], told["study"], told["level"]) == ("begun", "a", "info")
    finally:
        for handler in logger.handlers:
            handler.close()
        log_to(None)


def test_a_taken_port_is_refused_in_words() -> None:
    with (
        listen("127.0.0.1", 0) as taken,
        pytest.raises(InvalidProblem, match="another handful may be running there: choose another --port"),
    ):
        listen("127.0.0.1", port_of(taken))


def test_ctrl_c_is_heard_from_the_first_word_on(collection: Collection) -> None:
    registry = open_registry(None, collection, ["Cathedrals in Venice"], PLAN)
    before = signal.getsignal(signal.SIGINT)
    Server(registry).run_until_interrupted(listen("127.0.0.1", 0), lambda: signal.raise_signal(signal.SIGINT))
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_is_heard_while_garbage_is_collected(collection: Collection) -> None:
    """Python drops a KeyboardInterrupt that is raised there."""

    class Cycle:
        def __init__(self) -> None:
            self.itself = self

    watched: list[weakref.ref[Cycle]] = []

    def leave_garbage() -> None:
        watched.append(weakref.ref(Cycle(), lambda _: signal.raise_signal(signal.SIGINT)))

    registry = open_registry(None, collection, ["Cathedrals in Venice"], PLAN)
    Server(registry).run_until_interrupted(listen("127.0.0.1", 0), leave_garbage)
    assert watched[0]() is None


async def _last_event(signal: ChangeSignal) -> list[bytes]:
    """All that a stream says that has just told something, and is asked to stop."""

    async def latest() -> tuple[str, object]:
        return "status", {}

    signal.start()
    events, said = _events(signal, latest, 3600.0, None), list[bytes]()
    async with asyncio.timeout(60):
        async for event in events:
            said.append(event)
            if event.startswith(b"event"):
                asyncio.get_running_loop().call_later(0.05, signal.stop)
    return said


def test_a_stream_that_rests_after_an_event_ends_at_once() -> None:
    assert len(asyncio.run(_last_event(ChangeSignal()))) == 2


def test_mere_listeners_do_not_keep_the_server_from_stopping(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "GRACE_S", 2 * PATIENCE_S)
    ended = threading.Event()

    def hear(url: str) -> None:
        with httpx.stream("GET", f"{url}/api/s/{STUDY}/events", timeout=PATIENCE_S) as stream:
            for _ in stream.iter_lines():
                pass
        ended.set()

    with started(collection) as server:
        listener = threading.Thread(target=hear, args=(server.url,))
        listener.start()
        deadline = time.monotonic() + PATIENCE_S
        while not len(server.limits.streams) and time.monotonic() < deadline:
            time.sleep(0.02)
        began = time.monotonic()
    assert time.monotonic() - began < PATIENCE_S
    assert ended.wait(PATIENCE_S)
    assert len(server.limits.streams) == 0

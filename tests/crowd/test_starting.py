"""What people meet while the server opens its studies."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

import httpx
import pytest

from handful.crowd.app import listen, not_ready_on, port_of
from handful.errors import StorageError
from tests.crowd.clients import PATIENCE_S, Started

Serve = Callable[..., Started]


def test_until_the_studies_are_open_everything_answers_not_yet() -> None:
    with listen("127.0.0.1", 0) as listening:
        url = f"http://127.0.0.1:{port_of(listening)}"
        with not_ready_on(listening):
            for _ in range(3):
                refused = httpx.get(f"{url}/readyz", timeout=30)
                assert (refused.status_code, refused.json()["error"]) == (503, "starting")
            assert httpx.post(f"{url}/api/s/a/answer", json={}, timeout=30).status_code == 503
            assert httpx.get(f"{url}/s/a", timeout=30).headers["refresh"] == "1"
            with socket.create_connection(("127.0.0.1", port_of(listening))):  # somebody who says nothing
                assert httpx.get(f"{url}/readyz", timeout=30).status_code == 503
        assert listening.gettimeout() is None


def test_a_server_that_is_up_is_ready_unless_it_cannot_store_answers(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve()
    assert httpx.get(f"{server.url}/readyz", timeout=PATIENCE_S).json() == {"status": "ok"}
    hosted = next(iter(server.registry.studies.values()))

    def fails() -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr(hosted, "tick", fails)
    monkeypatch.setattr("handful.crowd.registry.LOOK_EVERY_S", 0.0)
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:  # a tick that had begun before may still say that all is well
        monkeypatch.setattr(hosted.fault, "cause", "the disk is full")
        if httpx.get(f"{server.url}/readyz", timeout=PATIENCE_S).status_code == 503:
            return
        time.sleep(0.1)
    raise AssertionError("it was ready all the time")

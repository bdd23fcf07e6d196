"""Slow and many connections, against the pinned version of uvicorn."""

from __future__ import annotations

import asyncio
import logging
import math
import re
import resource
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import httpx
import numpy as np
import pytest
import uvicorn
from uvicorn.server import ServerState

from handful.crowd.collection.items import Collection
from handful.crowd.settings import Rate, ServerLimits, Settings
from handful.crowd.simulation.http_client import HttpClient
from handful.crowd.simulation.simulated_people import Crew, answer_all
from handful.crowd.web.connections import (
    CROWDED,
    GRACE_S,
    MOST_HEAD,
    MOST_PIPELINED,
    Connections,
    LimitedProtocol,
    protocol_in,
)
from handful.crowd.web.logs import AtMost
from tests.crowd.clients import PATIENCE_S, STUDY, Started
from tests.crowd.test_faults import Trial
from tests.study.worlds import Clock

Serve = Callable[..., Started]
QUICK = replace(ServerLimits(), head_s=2.0, body_s=2.0, read_s=2.0)
GET = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
LISTEN = f"GET /api/s/{STUDY}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def connected(server: Started) -> socket.socket:
    address = httpx.URL(server.url)
    return socket.create_connection((address.host, address.port or 80), timeout=PATIENCE_S)


def is_ended(connection: socket.socket, within_s: float) -> bool:
    """Whether the server closes the connection in time, without having said anything."""
    connection.settimeout(within_s)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET /healthz HTTP/1.1\r\nHost: ",
        b"POST /api/organize/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n{",
    ],
    ids=["nothing", "half a head", "half a body"],
)
def test_a_request_that_does_not_come_is_not_waited_for(serve: Serve, begun: bytes) -> None:
    server = serve(settings=Settings(limits=QUICK))
    with connected(server) as connection:
        connection.sendall(begun)
        assert is_ended(connection, 30)
    with connected(serve()) as connection:  # which shows that it was not too slow for anything else
        connection.sendall(begun)
        assert not is_ended(connection, 2)


def test_a_head_that_comes_letter_by_letter_is_not_waited_for(serve: Serve) -> None:
    server = serve(settings=Settings(limits=QUICK))
    with connected(server) as connection, pytest.raises(OSError):  # noqa: PT012
        connection.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
        for _ in range(50):
            connection.sendall(b"x")
            time.sleep(0.1)


def test_a_reply_that_nobody_reads_is_given_up(serve: Serve) -> None:
    server = serve(settings=Settings(limits=replace(QUICK, files=Rate(1e9, 1e9))))
    folder = re.search(r'/static/[^"/]+/', httpx.get(f"{server.url}/s/{STUDY}", timeout=PATIENCE_S).text)
    assert folder is not None
    request = f"GET {folder[0]}setup.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    assert becomes(lambda: len(server.connections) == 0)
    with connected(server) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # one request after another, not many at once
        connection.setblocking(False)
        assert becomes(lambda: len(server.connections) == 1)

        def ask_for_more() -> bool:
            """Ever more replies, and none is read. The server says whether it ended the connection: an end at which no
            room is left may not hear of it for minutes."""
            with suppress(OSError):
                connection.send(request)
            return len(server.connections) == 0

        assert becomes(ask_for_more)


def becomes(true: Callable[[], bool], within_s: float = 60) -> bool:
    until = time.monotonic() + within_s
    while not (now := true()) and time.monotonic() < until:
        time.sleep(0.005)
    return now


def assert_ended_in_time(room: Connections, clock: Clock) -> None:
    """The one connection is kept until shortly before its reply must be read, and no longer."""
    clock.now += ServerLimits().read_s - 1
    room.sweep()
    assert len(room) == 1
    clock.now += 2
    room.sweep()
    assert len(room) == 0


async def endless(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while True:
        await send({"type": "http.response.body", "body": bytes(1 << 20), "more_body": True})


@pytest.mark.parametrize(
    "then", [b"", GET, GET * MOST_PIPELINED, b"nonsense\r\n\r\n"], ids=["nothing", "one more", "too many", "nonsense"]
)
def test_whatever_is_sent_after_a_request_its_reply_must_be_read_in_time(then: bytes) -> None:
    clock = Clock()
    room = Connections(ServerLimits(), clock=clock)

    async def until(happened: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not happened():
                await asyncio.sleep(0.01)

    async def watched() -> None:
        config = uvicorn.Config(endless, lifespan="off", log_config=None)
        config.load()
        made: list[LimitedProtocol] = []

        def make() -> LimitedProtocol:
            made.append(protocol_in(room)(config, ServerState(), {}))
            return made[-1]

        server = await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0)
        with socket.create_connection(server.sockets[0].getsockname()) as connection:
            connection.setblocking(False)
            connection.sendall(GET)
            await until(lambda: bool(made) and made[0].flow.write_paused)
            connection.sendall(then)
            await asyncio.sleep(0.1)  # which it takes in, though nobody reads
            assert_ended_in_time(room, clock)
            await until(made[0].transport.is_closing)
        server.close()
        await server.wait_closed()

    asyncio.run(watched())


def test_a_connection_that_is_closing_sends_what_is_left_for_a_while_and_no_longer() -> None:
    clock = Clock()
    room = Connections(replace(ServerLimits(), head_s=math.inf), clock=clock)

    async def watched() -> None:
        connection = protocol_in(room)(uvicorn.Config(endless), ServerState(), {})
        connection.connection_made(Unread())
        connection.transport.close()
        room.sweep()
        assert_ended_in_time(room, clock)

    asyncio.run(watched())


class Unread(asyncio.Transport):
    """A connection whose other end reads nothing: closing it takes as long as that lasts."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 5)})
        self._closing = False

    def close(self) -> None:
        self._closing = True

    def is_closing(self) -> bool:
        return self._closing

    def abort(self) -> None:
        self._closing = True


def test_a_kept_connection_serves_one_request_after_another(serve: Serve) -> None:
    server = serve(settings=Settings(limits=QUICK))
    with httpx.Client(base_url=server.url, timeout=PATIENCE_S) as client:
        for _ in range(4):
            assert client.get("/healthz").status_code == 200
            time.sleep(0.8)  # together longer than a head may take


def test_a_head_without_end_is_refused(serve: Serve) -> None:
    server = serve()
    with connected(server) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nX: " + b"x" * (MOST_HEAD + 1))
        assert connection.recv(100).startswith(b"HTTP/1.1 400")


def test_requests_that_do_not_wait_for_replies_are_few(serve: Serve) -> None:
    server = serve()
    with connected(server) as connection:
        connection.sendall(GET * 200)
        said = b""
        while chunk := connection.recv(65536):
            said += chunk
        assert b"HTTP/1.1 400" in said
        assert said.count(b"HTTP/1.1 200") < 20


def test_an_address_has_a_share_and_who_waits_longest_makes_room(serve: Serve) -> None:
    server = serve(settings=Settings(limits=replace(ServerLimits(), connections_per_address=20)))
    with ExitStack() as open_:
        first = open_.enter_context(connected(server))
        time.sleep(GRACE_S)
        idle = [open_.enter_context(connected(server)) for _ in range(19)]
        with connected(server) as one_more:
            one_more.sendall(GET)
            assert one_more.recv(100).startswith(b"HTTP/1.1 200")
        assert is_ended(first, 30)
        assert not is_ended(idle[-1], 0.2)


def test_connections_that_are_served_are_not_ended_for_others(serve: Serve) -> None:
    server = serve(settings=Settings(limits=replace(ServerLimits(), connections_per_address=5)))
    with ExitStack() as open_:
        streams = [open_.enter_context(connected(server)) for _ in range(5 * CROWDED)]
        for stream in streams:
            stream.sendall(LISTEN)
            assert stream.recv(100).startswith(b"HTTP/1.1 200")
        assert is_ended(open_.enter_context(connected(server)), 30)
        for stream in streams:
            stream.settimeout(30)
            assert stream.recv(100)


def answers_beside(
    collection: Collection, file: Path, said: bytes, limits: Literal["real", "uvicorn's"], files: int | None = None
) -> tuple[list[float], int]:
    """How long twenty people wait for each answer while 2,000 connections are held, and how many of these were opened.

    files: how many files the server may have open, connections among them; None for as many as here.
    """
    crew = Crew(20, think_s=0.4, wait_s=0.2)
    with Trial(collection, str(file), crew, budget=1_000_000, limits=limits) as trial:

        async def measured() -> tuple[list[float], int]:
            await trial.up()
            stop = asyncio.Event()
            attack = asyncio.create_task(hold_connections(trial.port, 2_000, said, stop))
            await asyncio.sleep(3)
            people = asyncio.create_task(answer_all(trial.url, [STUDY], collection, lambda *_: 0.0, crew, stop=stop))
            await asyncio.sleep(6)
            stop.set()
            return list((await people).seconds), await attack

        trial.start()
        if files is not None:
            assert trial.child is not None
            resource.prlimit(trial.child.pid, resource.RLIMIT_NOFILE, (files, files))
        return asyncio.run(measured())


@pytest.mark.slow
@pytest.mark.parametrize("said", [b"", GET, LISTEN], ids=["nothing", "one request", "event streams"])
def test_two_thousand_connections_from_one_address_leave_everybody_else_alone(
    collection: Collection, tmp_path: Path, said: bytes
) -> None:
    seconds, opened = answers_beside(collection, tmp_path / "s.db", said, "real")
    assert opened >= 2_000
    assert len(seconds) > 100
    assert np.quantile(seconds, 0.99) <= 0.2


@pytest.mark.slow
@pytest.mark.parametrize(("limits", "works"), [("real", True), ("uvicorn's", False)])
def test_where_few_files_may_be_open_people_can_answer_and_could_not_by_uvicorn_alone(
    collection: Collection, tmp_path: Path, limits: Literal["real", "uvicorn's"], works: bool
) -> None:
    seconds, _ = answers_beside(collection, tmp_path / "s.db", b"", limits, files=1024)
    assert len(seconds) > 100 if works else len(seconds) < 20


async def hold_connections(port: int, how_many: int, said: bytes, stop: asyncio.Event) -> int:
    """Keep so many connections from another address open, each with this said once; gives how many were opened."""
    opened = 0

    async def hold() -> None:
        nonlocal opened
        while not stop.is_set():
            with suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=("127.0.0.2", 0))
                opened += 1
                try:
                    writer.write(said)
                    while await reader.read(65536):
                        pass
                finally:
                    writer.close()
            await asyncio.sleep(3)  # ended by the server: come back

    held = [asyncio.create_task(hold()) for _ in range(how_many)]
    await stop.wait()
    for task in held:
        task.cancel()
    await asyncio.gather(*held, return_exceptions=True)
    return opened


def test_the_organizers_stream_has_a_room_of_its_own(serve: Serve) -> None:
    server = serve(settings=Settings(limits=replace(ServerLimits(), streams=3)))
    organizer = server.organizer()
    with ExitStack() as open_:
        listening = [open_.enter_context(connected(server)) for _ in range(4)]
        for connection in listening:
            connection.sendall(LISTEN)
        codes = [connection.recv(12)[-3:] for connection in listening]
        assert sorted(codes) == [b"200", b"200", b"200", b"429"]
        with organizer.stream("GET", f"/api/organize/{STUDY}/events") as stream:
            assert stream.status_code == 200


@pytest.mark.parametrize("people", [75, pytest.param(300, marks=pytest.mark.slow)])
def test_people_behind_one_address_open_the_page_thirty_in_a_second(serve: Serve, people: int) -> None:
    server = serve()
    page = httpx.get(f"{server.url}/s/{STUDY}", timeout=PATIENCE_S)
    files = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text)
    assert len(files) > 5

    async def somebody(number: int) -> list[int]:
        await asyncio.sleep(number / 37.5)
        client = HttpClient(server.url)
        try:
            browser = asyncio.Semaphore(6)  # so many connections one opens
            codes = await asyncio.gather(*(_status(server, path, browser) for path in (f"/s/{STUDY}", *files)))
            status, _ = await client.post(f"/api/s/{STUDY}/join", {"consent": True})
            return [*codes, status]
        finally:
            client.close()

    async def everybody() -> list[list[int]]:
        return await asyncio.gather(*(somebody(number) for number in range(people)))

    codes = [code for one in asyncio.run(everybody()) for code in one]
    assert set(codes) == {200}


async def _status(server: Started, path: str, browser: asyncio.Semaphore) -> int:
    """Of one request on a connection of its own."""
    address = httpx.URL(server.url)
    async with browser:
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        said = await reader.read()
        writer.close()
    assert said, "ended without a word"
    return int(said[9:12])


def test_nothing_is_logged_a_thousand_times_a_second() -> None:
    now = 5.0
    limited = AtMost(per_second=10, clock=lambda: now)

    def line(words: str) -> logging.LogRecord:
        return logging.LogRecord("uvicorn.error", logging.WARNING, __file__, 1, words, (), None)

    assert sum(limited.filter(line("Invalid HTTP request received.")) for _ in range(1000)) == 10
    assert limited.filter(line("another thing"))
    now += 1
    last = line("Invalid HTTP request received.")
    assert limited.filter(last)
    assert vars(last)["left_out"] == 990


def test_a_page_that_is_refused_is_loaded_again_by_the_browser(serve: Serve) -> None:
    server = serve(settings=Settings(limits=replace(ServerLimits(), files=Rate(0.01, 1))))
    assert httpx.get(f"{server.url}/s/{STUDY}", timeout=PATIENCE_S).status_code == 200
    refused = httpx.get(f"{server.url}/s/{STUDY}", timeout=PATIENCE_S)
    assert refused.status_code == 429
    assert int(refused.headers["refresh"]) >= 1
    assert "loads again" in refused.text

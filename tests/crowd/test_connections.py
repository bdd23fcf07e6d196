"""Many connections, many streams, and many people behind one address."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path

import httpx
import numpy as np
import pytest

from handful.crowd.app import AtMost
from handful.crowd.collection import Collection
from handful.crowd.settings import Rate, ServerLimits, Settings
from handful.crowd.simulation.http_client import HttpClient
from handful.crowd.simulation.simulated_people import Crew, answer_all
from tests.crowd.clients import PATIENCE_S, STUDY, Started
from tests.crowd.test_faults import Trial

Serve = Callable[..., Started]
GET = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
LISTEN = f"GET /api/s/{STUDY}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def connected(server: Started) -> socket.socket:
    address = httpx.URL(server.url)
    return socket.create_connection((address.host, address.port or 80), timeout=PATIENCE_S)


def test_there_are_only_so_many_connections(serve: Serve) -> None:
    server = serve(settings=Settings(limits=replace(ServerLimits(), connections=3)))
    with ExitStack() as open_:
        streams = [open_.enter_context(connected(server)) for _ in range(2)]
        for stream in streams:
            stream.sendall(LISTEN)
            assert stream.recv(100).startswith(b"HTTP/1.1 200")
        with connected(server) as one_more:
            one_more.sendall(GET)
            assert one_more.recv(100).startswith(b"HTTP/1.1 503")
        for stream in streams:  # which go on
            assert stream.recv(100)


def test_a_kept_connection_serves_one_request_after_another(serve: Serve) -> None:
    address = httpx.URL(serve().url)
    with closing(HTTPConnection(address.host, address.port, timeout=PATIENCE_S)) as connection:
        connection.connect()
        kept = connection.sock
        for _ in range(4):
            connection.request("GET", "/healthz")
            reply = connection.getresponse()
            assert (reply.status, reply.read()) == (200, b'{"status":"ok"}')
            assert connection.sock is kept


def answers_beside(collection: Collection, file: Path, said: bytes) -> tuple[list[float], int]:
    """How long twenty people wait for each answer while 2,000 connections are held; and how many were opened."""
    crew = Crew(20, think_s=0.4, wait_s=0.2)
    with Trial(collection, str(file), crew, budget=1_000_000, limits="real") as trial:

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
        return asyncio.run(measured())


@pytest.mark.slow
@pytest.mark.parametrize("said", [b"", GET, LISTEN], ids=["nothing", "one request", "event streams"])
def test_two_thousand_connections_from_one_address_leave_everybody_else_alone(
    collection: Collection, tmp_path: Path, said: bytes
) -> None:
    seconds, opened = answers_beside(collection, tmp_path / "s.db", said)
    assert opened >= 2_000
    assert len(seconds) > 100
    assert np.quantile(seconds, 0.99) <= 0.2


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

"""Hostile requests to every route: whatever comes, the server says no in words and goes on."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Callable

import httpx
import pytest
from fastapi.routing import APIRoute

from handful.crowd import pages
from handful.crowd.app import create_app
from handful.crowd.settings import ServerLimits, Settings
from tests.crowd.clients import PATIENCE_S, STUDY, Started

Serve = Callable[..., Started]

VALUES = [
    b"", b" ", b"\xff\xfe", b"\x00", b"http://[", b"null", b"*", b"../../etc/passwd", b"a" * 5000, b"1e309", b"-1",
    b"chunked", b"identity", b"9" * 400, b"\xe2\x80\xae", b"bytes=0-,-1", b"%00", b"text/html;q=nan", b"[::1", b":::",
]  # fmt: skip
NAMES = [
    b"Host", b"Origin", b"Cookie", b"Content-Length", b"Content-Type", b"Transfer-Encoding", b"X-Forwarded-For",
    b"Sec-Fetch-Site", b"Range", b"If-None-Match", b"Accept", b"Expect", b"Upgrade", b"Connection", b"Authorization",
    b"Accept-Encoding", b"X", b"",
]  # fmt: skip
METHODS = [b"GET", b"POST", b"HEAD", b"PUT", b"DELETE", b"OPTIONS", b"PATCH", b"TRACE", b"CONNECT", b"GE T", b"\x00"]
BODIES = [b"", b"{}", b"[]", b'{"token": 1}', b'{"worker": "\\ud800"}', b"\xff" * 50, b"[" * 2000, b'{"consent": true}']
PARTS = [STUDY.encode(), b"unknown", b"..", b"%2e%2e", b"a%00b", b"\xc3\xa4", b"x" * 900, b"%", b"login", b"backup"]


def every_path(server: Started) -> list[str]:
    """The path of every route that the app has."""
    described = list(create_app(server.registry).openapi()["paths"])
    shown = [route.path for route in pages.router.routes if isinstance(route, APIRoute)]
    paths = [*described, *shown, "/static/{path}", "/api/openapi.json"]
    assert len(paths) > 25
    return paths


def hostile(rng: random.Random, paths: list[str], cookies: list[bytes]) -> bytes:
    """One request: mostly what is expected, somewhere not."""
    path = rng.choice(paths).encode()
    while b"{" in path:
        before, _, rest = path.partition(b"{")
        path = before + rng.choice(PARTS) + rest.partition(b"}")[2]
    if rng.random() < 0.2:
        path += b"?" + rng.choice(VALUES) + b"=" + rng.choice(VALUES)
    body = rng.choice(BODIES)
    headers = [(b"Host", b"127.0.0.1"), (b"Cookie", rng.choice(cookies)), (b"Content-Type", b"application/json")]
    if rng.random() < 0.8:
        headers.append((b"Content-Length", str(len(body)).encode()))
    for _ in range(rng.randrange(4)):
        headers.append((rng.choice(NAMES), rng.choice(VALUES)))
    rng.shuffle(headers)
    method = rng.choice(METHODS) if rng.random() < 0.3 else rng.choice([b"GET", b"POST"])
    head = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
    return method + b" " + path + b" HTTP/1.1\r\n" + head + b"Connection: close\r\n\r\n" + body


def status_of(server: Started, request: bytes) -> int | None:
    """What the server says; None if it says nothing."""
    address = httpx.URL(server.url)
    with socket.create_connection((address.host, address.port or 80), timeout=20) as connection:
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            said = connection.recv(20)
        except ConnectionError:
            return None
    return int(said[9:12]) if said.startswith(b"HTTP/1.1 ") else None


def fuzz(server: Started, requests: int, seed: int) -> dict[int | None, int]:
    """How often each status came back, from people, from an organizer and from nobody."""
    person, organizer = server.person(), server.organizer()
    jars = [b"; ".join(f"{c.name}={c.value}".encode() for c in http.cookies.jar) for http in (person.http, organizer)]
    rng, paths, seen = random.Random(seed), every_path(server), dict[int | None, int]()
    for number in range(requests):
        request = hostile(rng, paths, [*jars, b"", b"handful=x; " + server.registry.keys.cookie.encode() + b"=y"])
        status = status_of(server, request)
        seen[status] = seen.get(status, 0) + 1
        assert status is None or status < 500, (number, request[:2000])
    assert httpx.get(f"{server.url}/healthz", timeout=PATIENCE_S).status_code == 200
    return seen


def test_hostile_requests_to_every_route_break_nothing(serve: Serve) -> None:
    seen = fuzz(serve(settings=Settings(limits=ServerLimits.none())), 1_500, seed=1)
    assert {200, 400, 404, 422} <= set(seen)


@pytest.mark.slow
def test_twenty_thousand_hostile_requests_break_nothing(serve: Serve) -> None:
    number = int(os.environ.get("HANDFUL_FUZZ", "20000"))
    fuzz(serve(settings=Settings(limits=ServerLimits.none())), number, seed=2)

"""A small HTTP client for very many simulated people: one kept connection each, JSON, and the cookie of one study."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit


class ConnectionLost(ConnectionError):
    """The connection broke during a request; whether the server got it is not known, so send the same again."""


@dataclass
class HttpClient:
    """One connection, opened when it is needed and again after it broke."""

    url: str
    timeout_s: float = 30.0
    cookie: str = ""
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = field(default=None, repr=False)

    async def get(self, path: str) -> tuple[int, Any]:
        return await self._request("GET", path, b"")

    async def post(self, path: str, body: object) -> tuple[int, Any]:
        return await self._request("POST", path, json.dumps(body).encode())

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _request(self, method: str, path: str, body: bytes) -> tuple[int, Any]:
        """The status, and the body read as JSON."""
        try:
            return await asyncio.wait_for(self._exchange(method, path, body), self.timeout_s)
        except (OSError, EOFError, ValueError, TimeoutError) as error:
            self.close()
            raise ConnectionLost(str(error)) from error

    async def _exchange(self, method: str, path: str, body: bytes) -> tuple[int, Any]:
        parts = urlsplit(self.url)
        if self._streams is None:
            self._streams = await asyncio.open_connection(parts.hostname, parts.port)
        reader, writer = self._streams
        cookie = f"Cookie: {self.cookie}\r\n" if self.cookie else ""
        kind = "Content-Type: application/json\r\n" if body else ""
        head = f"{method} {path} HTTP/1.1\r\nHost: {parts.netloc}\r\n{cookie}{kind}Content-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        self._remember_cookie(lines)
        length = int(headers.get("content-length", "0"))
        data = await reader.readexactly(length) if length else b""
        if headers.get("connection") == "close":
            self.close()
        return int(lines[0].split(" ")[1]), json.loads(data) if data else None

    def _remember_cookie(self, lines: list[str]) -> None:
        for line in lines:
            if line.lower().startswith("set-cookie: "):
                self.cookie = line[12:].split(";", 1)[0]

"""What is answered while the studies are still being opened: not yet, try again in a second."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

SAID = json.dumps({"error": "starting", "message": "The server is starting. Please try again in a moment."}).encode()
PAGE = b"<!doctype html><meta charset=utf-8><title>One moment</title><h1>One moment</h1><p>The server is starting."
LOOK_EVERY_S = 0.1
PATIENCE_S = 0.3


@contextmanager
def not_ready_on(listening: socket.socket) -> Iterator[None]:
    """While the block runs, answer every request with 503; pages try again by themselves."""
    stop = threading.Event()
    before = listening.gettimeout()
    listening.settimeout(LOOK_EVERY_S)
    thread = threading.Thread(target=_answer, args=(listening, stop), name="handful-starting", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        listening.settimeout(before)


def _answer(listening: socket.socket, stop: threading.Event) -> None:
    while not stop.is_set():
        with suppress(OSError):  # nobody came, or they left
            connection, _ = listening.accept()
            with connection:
                connection.settimeout(PATIENCE_S)
                connection.sendall(_refusal(connection.recv(8192)))
                connection.shutdown(socket.SHUT_WR)
                connection.recv(8192)


def _refusal(request: bytes) -> bytes:
    path = request.split(b" ", 2)[1] if request.count(b" ") >= 2 else b""
    of_page = path.startswith((b"/s/", b"/organize")) or path == b"/"
    kind, body = (b"text/html; charset=utf-8", PAGE) if of_page else (b"application/json", SAID)
    again = b"Refresh: 1\r\n" if of_page else b""
    return (
        b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nCache-Control: no-store\r\nRetry-After: 1\r\n"
        b"X-Content-Type-Options: nosniff\r\n%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s"
    ) % (again, kind, len(body), body)

"""The server: the app on a socket, until it is told to stop."""

from __future__ import annotations

import errno
import gc
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn

from handful.crowd.registry import Registry
from handful.crowd.web.app import create_app
from handful.crowd.web.rate_limits import RequestLimits
from handful.errors import InvalidProblem

GRACE_S = 10
MOST_FILES = 65_536
FILES_KEPT_FREE = 200  # of all that may be open: for the database, pictures, logs
BACKLOG = 256
"""Connections that wait to be taken, and are taken at once: with more, whoever is connected would wait for them."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio turns off Nagle's delay (40 ms per answer) only where it is.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        another = "another handful may be running there: " if error.errno == errno.EADDRINUSE else ""
        raise InvalidProblem(
            f"cannot listen on {host}:{port} ({error.strerror}): {another}choose another --port (0 finds a free one) "
            "or --host"
        ) from error
    return listening


def port_of(listening: socket.socket) -> int:
    port: int = listening.getsockname()[1]
    return port


def _most_connections(wanted: int) -> int:
    """As many as are wanted, or as the system allows: each connection is an open file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return min(wanted, files - FILES_KEPT_FREE)


class Server(uvicorn.Server):
    """A server that lets go of mere listeners when it is asked to stop, and finishes what others have begun."""

    def __init__(self, registry: Registry, stopping: Callable[[], None] = lambda: None) -> None:
        """stopping: called once, from a signal's handler, when it is asked to stop by a signal."""
        self.registry = registry
        self._say_stopping = stopping
        app = create_app(registry)
        self.limits: RequestLimits = app.state.limits
        super().__init__(
            uvicorn.Config(
                app,
                http="httptools",
                limit_concurrency=_most_connections(registry.settings.limits.connections),
                backlog=BACKLOG,
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,  # Guard reads them, and believes only the proxies that were named
                timeout_graceful_shutdown=GRACE_S,
                timeout_keep_alive=75,
                ws="none",
            )
        )

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            self._say_stopping()
        self.registry.stop_streams()
        super().handle_exit(sig, frame)

    def run_until_interrupted(self, listening: socket.socket, announce: Callable[[], None] = lambda: None) -> None:
        """Serve until Ctrl-C, a signal or `stop`; then finish the requests at hand and close the studies.

        announce: says that one may come, and how to stop: called when Ctrl-C is already heard. (The interpreter would
            raise KeyboardInterrupt wherever it is, also in garbage collection, where Python drops it.)
        """
        before = signal.signal(signal.SIGINT, self.handle_exit)
        try:
            announce()
            if self.should_exit:
                listening.close()
                self.registry.close()
                return
            gc.collect()
            gc.freeze()  # what is there by now stays, and need not be looked through again and again
            self.run(sockets=[listening])
        finally:
            signal.signal(signal.SIGINT, before)

    def stop(self) -> None:
        """The same as a signal, from another thread."""
        self.registry.stop_streams()
        self.should_exit = True


@contextmanager
def serving(registry: Registry, listening: socket.socket) -> Iterator[tuple[Server, str]]:
    """Serve in the background; gives the server and its address."""
    server = Server(registry)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="handful-server")
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        host, port = listening.getsockname()[:2]
        yield server, f"http://{host}:{port}"
    finally:
        server.stop()
        thread.join()

"""The app on a socket: its routes, what runs beside them, its log, and what is said while it starts."""

from __future__ import annotations

import asyncio
import errno
import gc
import json
import logging
import resource
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import FrameType

import uvicorn
from fastapi import FastAPI

from handful.crowd import organizer_routes, pages, panel_routes, setup_routes, worker_routes
from handful.crowd.assets import VersionedFiles, page
from handful.crowd.guard import Guard, RequestLimits, handle_errors, in_thread
from handful.crowd.identity import look_after
from handful.crowd.messages import Health
from handful.crowd.refusals import Refusal
from handful.crowd.registry import Registry
from handful.errors import InvalidProblem, StorageError
from handful.storage import without_password

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


log = logging.getLogger("handful.crowd")

TICK_EVERY_S = 0.5
TICKS_PER_LOOK = 6
"""For what other processes have begun: recruiting."""
PEOPLE_EVERY = 4  # ticks
RETIRE_EVERY = 7_200


def create_app(registry: Registry) -> FastAPI:
    """The app that serves all studies of a registry, and closes them when it stops."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        registry.start()
        await in_thread(registry.look_for_recruiting)
        heartbeat = asyncio.create_task(_tick_studies(registry))
        try:
            yield
        finally:
            registry.stop_streams()
            heartbeat.cancel()
            await asyncio.gather(heartbeat, return_exceptions=True)
            await in_thread(registry.close)
            log.info("stopped")

    app = FastAPI(
        title="handful",
        version="1",
        description="Answer and organize crowd studies. Every error has the same shape.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.registry = registry
    app.state.limits = RequestLimits.of(registry.settings.limits, lambda: registry.one_room)
    handle_errors(app)
    app.add_middleware(Guard, settings=registry.settings, one_room=lambda: registry.one_room)
    app.include_router(worker_routes.router)  # first: looked through in this order, for every answer
    app.include_router(panel_routes.router)
    app.include_router(panel_routes.organizers)
    app.include_router(organizer_routes.router)
    app.include_router(setup_routes.practice_router)
    app.include_router(setup_routes.router)
    app.include_router(pages.router)

    @app.get("/healthz", tags=["server"])
    async def healthz() -> Health:
        """Whether the server runs and can still store answers."""
        if await in_thread(registry.storage_fault) is not None:
            raise Refusal(503, "storage", "Answers cannot be stored right now.")
        return Health(status="ok")

    @app.get("/readyz", tags=["server"])
    async def readyz() -> Health:
        """Whether people can be asked now; 503 while the server starts, stops, or cannot store answers."""
        stopping = any(hosted.change_signal.stopping for hosted in registry.studies.values())
        if stopping or await in_thread(registry.storage_fault) is not None:
            raise Refusal(503, "storage", "Not ready.", {"Retry-After": "1"})
        return Health(status="ok")

    app.mount("/static", VersionedFiles(), name="static")
    for route in app.routes:  # FastAPI puts a router together when it is first looked through: not for the first person
        route.matches({"type": "http", "method": "GET", "path": "/", "root_path": "", "headers": []})
    return app


async def _tick_studies(registry: Registry) -> None:
    """Twice a second: let answers settle, also those of a worker who has left, and free what nobody holds any more."""
    failing: dict[str, str] = {}
    for tick in count(1):
        await asyncio.sleep(TICK_EVERY_S)
        if tick % TICKS_PER_LOOK == 0:
            with suppress(StorageError):  # what is wrong with it is told below
                await in_thread(registry.look_for_recruiting)
        if tick % RETIRE_EVERY == 0:
            with suppress(StorageError):
                await in_thread(registry.retire_people)
        for name, hosted in list(registry.studies.items()):
            try:
                await in_thread(hosted.tick)
                if tick % PEOPLE_EVERY == 0:
                    await in_thread(look_after, hosted)
                failing.pop(name, None)
            except StorageError:
                pass  # the study has told the cause, once
            except Exception as error:
                # Once for each cause, not twice a second for as long as it lasts.
                if failing.get(name) != str(error):
                    failing[name] = str(error)
                    log.error("tick", extra={"study": name, "error": type(error).__name__, "cause": str(error)})


SAID = json.dumps({"error": "starting", "message": "The server is starting. Please try again in a moment."}).encode()
PAGE = page("starting.html").encode()
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


@dataclass(frozen=True)
class Links:
    """The address of each theme's page for workers, and of the organizer's pages."""

    workers: dict[str, str]
    organizer: str


def links_of(registry: Registry, url: str) -> Links:
    """The links of all studies. What stands after the # is the key, which never leaves the organizer's browser."""
    return Links(
        {hosted.theme: f"{url}/s/{name}" for name, hosted in registry.studies.items()},
        f"{url}{registry.keys.login}",
    )


MOST_KINDS = 1_000
_PLAIN = set(vars(logging.makeLogRecord({})))


class JsonLines(logging.Formatter):
    """One JSON object per line: time, level, what happened, and of an error its kind and place."""

    def format(self, record: logging.LogRecord) -> str:
        extra = {key: value for key, value in vars(record).items() if key not in _PLAIN}
        told = {
            "time": round(record.created, 3),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **extra,
        }
        if record.exc_info and record.exc_info[0] is not None:
            told["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])
            told["where"] = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-3:]]
        return without_password(json.dumps(told, ensure_ascii=False, default=str))


class AtMost(logging.Filter):
    """Lets so many lines of one kind pass in a second, and says on the next one how many were left out.

    Whoever sends nonsense a thousand times a second does not fill the disk with it.
    """

    def __init__(self, per_second: int = 100, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._most, self._clock = per_second, clock
        self._lock = threading.Lock()
        self._seen: dict[tuple[str, str], tuple[int, int, int]] = {}  # the second, the lines in it, and those left out

    def filter(self, record: logging.LogRecord) -> bool:
        now, kind = int(self._clock()), (record.name, str(record.msg)[:200])
        with self._lock:
            second, lines, left_out = self._seen.pop(kind, (now, 0, 0))
            if second != now:
                second, lines = now, 0
            passes = lines < self._most
            if passes and left_out:
                record.left_out, left_out = left_out, 0
            self._seen[kind] = second, lines + 1, left_out + (not passes)
            if len(self._seen) > MOST_KINDS:
                del self._seen[next(iter(self._seen))]
        return passes


def log_to(where: str | Path | None) -> None:
    """Structured logs into a file, to standard error ("-"), or warnings only to standard error (None)."""
    handler: logging.Handler
    if where is None or str(where) == "-":
        handler = logging.StreamHandler(sys.stderr)
    else:
        try:
            handler = logging.FileHandler(where, encoding="utf-8")
        except OSError as error:
            raise InvalidProblem(f"--log {where} cannot be written: {error.strerror}") from error
    handler.setFormatter(JsonLines())
    handler.addFilter(AtMost())
    logger = logging.getLogger("handful.crowd")
    logger.handlers = [handler]
    logger.propagate = False
    logger.setLevel(logging.WARNING if where is None else logging.INFO)
    logging.getLogger("uvicorn.error").handlers = [handler]
    logging.getLogger("uvicorn.error").propagate = False

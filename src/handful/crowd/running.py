"""Running the app: on a socket, with logs as JSON lines, until it is asked to stop."""

from __future__ import annotations

import json
import logging
import socket
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import uvicorn

from handful.crowd.app import create_app
from handful.crowd.hall import Hall
from handful.errors import InvalidProblem

GRACE_S = 10
PLAIN = set(vars(logging.makeLogRecord({})))


class JsonLines(logging.Formatter):
    """One JSON object per line: time, level, what happened, and of an error its kind and place."""

    def format(self, record: logging.LogRecord) -> str:
        extra = {key: value for key, value in vars(record).items() if key not in PLAIN}
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
        return json.dumps(told, ensure_ascii=False, default=str)


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
    logger = logging.getLogger("handful.crowd")
    logger.handlers = [handler]
    logger.propagate = False
    logger.setLevel(logging.WARNING if where is None else logging.INFO)
    logging.getLogger("uvicorn.error").handlers = [handler]
    logging.getLogger("uvicorn.error").propagate = False


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio turns off Nagle's delay (40 ms per answer) only where it is.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(2048)
    except OSError as error:
        listening.close()
        where = f"{host}:{port}"
        raise InvalidProblem(f"cannot listen on {where} ({error.strerror}): choose another --port or --host") from error
    return listening


def port_of(listening: socket.socket) -> int:
    port: int = listening.getsockname()[1]
    return port


class Server(uvicorn.Server):
    """A server that lets go of mere listeners when it is asked to stop, and finishes what others have begun."""

    def __init__(self, hall: Hall, behind_proxy: bool = False) -> None:
        self.hall = hall
        super().__init__(
            uvicorn.Config(
                create_app(hall),
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=behind_proxy,
                timeout_graceful_shutdown=GRACE_S,
                timeout_keep_alive=75,
                ws="none",
            )
        )

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.hall.stop_streams()
        super().handle_exit(sig, frame)

    def run_until_interrupted(self, listening: socket.socket) -> None:
        """Until Ctrl-C, a signal or `stop`; then finish the requests at hand and close the studies."""
        with suppress(KeyboardInterrupt):
            self.run(sockets=[listening])

    def stop(self) -> None:
        """The same as a signal, from another thread."""
        self.hall.stop_streams()
        self.should_exit = True


@contextmanager
def serving(hall: Hall, listening: socket.socket) -> Iterator[str]:
    """Serve in the background; gives the address."""
    server = Server(hall)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="handful-server")
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        host, port = listening.getsockname()[:2]
        yield f"http://{host}:{port}"
    finally:
        server.stop()
        thread.join()

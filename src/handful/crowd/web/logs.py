"""Structured logs: one JSON object per line, without personal data."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from handful.errors import InvalidProblem
from handful.storage import without_password

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

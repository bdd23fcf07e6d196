"""Structured logs: one JSON object per line, without personal data."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from pathlib import Path

from handful.errors import InvalidProblem
from handful.storage.passwords import without_password

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

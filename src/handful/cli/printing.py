"""How commands print."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any


def print_json(data: object) -> None:
    """One JSON value, for a program to read."""
    print(json.dumps(data, ensure_ascii=False))


def when(time: float) -> str:
    """A moment, in the local time."""
    return datetime.fromtimestamp(time).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def console_for(*, err: bool = False) -> Any:
    """A console to print tables and colours on."""
    from rich.console import Console

    return Console(stderr=err)

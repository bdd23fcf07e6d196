"""Retention from the command line: whoever is due to be forgotten is, before any command that writes."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any

from handful.errors import StorageError

READS = frozenset(
    {
        "backup",
        "export",
        "invite list",
        "keys show",
        "list",
        "organize networks",
        "plot",
        "recruit pay-list",
        "recruit plan",
        "recruit status",
        "recruit steps",
        "replay",
        "status",
    }
)
"""Commands with a storage that only look at it."""

ITSELF = frozenset({"people erase", "people list", "serve"})
"""Commands that see to it themselves, and say so or go on seeing to it."""


def retiring(group: Any, before: str = "") -> Any:
    """The commands of a group, each of which first forgets who is due if it writes to a storage."""
    for name, command in group.commands.items():
        whole = f"{before}{name}"
        if hasattr(command, "commands"):
            retiring(command, f"{whole} ")
        elif writes(whole, command):
            command.callback = _after_retiring(command.callback)
    return group


def writes(name: str, command: Any) -> bool:
    """Whether a command writes to a storage and leaves it to others to forget who is due."""
    return name not in READS | ITSELF and any(parameter.name == "storage" for parameter in command.params)


def _after_retiring(callback: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(callback)
    def act(**typed: Any) -> Any:
        storage = typed.get("storage")
        if storage is not None and ("://" in storage or Path(storage).is_file()):
            from handful.crowd.people import retire

            with suppress(StorageError):  # the command meets the same storage, and says what is wrong with it
                retire(storage, time.time())
        return callback(**typed)

    return act

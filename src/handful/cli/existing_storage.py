"""A storage that must be there already: where it is not, which others may be meant."""

from __future__ import annotations

from pathlib import Path

from handful.cli.parameters import STORAGE
from handful.errors import InvalidProblem


def check_not_elsewhere(storage: str) -> None:
    """Refuse the default storage where this folder has only others."""
    others = sorted(path.name for path in Path().glob("*.db"))
    if storage == STORAGE and not Path(storage).exists() and others:
        raise InvalidProblem(
            f"there is no {storage} in this folder; say where the study is: -s {' or -s '.join(others)}"
        )


def check_there(storage: str, study: str) -> None:
    """Refuse a file that is not there, for an order that is to change the study."""
    check_not_elsewhere(storage)
    if "://" not in storage and not Path(storage).exists():
        raise InvalidProblem(f"there is no file {storage}: say with -s where study {study!r} is kept")

"""Options and arguments that several commands share, and a storage that must be there already."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from handful.crowd.settings import BOUNDS
from handful.errors import InvalidProblem
from handful.explorers import NAMES

STORAGE = "handful.db"
Storage = Annotated[
    str,
    typer.Option(
        "--storage",
        "-s",
        metavar="URL",
        envvar="HANDFUL_DATABASE",
        help="A SQLite file, or postgresql://user@host/database; also from the environment: HANDFUL_DATABASE.",
    ),
]
Name = Annotated[str | None, typer.Argument(metavar="[STUDY]", help="Its name; may be left out if there is only one.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]


ExplorerName = Annotated[
    str | None,
    typer.Option(
        "--explorer",
        metavar="NAME",
        help=f"What decides what is asked: {', '.join(NAMES)}; or one with options, such as "
        "certified:rule=chain or topx:variant=O. If not given, the best for the task.",
    ),
]


def bounded(setting: str, help: str, *names: str, least: float | None = None) -> Any:
    """An option for a number that lies where this setting of a study does, or above another `least`."""
    low, most = BOUNDS[setting]
    return typer.Option(*names, min=low if least is None else least, max=most, help=help)


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

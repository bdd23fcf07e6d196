"""Options and arguments that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

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

"""How commands print."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from rich.console import Console

from handful.storage import without_password

_UNLIMITED = 100_000


def print_json(data: object) -> None:
    """One JSON value, for a program to read."""
    print(json.dumps(data, ensure_ascii=False))


def when(time: float) -> str:
    """A moment, in the local time."""
    return datetime.fromtimestamp(time).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, whole: Sequence[str]) -> None:
    """A table whose `whole` columns are never cut or broken, so that the names in them can be copied.

    Other columns fold; where that is not enough, lines are longer than the terminal is wide.
    """
    from rich.markup import escape
    from rich.measure import Measurement
    from rich.table import Table

    table = Table()
    for column in columns:
        table.add_column(column, no_wrap=column in whole, overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    console = console_for()
    needed = Measurement.get(console, console.options.update(width=_UNLIMITED), table).minimum
    console.width = max(console.width, needed)
    console.print(table)


def console_for(*, err: bool = False) -> Any:
    """A console to print tables and colours on."""
    from rich.console import Console

    return Console(stderr=err)


console = Console(highlight=False)


def note(text: str) -> None:
    """Print something that was not asked for but should be known."""
    console.print(f"Note: {without_password(text)}", style="yellow", markup=False, soft_wrap=True)

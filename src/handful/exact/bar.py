"""A bar that shows how many items are picked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def bar(total: int) -> Iterator[Callable[[int, int], None]]:
    """A Rich bar on standard error."""
    columns = (TextColumn("picking"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("picking", total=total)
        yield lambda picked, of: progress.update(task, completed=picked, total=of)

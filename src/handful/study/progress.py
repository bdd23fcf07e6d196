"""A bar that shows how far a run is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from rich.console import Console

    from handful.study.running import ProgressCallback, RunProgress


@contextmanager
def bar(console: Console | None = None) -> Iterator[ProgressCallback]:
    """A Rich bar over the budget, or over the rounds where there is none."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[said]}"), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("asking", total=1.0, said="")

        def show(now: RunProgress) -> None:
            done = now.picked / now.k if now.budget is None else now.answers / max(now.budget, 1)
            of = "" if now.budget is None else f" of {now.budget:,}"
            said = f"{now.picked} of {now.k} picked, {now.answers:,}{of} answers"
            progress.update(task, completed=1.0 if now.picked == now.k else done, said=said)

        yield show

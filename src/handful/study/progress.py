"""A bar that shows how far a run is: in a terminal by Rich, in a notebook by HTML that replaces itself."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from handful import notebook

if TYPE_CHECKING:
    from rich.console import Console

    from handful.study.running import ProgressCallback, RunProgress


def bar(console: Console | None = None) -> AbstractContextManager[ProgressCallback]:
    """A bar over the budget, or over the rounds where there is none."""
    # Rich would draw in a notebook too, but warns where ipywidgets is not installed.
    return _notebook_bar() if console is None and _in_notebook() else _terminal_bar(console)


@contextmanager
def _terminal_bar(console: Console | None) -> Iterator[ProgressCallback]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[said]}"), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("asking", total=1.0, said="")
        yield lambda now: progress.update(task, completed=_share(now), said=_said(now))


@contextmanager
def _notebook_bar() -> Iterator[ProgressCallback]:
    ipython: Any = import_module("IPython.display")  # which has types for some of it only
    begun = time.monotonic()
    drawn = ipython.display(ipython.HTML(notebook.card("asking", notebook.bar(0.0, "done"))), display_id=True)

    def show(now: RunProgress) -> None:
        said = f"{_said(now)}, {time.monotonic() - begun:,.0f} s"
        drawn.update(ipython.HTML(notebook.card(said, notebook.bar(_share(now), "done"))))

    yield show


def _in_notebook() -> bool:
    """Whether cells show HTML: so it is in Jupyter's kernels, and not in IPython's terminal."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def _share(now: RunProgress) -> float:
    """How much is done, from 0 to 1."""
    if now.picked == now.k:
        return 1.0
    return now.picked / now.k if now.budget is None else now.answers / max(now.budget, 1)


def _said(now: RunProgress) -> str:
    of = "" if now.budget is None else f" of {now.budget:,}"
    return f"{now.picked} of {now.k} picked, {now.answers:,}{of} answers"

"""`handful warm`: compile before somebody waits for it."""

from __future__ import annotations

import typer

from handful.cli import app, say


@app.command()
def warm() -> None:
    """Compile all explorers now, so that no later study has to wait for it.

    Compiled code is kept beside the package, or in your cache folder where that cannot be written, or where the
    environment variable NUMBA_CACHE_DIR says. It is compiled anew when the package, Numba or Python change.
    """
    import logging
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from handful.core.kernels import COMPILING, can_keep, seconds_compiling
    from handful.lab.warming import tasks

    console = Console(stderr=True)
    logging.getLogger(COMPILING).setLevel(logging.ERROR)  # the bar says it
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    started, before = time.perf_counter(), seconds_compiling()
    with Progress(*columns, console=console, transient=True) as progress:
        ahead = list(tasks())
        bar = progress.add_task("", total=len(ahead))
        for name, run in ahead:
            progress.update(bar, description=name)
            run()
            progress.advance(bar)
    took = time.perf_counter() - started
    if not can_keep():
        say("no folder can be written, so nothing was kept: let NUMBA_CACHE_DIR name one")
        raise typer.Exit(1)
    if seconds_compiling() > before:
        say(f"compiled in {took:.0f} s, and kept for the next time")
    else:
        say("all is compiled already")

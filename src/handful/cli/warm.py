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
    from rich.console import Console

    from handful.compilation import compile_ahead
    from handful.kernels import can_keep

    took = compile_ahead(Console(stderr=True))
    if not can_keep():
        say("no folder can be written, so nothing was kept: let NUMBA_CACHE_DIR name one")
        raise typer.Exit(1)
    say("all is compiled already" if took is None else f"compiled in {took:.0f} s, and kept for the next time")

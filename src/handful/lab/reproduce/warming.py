"""Compile before measuring: the first run of an explorer on a machine takes long, and would spoil the time left."""

from __future__ import annotations

from time import perf_counter

from rich.console import Console

from handful.lab.reproduce.world import CERTIFIED, CHAINED, DUELS, FULL, WORTH, comparisons, values

NOTICEABLE_S = 5.0


def warm(console: Console) -> None:
    """Run each kind of explorer once. Compiled code is kept on disk, so that later runs only load it."""
    started = perf_counter()
    with console.status("Compiling the explorers: up to two minutes the first time, seconds afterwards"):
        for series in (FULL, CERTIFIED, CHAINED, WORTH):
            values(series, 1.0, 0, budget=400)
        for series in (FULL, DUELS):
            comparisons(series, 1.0, 1, 0, 400)
    if perf_counter() - started > NOTICEABLE_S:
        console.print(f"Compiled in {perf_counter() - started:.0f} s; kept for the next time.", highlight=False)

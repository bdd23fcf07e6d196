"""When compiled code pays: not for small tables, nor for the first large run of a process, which would compile."""

from __future__ import annotations

LARGE = 1_000_000  # cells: where compiled code pays from the second run on
RUNS = [False]  # whether a large run was made in this process


def compiling_pays(cells: int) -> bool:
    """Whether bounds of gains in a table of so many cells shall be tightened by compiled code."""
    return cells >= LARGE and RUNS[0]


def run_made(cells: int) -> None:
    """A run over so many cells has begun."""
    RUNS[0] = RUNS[0] or cells >= LARGE

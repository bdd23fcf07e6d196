"""When compiled code pays: not for small tables, nor for the first large run of a process, which would compile."""

from __future__ import annotations

from handful.objectives.arrays import Sparse, Table2D

LARGE, HUGE = 1_000_000, 30_000_000  # cells: where compiled code pays from the second run on, and at once
RUNS = [False]  # whether a large run was made in this process


def tighten_now(matrix: Table2D) -> bool:
    """Whether bounds of gains shall be tightened by compiled code."""
    if isinstance(matrix, Sparse) or matrix.size < LARGE:
        return False
    seen, RUNS[0] = RUNS[0], True
    return seen or matrix.size >= HUGE

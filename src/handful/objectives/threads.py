"""How many cores this process may use, and work on all of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

PARALLEL = 25_000_000  # cells from which on all cores share the work


def cores() -> int:
    """How many cores the system gives this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shared(cells: int) -> bool:
    """Whether work on so many cells is shared by several cores."""
    return cells >= PARALLEL and cores() > 1


def in_parts(work: Callable[..., object], rows: int, cells: int, common: tuple[Any, ...]) -> None:
    """Do work(first, last, *common) on all rows, on all cores where it is much."""
    threads = min(cores(), rows) if shared(cells) else 1
    if threads == 1:
        work(0, rows, *common)
        return
    edges = [rows * part // threads for part in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda first, last: work(first, last, *common), edges[:-1], edges[1:]))

"""Representatives of embeddings: `maximize` from features beside twelve lines of NumPy, on one core and on all.

    python -m benchmarks.embeddings            some minutes
    python -m benchmarks.embeddings --large    hours: up to 1,000,000 rows

Each figure is measured in a process of its own, and is the wall time of fifty picks, the making of similarities
included; the quicker of two runs counts. The twelve lines hold the whole table in float32; where it does not fit into
memory there is a dash.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import subprocess
import sys
import time
from typing import Any

import numpy as np

from handful import maximize
from handful.objectives import FacilityLocation
from handful.objectives.arrays import free_memory

PICKS = 50
ROWS, LARGE_ROWS = (5_000, 20_000), (40_000, 100_000, 1_000_000)
COLUMNS = (64, 384, 1024)


def by_handful(features: np.ndarray) -> list[int]:
    """What is measured."""
    return list(maximize(FacilityLocation.from_features(features), PICKS).indices)


def by_twelve_lines(features: np.ndarray) -> list[int]:
    """Lazy greedy on a table of all similarities."""
    unit = features.astype(np.float32)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    table = unit @ unit.T
    served, picks = np.zeros(len(table), dtype=np.float32), list[int]()
    heap = [(-gain, item, 0) for item, gain in enumerate(table.sum(axis=1))]
    heapq.heapify(heap)
    while len(picks) < PICKS:
        _, item, known = heap[0]
        if known == len(picks):
            picks.append(heapq.heappop(heap)[1])
            np.maximum(served, table[item], out=served)
        else:
            heapq.heapreplace(heap, (-np.maximum(table[item] - served, 0).sum(), item, len(picks)))
    return picks


def measure(way: str, rows: int, columns: int) -> None:
    """One cell, in this process."""
    features = np.random.default_rng(0).random((rows, columns))
    began = time.perf_counter()
    picks = (by_handful if way == "handful" else by_twelve_lines)(features)
    print(json.dumps({"seconds": time.perf_counter() - began, "picks": picks}))


def measured(way: str, rows: int, columns: int, one_core: bool) -> dict[str, Any] | None:
    """One cell, in a process of its own; None where the table does not fit."""
    if way != "handful" and 4 * rows * rows > 0.8 * free_memory():
        return None
    few = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"} if one_core else {}
    command = [sys.executable, __file__, "--measure", way, str(rows), str(columns)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **few})
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def best_of_two(rows: int, columns: int, one_core: bool) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The quicker run of each way, in turns: a machine may be slow to give memory for the first time."""
    found = [[measured(way, rows, columns, one_core) for way in ("handful", "twelve lines")] for _ in range(2)]
    ours, theirs = ([run for run in runs if run is not None] for runs in zip(*found, strict=True))
    quick = [min(runs, key=lambda run: run["seconds"]) if runs else None for runs in (ours, theirs)]
    assert quick[0] is not None
    return quick[0], quick[1]


def main() -> None:
    """Print the table, a row at a time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="also 40,000 to 1,000,000 rows")
    parser.add_argument("--measure", nargs=3, metavar=("WAY", "ROWS", "COLUMNS"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure[0], int(given.measure[1]), int(given.measure[2]))
        return
    print("| rows × columns | cores | handful, s | twelve lines, s | picks alike |\n|---|---|---:|---:|---:|")
    for rows in ROWS + (LARGE_ROWS if given.large else ()):
        for columns in COLUMNS:
            for one_core in (True, False):
                ours, theirs = best_of_two(rows, columns, one_core)
                other = f"{theirs['seconds']:.2f}" if theirs else "–"
                same = "–" if theirs is None else "yes" if theirs["picks"] == ours["picks"] else "no"
                cores = "one" if one_core else "all"
                print(f"| {rows:,} × {columns:,} | {cores} | {ours['seconds']:.2f} | {other} | {same} |", flush=True)


if __name__ == "__main__":
    main()

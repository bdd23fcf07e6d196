"""Run the measurements, and read figures with their targets from them."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure as Drawing

from benchmarks.answers.targets import Figure
from handful.errors import InvalidProblem

WORKER = Path(__file__).with_name("worker.py")
PEERS = ("apricot", "submodlib", "pyversity")

# What is measured by whom, in this order.
CASES: dict[str, tuple[str, ...]] = {
    "similarity 2,000": ("handful", "apricot", "submodlib"),
    "similarity 10,000": ("handful", "apricot", "submodlib"),
    "features 10,000": ("handful", "apricot", "submodlib"),
    "feature-based": ("handful", "apricot", "submodlib"),
    "mmr": ("handful", "pyversity"),
    "log det": ("handful", "numpy"),
    "million feature-based": ("handful",),
    "million facility": ("handful",),
}
QUICK = ("similarity 2,000", "mmr", "log det")

# How many times faster than whom.
TARGETS = {
    ("similarity 2,000", "apricot"): 20.0,
    ("similarity 2,000", "submodlib"): 15.0,
    ("similarity 10,000", "apricot"): 15.0,
    ("similarity 10,000", "submodlib"): 50.0,
    ("features 10,000", "apricot"): 1.0,
    ("features 10,000", "submodlib"): 1.0,
    ("feature-based", "apricot"): 50.0,
    ("feature-based", "submodlib"): 5.0,
    ("mmr", "pyversity"): 1.0,
    ("log det", "numpy"): 0.5,
}


@dataclass(frozen=True)
class Measured:
    """One case by one library: processor seconds (wall seconds for the millions, on all cores) and megabytes."""

    case: str
    library: str
    first: float
    warm: float
    peak: float
    picks: tuple[int, ...]


def peers_python(folder: Path) -> Path:
    """The interpreter of the peers' environment."""
    found = folder / "bin" / "python"
    if not found.exists():
        raise InvalidProblem(f"the other packages are not in {folder}: make bench-peers installs them, or give --peers")
    return found


def measure(
    cases: Sequence[str], peers: Path, done: Callable[[Measured], object], libraries: Iterable[str] = ()
) -> list[Measured]:
    """Each case by each library, one after the other."""
    wanted = set(libraries)
    found = []
    for case in cases:
        for library in CASES[case]:
            if wanted and library not in wanted:
                continue
            python = peers_python(peers) if library in PEERS else Path(sys.executable)
            found.append(_measured(case, library, python))
            done(found[-1])
    return found


def _measured(case: str, library: str, python: Path) -> Measured:
    one = {} if case.startswith("million") else {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [str(python), str(WORKER), case, library]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **one})
    if ran.returncode:
        raise InvalidProblem(f"measuring {case} with {library} failed: {ran.stderr.strip().splitlines()[-1:]}")
    said: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    clock = "wall" if case.startswith("million") else "processor"
    return Measured(case, library, said["first"][clock], said["warm"][clock], said["peak"], tuple(said["picks"]))


def figures(measured: Sequence[Measured]) -> list[Figure]:
    """How many times faster, and how much memory, beside what is aimed at."""
    by = {(m.case, m.library): m for m in measured}
    found = []
    for (case, library), m in by.items():
        ours = by.get((case, "handful"))
        if library == "handful" or ours is None:
            continue
        target = TARGETS.get((case, library))
        for what, theirs, mine in (("first call", m.first, ours.first), ("warm", m.warm, ours.warm)):
            aim = target if what == "warm" else None
            sense = "≥" if aim is not None else ""
            note = f"{theirs:.3g} s against {mine:.3g} s"
            found.append(Figure(case, f"than {library}, {what}", theirs / mine, "×", sense, aim, note))  # type: ignore[arg-type]
    pairs = by.get(("mmr", "handful")), by.get(("mmr", "pyversity"))
    if pairs[0] is not None and pairs[1] is not None:
        same = sum(a == b for a, b in zip(pairs[0].picks, pairs[1].picks, strict=True)) / len(pairs[0].picks)
        found.append(Figure("mmr", "picks equal to pyversity's", same, "share", "≥", 1.0))
    for case, limit in (("features 10,000", 350.0), ("million feature-based", 2048.0), ("million facility", 2048.0)):
        if (case, "handful") in by:
            found.append(Figure(case, "peak memory, MB", by[case, "handful"].peak, "", "≤", limit))
    for case, limit in (("million feature-based", 60.0), ("million facility", 300.0)):
        if (case, "handful") in by:
            found.append(Figure(case, "seconds on all cores", by[case, "handful"].first, "", "≤", limit))
    return found


def times_markdown(measured: Sequence[Measured]) -> str:
    """What was measured, for the documentation."""
    lines = ["| case | by | first call, s | warm, s | peak, MB |", "|---|---|---:|---:|---:|"]
    lines += [f"| {m.case} | {m.library} | {m.first:.3g} | {m.warm:.3g} | {m.peak:,.0f} |" for m in measured]
    return "\n".join(lines) + "\n"


def times_csv(measured: Sequence[Measured]) -> str:
    """What was measured, for a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("case", "library", "first_s", "warm_s", "peak_mb"))
    writer.writerows((m.case, m.library, m.first, m.warm, m.peak) for m in measured)
    return out.getvalue()


COLOURS = {
    "handful": "#0072B2",
    "apricot": "#E69F00",
    "submodlib": "#009E73",
    "pyversity": "#CC79A7",
    "numpy": "#888888",
}


def draw(measured: Sequence[Measured], *files: Path) -> None:
    """Draw, and save under each name."""
    figure = Drawing(figsize=(11, 0.34 * len(measured) + 1.6), layout="constrained")
    axis = figure.subplots()
    for row, m in enumerate(measured):
        axis.barh(row - 0.2, m.first, 0.38, color=COLOURS[m.library], alpha=0.45)
        axis.barh(row + 0.2, m.warm, 0.38, color=COLOURS[m.library])
    axis.set_yticks(range(len(measured)), [f"{m.case}, {m.library}" for m in measured])
    axis.invert_yaxis()
    axis.set_xscale("log")
    axis.set_xlabel("seconds; pale: the first call of a process, full: warm")
    axis.spines[["top", "right"]].set_visible(False)
    for file in files:
        figure.savefig(file, dpi=130)

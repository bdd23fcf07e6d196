"""The measurements as a picture: first calls and warm ones, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from handful.errors import MissingExtra
from handful.lab.bench.exact.measuring import Measured

COLOURS = {
    "handful": "#0072B2",
    "apricot": "#E69F00",
    "submodlib": "#009E73",
    "pyversity": "#CC79A7",
    "numpy": "#888888",
}


def draw(measured: Sequence[Measured], *files: Path) -> None:
    """Draw, and save under each name."""
    try:
        from matplotlib.figure import Figure as Drawing
    except ImportError:
        raise MissingExtra("a picture of the benchmark", "plots") from None
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

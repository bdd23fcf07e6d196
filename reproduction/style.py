"""One style for all figures: readable in print and in grey, colours by Okabe and Ito, ours always dashed and hollow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reproduction.statistics import Interval
from reproduction.world import CERTIFIED, CHAINED, CHOICES, DUELS, FIXED, FULL, OURS, UNIFORM, WORTH, G, O

INK, FAINT = "#222222", "#8A8A8A"
OURS_SUFFIX = " (ours, not in the paper)"


@dataclass(frozen=True)
class Look:
    """How a line is drawn."""

    colour: str
    marker: str
    line: str = "-"
    hollow: bool = False

    def of(self, **more: Any) -> dict[str, Any]:
        """The keyword arguments for Matplotlib, with `more` of them."""
        face = "white" if self.hollow else self.colour
        return {"color": self.colour, "marker": self.marker, "linestyle": self.line, "markerfacecolor": face, **more}


OURS_LOOK = Look("#AA3377", "*", (0, (4, 2)), hollow=True)  # type: ignore[arg-type]
LOOKS: Mapping[str, Look] = {
    FULL: Look("#0072B2", "o"),
    O: Look("#E69F00", "s"),
    G: Look("#009E73", "^"),
    UNIFORM: Look(INK, "D"),
    FIXED: Look(FAINT, "v", ":"),
    CERTIFIED: OURS_LOOK,
    CHAINED: OURS_LOOK,
    WORTH: OURS_LOOK,
    DUELS: OURS_LOOK,
    CHOICES: Look("#CC6677", "P", (0, (1, 1)), hollow=True),  # type: ignore[arg-type]
}
LEVELS = ("#08306B", "#2171B5", "#4FA3D1", "#3B9C8F", "#73A942", "#B5B02A", "#E0A526")
"""From quiet to noisy: dark to light, so that grey print keeps the order."""
SHADES = ("#DCE9F5", "#B3CFE8", "#7FB2D9", "#4A8FC4", "#2167A5", "#0B3F78")
"""Steps of one colour, for sizes from 1 to k."""
MARKERS = ("o", "s", "^", "v", "P", "X", "h")

SETTINGS: Mapping[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.edgecolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.5,
    "lines.markersize": 5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "svg.hashsalt": "handful",
}


def in_style() -> Any:
    """The style for a while, whatever else is set: for drawing and for saving."""
    return mpl.rc_context(cast(Any, SETTINGS))


def canvas(columns: int = 1, *, width: float = 6.6, height: float = 4.4, ratios: Sequence[float] | None = None) -> Any:
    """A figure and its axes."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(1, columns, squeeze=False, width_ratios=ratios)[0]
    return (figure, axes[0]) if columns == 1 else (figure, axes)


def save(figure: Figure, folder: Path, name: str) -> None:
    """PNG for looking, SVG for print; without the date, so that the same numbers give the same files."""
    with in_style():
        figure.savefig(folder / f"{name}.png", dpi=200, metadata={"Software": None})
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})


def legend_below(figure: Figure, axis: Axes, columns: int) -> None:
    """The names of the lines of `axis` below everything, so that the curves keep the width of the page."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)


def label(series: str) -> str:
    """The name of a line; ours are marked."""
    return series + OURS_SUFFIX if series in OURS else series


def curve(axis: Axes, x: Sequence[float], y: Sequence[Interval], look: Look, name: str | None) -> None:
    """A line with a band of 95% intervals."""
    axis.plot(x, [i.mid for i in y], **look.of(label=name, zorder=4 if look.hollow else 3))
    axis.fill_between(x, [i.low for i in y], [i.high for i in y], color=look.colour, alpha=0.15, linewidth=0)


def level(axis: Axes, y: float, text: str, *, dashed: bool = True, above: bool = True, x: float = 0.01) -> None:
    """A horizontal line with its name on it."""
    axis.axhline(y, color=INK, linewidth=1.0, linestyle=(0, (1, 2)) if dashed else "-", zorder=2)
    axis.annotate(
        text, (x, y), xycoords=("axes fraction", "data"), xytext=(0, 3 if above else -3), textcoords="offset points",
        va="bottom" if above else "top", ha="left" if x < 0.5 else "right", fontsize=8, color=INK,
    )  # fmt: skip

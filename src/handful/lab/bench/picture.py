"""The report as one picture of two panels: answers needed for the guarantee; quality against answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from handful.errors import MissingExtra
from handful.lab.bench import values
from handful.lab.bench.answers import BenchReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

# Okabe and Ito's colours: told apart by colour-blind readers, and in grey.
COLOURS = {
    "topx": "#333333",
    "topx, τ = 1": "#333333",
    "topx, τ = 3": "#888888",
    "uniform": "#E69F00",
    "worth": "#0072B2",
    "duels": "#009E73",
}
DASHES = ("-", "--", ":")
SHADES = ("#56B4E9", "#0072B2", "#003F66")


def can_draw(report: BenchReport) -> bool:
    """Whether anything of the report is in the picture: not all sections are."""
    return bool(_needed_answers(report) or _titles(report))


def draw(report: BenchReport, *files: Path) -> Drawing:
    """Draw, and save under each name."""
    try:
        from matplotlib.figure import Figure as Drawing
    except ImportError:
        raise MissingExtra("a picture of the benchmark", "plots") from None
    figure = Drawing(figsize=(13, 5.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    _needed(left, report)
    _quality(right, report)
    for file in files:
        figure.savefig(file, dpi=150)
    return figure


def _needed_answers(report: BenchReport) -> dict[str, float]:
    """Answers needed for the guarantee, by what is measured."""
    return {f.what: f.value for f in report.figures if f.section == values.GUARANTEE and f.unit == "answers"}


def _titles(report: BenchReport) -> list[str]:
    """Which curves are drawn."""
    values_first = [title for title in report.curves if title.startswith("values")][:1]
    return values_first + [title for title in report.curves if title.startswith("comparisons")]


def _needed(axis: Axes, report: BenchReport) -> None:
    needed = _needed_answers(report)
    names = list(values.PROVERS)
    height = 0.8 / len(values.HALF_WIDTHS)
    for at, half_width in enumerate(values.HALF_WIDTHS):
        for row, name in enumerate(names):
            answers = needed.get(f"half-width {half_width:g}, {name}")
            if answers is None:
                continue
            y = row + (at - 1) * height
            label = f"half-width {half_width:g}" if row == 0 else None
            axis.barh(y, answers, height, color=SHADES[at], label=label)
            axis.text(answers * 1.1, y, f"{answers:,.0f}", va="center", fontsize=8, color="#333333")
    axis.set_xscale("log")
    axis.set_xlim(100, 2e7)
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.set_xlabel("answers (N = 60, k = 6, ε = 0.1, δ = 0.05)")
    axis.set_title("Answers needed for the guarantee", fontweight="bold")
    if needed:
        axis.legend(loc="lower right", frameon=False)
    axis.spines[["top", "right"]].set_visible(False)


def _quality(axis: Axes, report: BenchReport) -> None:
    for dash, title in zip(DASHES, _titles(report), strict=False):
        lines = report.curves[title]
        for name, points in lines.items():
            x, y = [p.per_item for p in points], [p.quality for p in points]
            axis.plot(x, y, color=COLOURS[name], linestyle=dash, marker=".", label=f"{name} ({title})")
    axis.axhline(0.95, color="#BBBBBB", linewidth=0.8, zorder=0)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set_xlabel("answers per item and round")
    axis.set_ylabel("f over exact greedy")
    axis.set_title("Quality against answers", fontweight="bold")
    if report.curves:
        axis.legend(fontsize=7, frameon=False, loc="lower right", handlelength=4)
    axis.spines[["top", "right"]].set_visible(False)

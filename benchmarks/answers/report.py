"""All sections of the benchmark, the figures that come of them, and the report as tables and a picture."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from rich.table import Table

from benchmarks.answers import calibration, choices, comparisons, spending, values
from benchmarks.answers.runs import FULL, BenchPlan, Run, RunOutcome, perform_all
from benchmarks.answers.targets import CurvePoint, Figure
from handful.wording import counted

Advance = Callable[[str, int, int], object]  # section, runs done since, runs in all


@dataclass(frozen=True)
class BenchReport:
    """The figures, and the curves for the picture: by panel title, then by name."""

    figures: tuple[Figure, ...]
    curves: dict[str, dict[str, list[CurvePoint]]]

    @property
    def missed(self) -> tuple[Figure, ...]:
        """Figures that do not reach their target."""
        return tuple(f for f in self.figures if f.met is False)

    @property
    def unjudged(self) -> tuple[Figure, ...]:
        """Figures with a target of which too few runs were made to say whether it is reached."""
        return tuple(f for f in self.figures if f.target is not None and not f.judged)


def sections(plan: BenchPlan) -> dict[str, tuple[Iterable[Run], Callable[[Sequence[RunOutcome]], Iterable[Figure]]]]:
    """The sections by name: the runs of each, and the function that reads figures from them."""
    return {
        values.GUARANTEE: (values.guarantee_runs(plan), values.guarantee_figures),
        values.RANGE: (values.range_runs(plan), values.range_figures),
        values.MANY: (values.many_runs(plan), values.many_figures),
        values.BUDGET: (values.budget_runs(plan), lambda o: values.budget_figures(o, plan)),
        spending.SPENDING: (spending.spending_runs(plan), spending.spending_figures),
        comparisons.SAVING: (comparisons.saving_runs(plan), comparisons.saving_figures),
        choices.CHOICES: (choices.choice_runs(plan), choices.choice_figures),
        choices.ALONE: (choices.person_runs(plan), choices.person_figures),
        choices.STOPPING: (choices.stopping_runs(plan), choices.stopping_figures),
        calibration.CALIBRATION: (calibration.calibration_runs(plan), calibration.calibration_figures),
        comparisons.LINKS: (comparisons.link_runs(plan), comparisons.link_figures),
        comparisons.FLIGHT: (comparisons.flight_runs(plan), comparisons.flight_figures),
        comparisons.PRIOR: (comparisons.prior_runs(plan), comparisons.prior_figures),
    }


def bench(plan: BenchPlan, processes: int, advance: Advance, only: Sequence[str] = ()) -> BenchReport:
    """Run the sections (all, or those that `only` names) and read the figures. Targets are judged where there are at
    least half as many runs as in full.
    """
    full = sections(FULL)
    figures: list[Figure] = []
    curves: dict[str, dict[str, list[CurvePoint]]] = {}
    for name, (runs, read) in sections(plan).items():
        if only and name not in only:
            continue
        todo = list(runs)
        total = len(todo)
        outcomes = perform_all(todo, processes, lambda done, name=name, total=total: advance(name, done, total))  # type: ignore[misc]
        judged = 2 * fewest_runs(todo) >= fewest_runs(full[name][0])
        figures.extend(replace(figure, judged=judged) for figure in read(outcomes))
        if name == values.BUDGET:
            for half_width in plan.half_widths:
                curves[f"values, half-width {half_width:g}"] = values.budget_curves(outcomes, half_width)
        if name == comparisons.SAVING:
            for beta in comparisons.SAVINGS:
                curves[f"comparisons, β = {beta:g}"] = comparisons.saving_curves(outcomes, beta)
    return BenchReport(tuple(figures), curves)


def fewest_runs(runs: Iterable[Run]) -> int:
    """How many runs the series with the fewest has."""
    return min(Counter(run.series for run in runs).values())


HEADINGS = ("section", "what", "measured", "target", "met", "note")


def shown(figure: Figure, value: float | None) -> str:
    """A value in its unit, rounded as its unit deserves."""
    if value is None:
        return ""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    match figure.unit:
        case "answers":
            return f"{value:,.0f}"
        case "×":
            return f"{value:.1f}×"
        case "share":
            return f"{value:.3f}"
        case "f/greedy":
            return f"{value:.3f}"
    return f"{value:.2f}"


def cells(figure: Figure) -> tuple[str, ...]:
    """One line of the table."""
    target = f"{figure.sense} {shown(figure, figure.target)}" if figure.target is not None else ""
    met = {True: "yes", False: "no", None: "not judged" if target and not figure.judged else ""}[figure.met]
    return figure.section, figure.what, shown(figure, figure.value), target, met, figure.note


def screen(report: BenchReport, title: str) -> Table:
    """The report as a table on the terminal."""
    table = Table(title=title)
    for heading in HEADINGS[1:]:
        table.add_column(heading, justify="right" if heading in ("measured", "target") else "left")
    section = ""
    for figure in report.figures:
        if figure.section != section:
            section = figure.section
            table.add_section()
            table.add_row(f"[bold]{section}")
        colour = {True: "green", False: "red", None: ""}[figure.met]
        line = cells(figure)[1:]
        table.add_row(*line, style=colour)
    return table


def summary(report: BenchReport) -> list[str]:
    """How many targets are met, which are not, and how many are not judged, in lines."""
    aimed = [figure for figure in report.figures if figure.met is not None]
    lines = [f"{len(aimed) - len(report.missed)} of {counted(len(aimed), 'target')} met."]
    for section, what, measured, target, *_ in map(cells, report.missed):
        lines.append(f"Not met: {section}, {what}: {measured}, aimed at {target}")
    if report.unjudged:
        lines.append(f"Not judged, for too few runs: {counted(len(report.unjudged), 'other target')}.")
    return lines


def markdown(figures: Sequence[Figure]) -> str:
    """For the documentation: a table a section, with a row per setting and a column per measure.

    "half-width 1, sharp: mean f" is the measure "mean f" of the setting "half-width 1, sharp". A target stands behind
    the value, with ✓ where it is met and ✗ where it is not, or that it is not judged.
    """
    sections: dict[str, list[Figure]] = {}
    for figure in figures:
        sections.setdefault(figure.section, []).append(figure)
    return "\n".join(f"### {name[0].upper()}{name[1:]}\n\n{_pivoted(some)}" for name, some in sections.items())


def _pivoted(figures: Sequence[Figure]) -> str:
    """One section as a table without empty columns."""
    rows: dict[str, dict[str, str]] = {}
    for figure in figures:
        setting, _, measure = figure.what.partition(": ")
        row = rows.setdefault(setting, {})
        row[measure or figure.unit or "measured"] = _with_target(figure)
        if figure.note:
            row["note"] = f"{row['note']}; {figure.note}" if "note" in row else figure.note
    found = dict.fromkeys(column for row in rows.values() for column in row)
    columns = [column for column in found if column != "note"] + ["note"] * ("note" in found)
    lines = [
        "| " + " | ".join(["setting", *columns]) + " |",
        "|" + "|".join(["---", *("---" if column == "note" else "---:" for column in columns)]) + "|",
    ]
    lines += ["| " + " | ".join([name, *(row.get(c, "") for c in columns)]) + " |" for name, row in rows.items()]
    return "\n".join(lines) + "\n"


def _with_target(figure: Figure) -> str:
    value = shown(figure, figure.value)
    if figure.target is None:
        return value
    verdict = {True: " ✓", False: " ✗", None: ", not judged"}[figure.met]
    return f"{value} ({figure.sense} {shown(figure, figure.target)}{verdict})"


def csv_text(figures: Sequence[Figure]) -> str:
    """The figures as CSV, unrounded."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("section", "what", "measured", "unit", "sense", "target", "met", "note"))
    for f in figures:
        writer.writerow((f.section, f.what, repr(f.value), f.unit, f.sense, f.target, f.met, f.note))
    return out.getvalue()


def json_text(report: BenchReport) -> str:
    """Figures and curves as JSON."""
    figures = [
        {
            "section": f.section,
            "what": f.what,
            "measured": f.value if math.isfinite(f.value) else None,
            "unit": f.unit,
            "sense": f.sense,
            "target": f.target,
            "met": f.met,
            "note": f.note,
        }
        for f in report.figures
    ]
    curves = {
        title: {name: [p._asdict() for p in points] for name, points in lines.items()}
        for title, lines in report.curves.items()
    }
    return json.dumps({"figures": figures, "curves": curves}, ensure_ascii=False, indent=1) + "\n"


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

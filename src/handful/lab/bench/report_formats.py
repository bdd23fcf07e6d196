"""The report as a table on the screen, and as Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence

from rich.table import Table

from handful.lab.bench.answers import BenchReport
from handful.lab.bench.targets import Figure
from handful.wording import counted

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

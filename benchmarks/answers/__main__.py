"""`python -m benchmarks.answers`: how many answers each explorer needs, as tables and a picture."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.answers.report import bench, can_draw, csv_text, draw, json_text, markdown, screen, sections, summary
from benchmarks.answers.runs import FULL, QUICK
from handful.wording import counted


def main(
    quick: Annotated[
        bool, typer.Option("--quick", help="A look at fewer runs, about four minutes of one core.")
    ] = False,
    output: Annotated[Path, typer.Option(help="Folder for the table (.md, .csv, .json) and the picture.")] = Path(
        "bench-answers"
    ),
    processes: Annotated[
        int | None, typer.Option(min=1, help="Processes to run on, else one per core; figures do not depend on it.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The first album; the others follow.")] = 0,
    section: Annotated[
        list[str] | None, typer.Option(help="Only this section; may be given several times. A wrong name lists all.")
    ] = None,
) -> None:
    """Measure how many answers each explorer needs, beside what is aimed at."""
    plan = replace(QUICK if quick else FULL, first_seed=seed)
    known, only = list(sections(plan)), section or []
    for name in only:
        if name not in known:
            raise typer.BadParameter(f"there is no section {name!r}; there are: {'; '.join(known)}")
    console = Console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bars: dict[str, int] = {}

        def advance(name: str, done: int, total: int) -> None:
            if name not in bars:
                bars[name] = progress.add_task(name, total=total)
                if not console.is_terminal:
                    typer.echo(f"{name}: {counted(total, 'run')}", err=True)
            progress.advance(progress.task_ids[bars[name]], done)

        report = bench(plan, processes or os.cpu_count() or 1, advance, only)
    output.mkdir(parents=True, exist_ok=True)
    (output / "answers.md").write_text(markdown(report.figures), encoding="utf-8")
    (output / "answers.csv").write_text(csv_text(report.figures), encoding="utf-8")
    (output / "answers.json").write_text(json_text(report), encoding="utf-8")
    drawn = can_draw(report)
    if drawn:
        draw(report, output / "answers.png", output / "answers.svg")
    console.print(screen(report, "Answers needed, and quality against answers"))
    for line in summary(report):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    console.print(f"Table and picture: {output}" if drawn else f"Table: {output}", soft_wrap=True)


if __name__ == "__main__":
    typer.run(main)

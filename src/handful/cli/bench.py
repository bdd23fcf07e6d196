"""`handful bench`: measure the explorers."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from handful.cli import app, needs, say
from handful.wording import counted

group = typer.Typer(help="Measure the explorers on simulated answers.", no_args_is_help=True)
app.add_typer(group, name="bench")


@group.callback()
def bench_group() -> None:
    """Measure the explorers on simulated answers."""


@group.command()
def answers(
    quick: bool = typer.Option(
        False, "--quick", help="A look at fewer runs, about four minutes of one core, instead of the full figures."
    ),
    output: Path = typer.Option(Path("bench-answers"), help="Folder for the table (.md, .csv, .json) and the picture."),
    processes: int | None = typer.Option(
        None, min=1, help="Processes to run on, else one per core; the figures do not depend on it."
    ),
    seed: int = typer.Option(0, min=0, help="The first album; the others follow."),
    section: list[str] = typer.Option(
        [], help="Only this section; may be given several times. A wrong name lists all."
    ),
) -> None:
    """Measure how many answers each explorer needs, beside what is aimed at."""
    needs("plots", "the picture of the benchmark")
    from dataclasses import replace

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from handful.errors import InvalidProblem
    from handful.lab.bench.answers import bench, sections
    from handful.lab.bench.picture import can_draw, draw
    from handful.lab.bench.plans import FULL, QUICK
    from handful.lab.bench.report_formats import csv_text, json_text, markdown, screen, summary

    plan = replace(QUICK if quick else FULL, first_seed=seed)
    known = list(sections(plan))
    for name in section:
        if name not in known:
            raise InvalidProblem(f"there is no section {name!r}; there are: {'; '.join(known)}")
    console = Console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bars: dict[str, int] = {}

        def advance(name: str, done: int, total: int) -> None:
            if name not in bars:
                bars[name] = progress.add_task(name, total=total)
                if not console.is_terminal:
                    say(f"{name}: {counted(total, 'run')}")
            progress.advance(progress.task_ids[bars[name]], done)

        report = bench(plan, processes or os.cpu_count() or 1, advance, section)
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


@group.command(epilog="[bold]Example[/bold]  handful bench exact --peers .venv-peers")
def exact(
    quick: bool = typer.Option(False, "--quick", help="The three shortest cases."),
    peers: Path = typer.Option(Path(".venv-peers"), help="The environment of the other packages (make bench-peers)."),
    output: Path = typer.Option(Path("bench-exact"), help="Folder for the tables (.md, .csv) and the picture."),
    case: list[str] = typer.Option([], help="Only this case; may be given several times."),
) -> None:
    """Measure known functions beside apricot-select, submodlib-py and pyversity, as a user calls them."""
    needs("plots", "the picture of the benchmark")
    from handful.errors import InvalidProblem
    from handful.lab.bench.exact.measuring import CASES, QUICK, figures, measure, times_csv, times_markdown
    from handful.lab.bench.exact.picture import draw
    from handful.lab.bench.report_formats import csv_text, markdown

    for name in case:
        if name not in CASES:
            raise InvalidProblem(f"there is no case {name!r}; there are: {'; '.join(CASES)}")
    wanted = case or (QUICK if quick else tuple(CASES))
    measured = measure(wanted, peers, lambda m: say(f"{m.case}, {m.library}: {m.first:.3g} s, warm {m.warm:.3g} s"))
    found = figures(measured)
    output.mkdir(parents=True, exist_ok=True)
    (output / "times.md").write_text(times_markdown(measured), encoding="utf-8")
    (output / "times.csv").write_text(times_csv(measured), encoding="utf-8")
    (output / "exact.md").write_text(markdown(found), encoding="utf-8")
    (output / "exact.csv").write_text(csv_text(found), encoding="utf-8")
    draw(measured, output / "exact.png")
    typer.echo(markdown(found))
    aimed = [f for f in found if f.met is not None]
    typer.echo(f"{sum(f.met is True for f in aimed)} of {len(aimed)} targets met. Tables and picture: {output}")

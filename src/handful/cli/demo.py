"""`handful demo`: the whole thing at work, with nothing to prepare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from handful.cli import app, needs
from handful.wording import counted

if TYPE_CHECKING:
    from rich.console import Console

    from handful.crowd.app import Links
    from handful.crowd.simulation.demo import DemoStatus, DemoSummary
    from handful.images import ImageCollection

K, TERMINAL_BUDGET = 6, 1500
RUNS = 20
"""How often each way is simulated, to be compared."""
METHODS = 5
"""How many ways are simulated."""
BELOW = (0, 0, 0, 2)
"""How far a paragraph is indented below its theme."""


@app.command()
def demo(
    fast: Annotated[bool, typer.Option("--fast", help="People who hardly think: done in a minute or two.")] = False,
    exit_when_done: Annotated[
        bool, typer.Option("--exit-when-done", help="Do not wait for Enter before the server stops.")
    ] = False,
    terminal: Annotated[
        bool, typer.Option("--terminal", help="No server: one study and its rivals, in the terminal.")
    ] = False,
    port: Annotated[int, typer.Option(help="Port of the app; 0 takes a free one.")] = 0,
    folder: Annotated[
        Path | None, typer.Option(help="Where journal and contact sheets go; a new folder if not given.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Another crowd.")] = 0,
    options: Annotated[int, typer.Option(min=2, max=9, help="How many postcards are shown at a time.")] = 4,
) -> None:
    """A drawn Venice collection and a simulated crowd pick six pictures of sixty, for three themes.

    It starts the app on your machine with sixty postcards, sends a hundred simulated people to answer over HTTP,
    and shows the links: open them, watch the summaries grow, or answer along. It ends with the summaries, their
    certificates and contact sheets.

    [bold]Examples[/bold]

      handful demo

      handful demo --fast --exit-when-done

      handful demo --terminal
    """
    from rich.console import Console

    console = Console()
    if terminal:
        _terminal(console, seed)
    else:
        _crowd(console, fast, exit_when_done, port, folder, seed, options)


def _crowd(
    console: Console, fast: bool, exit_when_done: bool, port: int, folder: Path | None, seed: int, options: int
) -> None:
    needs("crowd", "the demo")
    import tempfile

    from rich.markup import escape
    from rich.padding import Padding
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    from handful.crowd.plan import StudyPlan
    from handful.crowd.registry import slug_of
    from handful.crowd.simulation.demo import FAST, HUMAN, run_demo
    from handful.venice import PICTURES, VeniceCrowd, themes, venice

    home = folder or Path(tempfile.mkdtemp(prefix="handful-demo-"))
    collection = venice()
    names = list(themes(collection))
    studies: dict[str, str] = {}
    for theme in names:
        studies[slug_of(theme, studies.keys())] = theme
    columns = (TextColumn("{task.description:24}"), BarColumn(), TextColumn("{task.fields[note]}"), TimeElapsedColumn())
    with Progress(*columns, console=console) as bars:
        taking = bars.add_task("taking them in", total=collection.size, note="")
        tasks: dict[str, TaskID] = {}

        def started(links: Links) -> None:
            for theme, link in links.workers.items():
                bars.console.print(f"  answer along   [link={link}]{link}[/link]  [dim]{theme}[/dim]")
            bars.console.print(f"  watch it grow  [link={links.organizer}]{links.organizer}[/link]")

        def watching(standings: Sequence[DemoStatus]) -> None:
            for s in standings:
                if s.study not in tasks:
                    tasks[s.study] = bars.add_task(s.theme, total=s.budget, note="")
                bars.update(
                    tasks[s.study], completed=s.answers, note=f"{s.answers} answers, {s.chosen} of {s.k} picked"
                )

        def finished(summaries: Sequence[DemoSummary]) -> None:
            bars.stop()
            for summary in summaries:
                console.print(f"\n[bold]{summary.theme}[/bold]: {', '.join(summary.chosen)}", highlight=False)
                console.print(
                    Padding(f"{counted(summary.answers, 'answer')}. {summary.verdict}", BELOW), highlight=False
                )
                for place, said in enumerate(summary.said, start=1):
                    console.print(Padding(f"{place}. {escape(said)}", BELOW), highlight=False)
                console.print(Padding(f"[dim]{escape(summary.certificate)}[/dim]", BELOW), highlight=False)
                console.print(f"  {summary.sheet}", highlight=False, soft_wrap=True)
            console.print("\nPairs, as the paper asks, beside the best of several (all themes' Venice, as simulated):")
            _side_by_side(console, collection, StudyPlan().answers(collection.size, solo=False))
            if not exit_when_done:
                console.input("\nThe pages are still there. Press Enter to stop. ")

        run_demo(
            PICTURES,
            names,
            VeniceCrowd(collection, studies),
            home,
            plan=StudyPlan(options=options),
            crew=replace(FAST if fast else HUMAN, seed=seed),
            port=port,
            ingested=lambda done, total: bars.update(taking, completed=done, total=total),
            started=started,
            watching=watching,
            finished=finished,
        )


def _terminal(console: Console, seed: int) -> None:
    from handful import Preferences, Study, oracles
    from handful.venice import venice

    collection = venice()
    console.print(
        f"{collection.size} images of Venice; a simulated crowd says which of two adds more to the summary.\n"
    )
    study = Study(collection.ids, K, feedback=Preferences(), budget=TERMINAL_BUDGET, seed=seed)
    result = study.run(oracles.compares(collection.objective, oracles.btl(2.0), collection.ids), progress=True)
    tags = {image.id: ", ".join(sorted(image.tags)) for image in collection.images}
    for place, pick in enumerate(result.chosen, 1):
        console.print(f"  {place}. [bold]{pick}[/bold]  [dim]{tags[pick]}[/dim]")
    console.print(f"\n{result.certificate}\n", highlight=False)
    _side_by_side(console, collection, TERMINAL_BUDGET)


def _side_by_side(console: Console, collection: ImageCollection, budget: int) -> None:
    """Pairs, as in the paper, and the best of several, by simulation."""
    from rich.progress import Progress
    from rich.table import Table

    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("pairs and the best of several, simulated", total=METHODS * RUNS)
        rows = compare(collection, budget, 2.0, RUNS, lambda: bar.advance(task))
    table = Table(
        "way to ask and choose", "questions", "f, as a share of exact greedy", title=f"mean of {RUNS} simulated runs"
    )
    for row in rows:
        table.add_row(row.name, f"{row.answers:,}", f"{100 * row.share:.1f}%")
    console.print(table)


@dataclass(frozen=True)
class ChoosingMethod:
    """One way to choose: what it asked, and how good its choice is, as a share of exact greedy."""

    name: str
    answers: int
    share: float


def compare(
    collection: ImageCollection, budget: int, beta: float, runs: int, progress: Callable[[], None] = lambda: None
) -> list[ChoosingMethod]:
    """Pairs by TopX, UNIFORM and duels, and the best of four by duels, beside RANDOM and exact GREEDY; mean of `runs`.

    The best of four is asked as often as pairs are, and a third as often.
    """
    import numpy as np

    from handful import responses
    from handful.explorers.registry import Duels, Explorer, TopX, Uniform
    from handful.problem import Preferences, Problem
    from handful.simulation import greedy, random_set, simulate

    objective = collection.objective
    best = greedy(objective, K)
    methods: list[tuple[str, Explorer, int, int]] = [
        ("pairs: TopX + Borda (the paper)", TopX(), 2, budget),
        ("pairs: UNIFORM", Uniform(), 2, budget),
        ("pairs: duels", Duels(), 2, budget),
        ("best of 4: duels", Duels(), 4, budget),
        ("best of 4: duels", Duels(), 4, budget // 3),
    ]
    rows = []
    for name, settings, options, asked in methods:
        values = []
        for seed in range(runs):
            problem = Problem(objective.size, K, Preferences(options=options), budget=asked, seed=seed)
            made = simulate(settings.build(problem), objective, responses.btl(beta), K, budget=problem.total)
            values.append(made.value)
            progress()
        rows.append(ChoosingMethod(name, asked, float(np.mean(values)) / best.value))
    chance = [random_set(objective, K, seed).value for seed in range(100)]
    rows.append(ChoosingMethod("RANDOM", 0, float(np.mean(chance)) / best.value))
    rows.append(ChoosingMethod("GREEDY, if f were known", best.evaluations, 1.0))
    return rows

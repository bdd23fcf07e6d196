"""`handful price`: what a study will cost, before it starts."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from handful.cli import app, say
from handful.cli.parameters import ExplorerName
from handful.wording import counted


@app.command()
def price(
    items: Annotated[int, typer.Option("--items", "-n", help="How many items there are to pick from.")],
    k: Annotated[int, typer.Option("--k", "-k", help="How many to pick.")],
    noise: Annotated[float | None, typer.Option(help="Answers are numbers with sub-Gaussian noise R.")] = None,
    range_: Annotated[
        tuple[float, float] | None,
        typer.Option("--range", help="Answers are numbers between these two, as in --range 1 5."),
    ] = None,
    preferences: Annotated[bool, typer.Option("--preferences", help="Answers are comparisons of two items.")] = False,
    beta: Annotated[float, typer.Option(help="How sharp comparisons are, for one unit of f.")] = 2.0,
    options: Annotated[int, typer.Option(help="With --preferences: how many items a question shows, 2 to 9.")] = 2,
    epsilon: Annotated[float | None, typer.Option(help="For the guarantee f(S) ≥ (1 − 1/e)·f(OPT) − ε.")] = None,
    ratio: Annotated[float | None, typer.Option(help="For a certified share of the optimum.")] = None,
    quality: Annotated[float | None, typer.Option(help="For a result this good, as a share of exact greedy.")] = None,
    delta: Annotated[float, typer.Option(help="Probability that a guarantee fails.")] = 0.05,
    best_gain: Annotated[float, typer.Option(help="What the best item is worth, in the units of the answers.")] = 1.0,
    explorer: ExplorerName = None,
    runs: Annotated[int, typer.Option(help="Simulated runs.")] = 60,
    as_json: Annotated[bool, typer.Option("--json", help="For a program.")] = False,
) -> None:
    """How many answers will it take? Simulated on collections like yours in size, with a range.

    [bold]Examples[/bold]

      handful price -n 60 -k 6 --preferences --beta 2 --quality 0.95

      handful price -n 60 -k 6 --preferences --options 4 --quality 0.95

      handful price -n 60 -k 6 --noise 0.5 --epsilon 0.1

      handful price -n 60 -k 6 --range 0 5 --best-gain 4 --ratio 0.6
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from handful.cli.selecting import feedback_from
    from handful.errors import InvalidProblem
    from handful.pricing import price as simulated_price

    if not preferences and noise is None and range_ is None:
        raise InvalidProblem(
            "say what an answer is: --noise R or --range LO HI for numbers, --preferences for comparisons"
        )
    known = beta if preferences and epsilon is not None else None
    feedback = feedback_from(noise, range_, preferences, known, options)
    columns = (TextColumn("simulating"), BarColumn(), TextColumn("{task.completed}/{task.total}"), TimeElapsedColumn())
    console = Console(stderr=True)
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task("", total=None)

    def tell(done: int, total: int) -> None:
        """The first call comes once nothing is left to be refused."""
        if done == 0:
            bar.start()
            if not console.is_terminal:
                say(f"simulating {counted(runs, 'run')}, which takes minutes where a guarantee takes many answers")
        bar.update(task, completed=done, total=total)

    try:
        made = simulated_price(
            items,
            k,
            feedback=feedback,
            epsilon=epsilon,
            ratio=ratio,
            quality=quality,
            delta=delta,
            beta=beta,
            best_gain=best_gain,
            explorer=explorer,
            runs=runs,
            progress=tell,
        )
    finally:
        bar.stop()
    said = str(made)
    typer.echo(json.dumps(made.to_dict()) if as_json else f"{said[0].upper()}{said[1:]}.")

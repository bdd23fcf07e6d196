"""`make reproduce`, or `python -m reproduction`: the paper's figures, simulated anew."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from handful.errors import InvalidProblem
from reproduction.cells import CAP, Scale
from reproduction.runner import FIGURES, reproduce


def main(
    figures: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FIGURE]...", help="a b c d e f appendix-b coverage crowd, or all (as if left out)."),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write, and to go on from.")] = Path(
        "reproduced"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Few seeds and settings: a minute.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Lift the cap on queries: takes hours.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure anew what the folder has already.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="The first seed; the others follow it.")] = 0,
    workers: Annotated[int | None, typer.Option(min=1, help="Runs at the same time; else one per core.")] = None,
) -> None:
    """Reproduce the paper's figures in simulation: tables, pictures, and a report of what holds.

    Runs are simulated and capped at 20 million queries each; the cap is drawn. What is measured is kept in the folder:
    after Ctrl-C the same command goes on where it stopped. The same seed gives the same numbers on any number of cores.
    Open report.html in the folder to read what holds and what does not.
    """
    wanted = FIGURES if not figures or "all" in figures else tuple(dict.fromkeys(figures))
    scale = Scale(quick=quick, cap=2**62 if full else CAP, seed=seed)
    try:
        findings = reproduce(wanted, output, scale, fresh=fresh, workers=workers)
    except InvalidProblem as error:
        typer.secho(str(error), err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        again = shlex.join(["python", "-m", "reproduction", *(word for word in sys.argv[1:] if word != "--fresh")])
        typer.secho(f"stopped; what was measured is kept in {output}; to go on: {again}", err=True)
        raise typer.Exit(130) from None
    for finding in findings.values():
        typer.echo(finding.title)
        for claim in finding.claims:
            typer.echo(f"  {claim.holds:14}  {claim.paper}")
    typer.echo(f"Report: {output / 'report.html'}")


if __name__ == "__main__":
    typer.run(main)

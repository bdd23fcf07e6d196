"""`make bench-peers`, or `python -m benchmarks.exact`: known functions beside apricot, submodlib and pyversity."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.answers.report import csv_text, markdown
from benchmarks.exact.measurements import CASES, QUICK, draw, figures, measure, times_csv, times_markdown


def main(
    quick: Annotated[bool, typer.Option("--quick", help="The three shortest cases.")] = False,
    peers: Annotated[Path, typer.Option(help="The environment of the other packages (make bench-peers).")] = Path(
        ".venv-peers"
    ),
    output: Annotated[Path, typer.Option(help="Folder for the tables (.md, .csv) and the picture.")] = Path(
        "bench-exact"
    ),
    case: Annotated[list[str] | None, typer.Option(help="Only this case; may be given several times.")] = None,
) -> None:
    """Measure known functions beside apricot-select, submodlib-py and pyversity, as a user calls them."""
    for name in case or ():
        if name not in CASES:
            raise typer.BadParameter(f"there is no case {name!r}; there are: {'; '.join(CASES)}")
    wanted = case or (QUICK if quick else tuple(CASES))
    measured = measure(
        wanted, peers, lambda m: typer.echo(f"{m.case}, {m.library}: {m.first:.3g} s, warm {m.warm:.3g} s", err=True)
    )
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


if __name__ == "__main__":
    typer.run(main)

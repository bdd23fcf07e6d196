"""`handful recruit demo`: a whole paid study against a fake Prolific, with nothing to prepare and nothing to pay."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from handful.cli import needs
from handful.cli.recruit import group, print_ledger
from handful.wording import counted

if TYPE_CHECKING:
    from handful.crowd.simulation.paid_demo import PaidSummary
    from handful.crowd.web.links import Links

SHOWN = 24  # of the sixty postcards


@group.command()
def demo(
    people: Annotated[int, typer.Option(min=4, help="How many simulated people the plan has.")] = 24,
    answers_each: Annotated[int, typer.Option("--answers-each", min=2, help="Answers from each.")] = 12,
    exit_when_done: Annotated[
        bool, typer.Option("--exit-when-done", help="Do not wait for Enter before the server stops.")
    ] = False,
    port: Annotated[int, typer.Option(help="Port of the app; 0 takes a free one.")] = 0,
    folder: Annotated[
        Path | None, typer.Option(help="Where pictures and journal go; a new folder if not given.")
    ] = None,
) -> None:
    """Run a whole paid study in about a minute: draft, cost, arrivals, an outage, pay, and the ledger at the end.

    Prolific is a fake one on your machine, written from what others observed of the real one, and its people are
    simulated. Nothing leaves your machine and nobody is paid.

    [bold]Examples[/bold]

      handful recruit demo

      handful recruit demo --exit-when-done
    """
    needs("crowd", "the demo")
    import logging
    import shutil
    import tempfile

    from handful.crowd.hosting.registry import slug_of
    from handful.crowd.simulation.paid_demo import run_paid_demo
    from handful.recruit.plan import Plan
    from handful.venice import PICTURES, VeniceCrowd, themes, venice

    logging.getLogger("handful.crowd").addHandler(logging.NullHandler())  # what goes wrong is part of the show
    home = folder or Path(tempfile.mkdtemp(prefix="handful-recruit-"))
    collection = venice()
    theme = next(iter(themes(collection)))
    typer.echo("Prolific is a fake one on this machine, and its people are simulated: nobody is paid.")
    (home / "photos").mkdir(parents=True, exist_ok=True)
    for picture in sorted(PICTURES.glob("*.webp"))[:SHOWN]:
        shutil.copy(picture, home / "photos")

    def started(links: Links) -> None:
        typer.echo(f"  organize   {links.organizer}")

    def finished(summary: PaidSummary) -> None:
        print_ledger(slug_of(theme), str(home / "paid.db"))
        _print(summary)
        if not exit_when_done and sys.stdin.isatty():  # else nobody is there to press it
            typer.prompt("The organizer's page is still there. Press Enter to stop", default="", show_default=False)

    run_paid_demo(
        home / "photos",
        theme,
        VeniceCrowd(collection, {slug_of(theme): theme}),
        home,
        Plan(people=people, answers_each=answers_each),
        port=port,
        say=lambda text: typer.echo(f"  {text}"),
        started=started,
        finished=finished,
    )


def _print(summary: PaidSummary) -> None:
    from handful.recruit.money import money

    typer.echo(f"Picked after {counted(summary.answers, 'answer')}: {', '.join(summary.chosen)}")
    typer.echo("People: " + ", ".join(f"{count} {state}" for state, count in summary.people.items()))
    for kind, cents in summary.ledger.items():
        same = "as in the platform's books" if cents == summary.books[kind] else f"books: {money(summary.books[kind])}"
        typer.echo(f"  {kind.replace('_', ' '):10} {money(cents):>9}   {same}")
    for said in (*summary.differences, *summary.waiting):
        typer.echo(f"  open: {said}")

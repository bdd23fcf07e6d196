"""`handful recruit`: where recruiting stands, what waits for a decision, and who is paid what."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from handful.cli import needs
from handful.cli.parameters import STORAGE, Json, Name, Storage
from handful.cli.printing import console_for, print_json
from handful.cli.recruit import group, print_ledger, recruiter_for
from handful.cli.studies import only_study
from handful.errors import InvalidProblem, StudyNotFound

if TYPE_CHECKING:
    from handful.recruit.outcomes import Identity
    from handful.recruit.panel import Panel
    from handful.recruit.prolific.reconciling import Report
    from handful.recruit.prolific.recruiter import Recruiter


@group.command(
    epilog="""
[bold]Examples[/bold]

 handful recruit status venice -s photos.db             people by state and money, as known here

 handful recruit status venice -s photos.db --ledger    and every call that moved money
"""
)
def status(
    study: Name = None,
    storage: Storage = STORAGE,
    ledger: Annotated[bool, typer.Option("--ledger", help="Print the whole ledger.")] = False,
    as_json: Json = False,
) -> None:
    """Say where recruiting stands, and every difference, as it is known here; Prolific is not asked."""
    from handful.recruit.money import money
    from handful.recruit.prolific.reconciling import counts_of, known_here
    from handful.recruit.store import Store

    store, name = Store(storage), study or only_study(storage)
    recruitment = store.recruitment(name)
    if recruitment is None:
        raise StudyNotFound(
            f"nobody is recruited for study {name!r}: `handful recruit create` or `handful recruit panel`"
        )
    people, entries = counts_of(store.people(name)), store.entries(name)
    done = [entry for entry in entries if entry.outcome == "done"]
    paid = sum(entry.cents for entry in done if entry.kind in ("approve", "screen_out", "bonus"))
    locked = sum(entry.cents for entry in done if entry.kind in ("publish", "places"))
    unknown = sum(entry.cents for entry in entries if entry.unknown)
    promised = sum(entry.cents for entry in entries if entry.promised)
    known = known_here(store, name)
    if as_json:
        found = {"study": name, "panel": recruitment.panel.name, "status": recruitment.status, "people": people}
        open_ = {"differences": known.differences, "waiting": _waiting(known)}
        print_json(
            {
                **found,
                "places": recruitment.places,
                "paid": paid,
                "locked": locked,
                "unknown": unknown,
                "promised": promised,
                **open_,
            }
        )
        return
    currency = recruitment.plan.currency
    console = console_for()
    said = "" if recruitment.status is None else f", {recruitment.status} there with {recruitment.places} places"
    console.print(f"[bold]{name}[/bold] by {recruitment.panel.name}{said}: {recruitment.plan}", highlight=False)
    console.print("People: " + (", ".join(f"{count} {state}" for state, count in people.items()) or "nobody yet"))
    if recruitment.on_prolific:
        console.print(
            f"Money: {money(paid, currency)} paid to people; {money(locked, currency)} locked by publishing, with "
            f"fees; {money(promised, currency)} promised; {money(unknown, currency)} sent, outcome not yet known",
            highlight=False,
        )
    _print_open(known)
    if ledger:
        print_ledger(name, storage)


@group.command(
    epilog="""
[bold]Example[/bold]

 handful recruit reconcile venice -s photos.db

`handful serve` does the same every half minute while it runs. Exit code 1: something differs or waits for you.
"""
)
def reconcile(study: Name = None, storage: Storage = STORAGE, as_json: Json = False) -> None:
    """Ask Prolific how everything stands, settle what is open, pay who is due, and say every difference in words."""
    from handful.crowd.people import forget_settled
    from handful.recruit.prolific.reconciling import reconcile as brought_to_agree
    from handful.study import Study

    recruiter = recruiter_for(study, storage)
    with Study.open(storage, recruiter.study, read_only=True) as opened:
        decided = opened.finished is not None
    report = brought_to_agree(recruiter, decided=decided)
    forget_settled(recruiter.store, recruiter.study)
    if as_json:
        told = {"status": report.status, "done": report.done, "differences": report.differences}
        print_json({"study": recruiter.study, "reached": report.reached, **told, "waiting": _waiting(report)})
    else:
        _print(report)
    if report.differences or report.waiting:
        raise typer.Exit(1)


def _print(report: Report) -> None:
    for said in report.done:
        typer.echo(f"done: {said}")
    _print_open(report)
    if report.agrees and not report.waiting:
        typer.echo("Both sides agree, and nothing waits for you.")


def _print_open(report: Report) -> None:
    for said in report.differences:
        typer.echo(f"differs: {said}")
    for one in report.waiting:
        typer.echo(f"waits for you: {one.words}")


def _waiting(report: Report) -> list[dict[str, object]]:
    return [{"words": one.words, "who": one.who, "line": one.line} for one in report.waiting]


@group.command(
    epilog="""
[bold]Examples[/bold]

 handful recruit decide venice --who w1f00ac --pay         pay somebody who asks for it

 handful recruit decide venice --who w1f00ac --leave       leave them as they are

 handful recruit decide venice --line 14 --paid            a bonus of unknown outcome was paid; or --unpaid
"""
)
def decide(
    study: Name = None,
    storage: Storage = STORAGE,
    who: Annotated[str | None, typer.Option(help="A person, by the name that reconcile tells.")] = None,
    line: Annotated[int | None, typer.Option(help="A line of the ledger.")] = None,
    yes: Annotated[
        bool | None, typer.Option("--pay/--leave", "--paid/--unpaid", help="What you decide.", show_default=False)
    ] = None,
) -> None:
    """Settle what only you can decide. Nobody is ever rejected."""
    from handful.recruit.prolific import paying

    if (who is None) == (line is None) or yes is None:
        raise InvalidProblem("give --who with --pay or --leave, or --line with --paid or --unpaid")
    recruiter = recruiter_for(study, storage)
    if who is not None:
        paying.decide(recruiter, _told_whole(recruiter, who), yes)
    else:
        paying.decide_bonus(recruiter, int(line or 0), yes)
    typer.echo("Settled; the next reconciliation does the rest.")


@group.command(epilog="[bold]Example[/bold]  handful recruit bonus venice w1f00ac 1.50 --reason 'a long visit'")
def bonus(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="Its name.")],
    who: Annotated[str, typer.Argument(help="A person: the pseudonym, or six letters of its beginning.")],
    amount: Annotated[str, typer.Argument(help="Such as 1.50.")],
    storage: Storage = STORAGE,
    reason: Annotated[str, typer.Option(help="For the ledger.")] = "",
) -> None:
    """Promise somebody a bonus: it is written down now and paid by the next reconciliation, once."""
    from handful.recruit.money import cents_of
    from handful.recruit.prolific import paying

    recruiter, cents = recruiter_for(study, storage), cents_of(amount)
    number = paying.promise_bonus(recruiter, _told_whole(recruiter, who), cents, reason)
    typer.echo(f"Line {number} of the ledger: promised.")


@group.command(
    "ask-return",
    epilog="[bold]Example[/bold]  handful recruit ask-return venice w1f00ac   (only for failed instructed checks)",
)
def ask_return(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="Its name.")],
    who: Annotated[str, typer.Argument(help="A person: the pseudonym, or six letters of its beginning.")],
    storage: Storage = STORAGE,
) -> None:
    """Ask somebody to return their submission, because they failed instructed checks: one under 5 minutes, else two."""
    from handful.recruit.prolific import paying

    recruiter = recruiter_for(study, storage)
    paying.ask_return(recruiter, _told_whole(recruiter, who))
    typer.echo("Asked. Whether they return it is theirs to decide.")


def _told_whole(recruiter: Recruiter, beginning: str) -> str:
    """The whole pseudonym of somebody, which is printed before anything is done."""
    from handful.recruit.prolific import paying

    name = paying.pseudonym_from(recruiter, beginning)
    typer.echo(f"This is about {name}.")
    return name


@group.command("pay-list", epilog="[bold]Example[/bold]  handful recruit pay-list venice -s photos.db -o pay.csv")
def pay_list(
    study: Name = None,
    storage: Storage = STORAGE,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file instead of the terminal.")] = None,
) -> None:
    """Write who is to be paid, with the panel's ids, for panels where you pay by hand. Keep it safe and delete it."""
    from handful.recruit.store import Store

    store, name = Store(storage), study or only_study(storage)
    recruitment = store.recruitment(name)
    if recruitment is None:
        raise StudyNotFound(f"nobody is recruited for study {name!r}")
    rows = []
    for person in store.people(name):
        if person.who.participant == person.pseudonym:  # forgotten
            continue
        code = _code(recruitment.panel, person.who, storage, name) if person.outcome == "finished" else None
        outcome = person.outcome or "inside"
        rows.append((person.who.participant, person.who.session or "", outcome, person.status or "", code or ""))
    if output is None:
        _write_rows(sys.stdout, rows)
        return
    output.touch(0o600)  # for its owner only: it joins ids to what people did
    with output.open("w", encoding="utf-8", newline="") as file:
        _write_rows(file, rows)


def _code(panel: Panel, who: Identity, storage: str, study: str) -> str | None:
    """The code of one person, to be compared with what they typed in."""
    if panel.code is None:
        return None
    needs("crowd", "a list with codes")
    from handful.crowd.hosting.startup import items_folder
    from handful.crowd.hosting.tokens import panel_key, secret_in

    return panel.code_of(who, panel_key(secret_in(items_folder(storage)), study))


def _write_rows(file: TextIO, rows: Sequence[tuple[str, ...]]) -> None:
    writer = csv.writer(file)
    writer.writerow(("participant", "session", "outcome", "status", "code"))
    writer.writerows(rows)

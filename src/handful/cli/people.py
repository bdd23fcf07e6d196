"""`handful people` and `handful invite`: who takes part in a study, outside its journal."""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from handful.cli import app, say
from handful.cli.parameters import STORAGE, Json, Storage
from handful.cli.printing import console_for, print_json, when
from handful.errors import InvalidProblem, StorageLocked

people = typer.Typer(no_args_is_help=True, help="List the people of a study, and forget those who ask for it.")
app.add_typer(people, name="people", rich_help_panel=None)
invite = typer.Typer(no_args_is_help=True, help="Make, list and revoke invitations to a study.")
app.add_typer(invite, name="invite", rich_help_panel=None)

Study_ = Annotated[str, typer.Argument(metavar="STUDY", help="The study's name.")]


@people.command("list", epilog="[bold]Example[/bold]  handful people list cathedrals -s photos.db")
def list_(study: Study_, storage: Storage = STORAGE, as_json: Json = False) -> None:
    """List who is known by more than a pseudonym. Network tags and cookies are not shown."""
    from rich.table import Table

    from handful.crowd.people import People, retire

    _check_there(storage, study)
    retire(storage, time.time())
    found = People(study, storage).all()
    if as_json:
        keys = ("pseudonym", "panel", "participant", "session", "state", "joined")
        print_json([{key: getattr(person, key) for key in keys} for person in found])
        return
    table = Table("pseudonym", "panel", "participant", "state", "joined")
    for person in found:
        joined = when(person.joined)
        table.add_row(person.pseudonym, person.panel or "", person.participant or "", person.state, joined)
    console_for().print(table if found else "nobody is known here by more than a pseudonym")


@people.command(
    epilog="""
[bold]Examples[/bold]

 handful people erase cathedrals w3f9c0a1b2c3d4e5f -s photos.db              forget who that is; the answers stay

 handful people erase cathedrals w3f9c0a1b2c3d4e5f -s photos.db --withdraw   and take them out of the open round

 handful people erase cathedrals - -s photos.db                              by a panel's id, which is typed then

Answers in rounds that are decided stay. Older backups, archives of the database and the panel are out of reach.
"""
)
def erase(
    study: Study_,
    who: Annotated[
        str,
        typer.Argument(help="A pseudonym, or the id that a panel knows somebody by; - reads it from standard input."),
    ],
    storage: Storage = STORAGE,
    withdraw: Annotated[
        bool, typer.Option("--withdraw", help="Also take their answers out of the open round.")
    ] = False,
) -> None:
    """Forget somebody: what ties their pseudonym to a person goes. A panel's ids go once the pay is settled."""
    from handful.crowd.people import WITHDRAWING, People, ask_to_forget, retire
    from handful.recruit.ledger import Store, has_recruitments

    piped = who == "-"
    if piped:
        who = sys.stdin.readline().strip()
    _check_there(storage, study)
    retire(storage, time.time())
    known, store = People(study, storage), Store(storage) if has_recruitments(storage) else None
    names = [] if store is None else [one.pseudonym for one in store.known_as(study, who)]
    if names and who not in names and not piped:
        say("everybody on this machine could read the panel's id that was typed: give - instead, and type it then")
    if not names:
        person = known.named(who) or next((one for one in known.all() if one.participant == who), None)
        if person is None:
            raise InvalidProblem(f"nobody in study {study!r} is known as {who!r}: see `handful people list {study}`")
        names = [person.pseudonym]
    for name in names:
        if withdraw and known.named(name) is not None and not _withdrawn(storage, study, name):
            known.change(name, state=WITHDRAWING)
            say("a server has the study open, and does it within seconds: see `handful people list`")
            continue
        if store is not None and store.person(study, name) is not None:
            if not ask_to_forget(store, study, name):
                say("noted; their pay is open: they are forgotten, and the panel's ids deleted, once it is settled")
                continue
        else:
            known.forget(name)
        say("forgotten; the answers stay, without a person")


def _withdrawn(storage: str, study: str, name: str) -> bool:
    """Take somebody's answers out of the open round; False if a server has the study open."""
    from handful.study import Study

    try:
        with Study.open(storage, study) as opened:
            if opened.finished is None and opened.fold.workers.knows(name):
                opened.leave(name)
    except StorageLocked:
        return False
    return True


@invite.command(
    epilog="[bold]Example[/bold]  handful invite new cathedrals 40 -s photos.db --url https://example.org > sent.csv"
)
def new(
    study: Study_,
    count: Annotated[int, typer.Argument(min=1, help="How many.")],
    storage: Storage = STORAGE,
    url: Annotated[str, typer.Option(help="The address that people use, for whole links.")] = "",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A CSV file instead of the terminal.")] = None,
) -> None:
    """Make invitations, each for one person, as CSV. The codes are told this once: only hashes are kept."""
    from handful.crowd.people import Invitations

    _check_there(storage, study)
    made = Invitations(study, storage).make(count, time.time())
    rows = [("number", "code", "link")]
    rows += [(str(number), code, f"{url.rstrip('/')}/s/{study}#{code}") for number, code in made]
    if output is None:
        csv.writer(sys.stdout).writerows(rows)
    else:
        with output.open("w", newline="") as file:
            csv.writer(file).writerows(rows)


@invite.command("list", epilog="[bold]Example[/bold]  handful invite list cathedrals -s photos.db")
def list_invitations(study: Study_, storage: Storage = STORAGE, as_json: Json = False) -> None:
    """List invitations by number: open, used or revoked."""
    from rich.table import Table

    from handful.crowd.people import Invitations

    _check_there(storage, study)
    found = Invitations(study, storage).all()
    if as_json:
        print_json([{"number": one.number, "state": one.state, "made": one.made} for one in found])
        return
    table = Table("number", "state", "made")
    for one in found:
        table.add_row(str(one.number), one.state, when(one.made))
    console_for().print(table if found else f"there are no invitations yet: handful invite new {study} 10")


@invite.command(epilog="[bold]Example[/bold]  handful invite revoke cathedrals 3 7 -s photos.db")
def revoke(
    study: Study_,
    numbers: Annotated[list[int], typer.Argument(help="Their numbers, as in the list.")],
    storage: Storage = STORAGE,
) -> None:
    """Let nobody in by these any more. Who is in stays in."""
    from handful.crowd.people import Invitations

    _check_there(storage, study)
    say(f"revoked {Invitations(study, storage).revoke(numbers, time.time())} of {len(numbers)}")


def _check_there(storage: str, study: str) -> None:
    """Refuse a study that is not there, before any table is made."""
    from handful.storage import open_journal

    open_journal(storage, study, mode="read").close()

"""`handful people`, `handful invite`, `handful keys` and `handful organize`: who takes part, and who decides."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from handful.cli import app, needs, say
from handful.cli.parameters import STORAGE, Json, Storage, check_there
from handful.cli.printing import console_for, print_json, when
from handful.errors import InvalidProblem, StorageLocked

if TYPE_CHECKING:
    from handful.crowd.organizer_keys import OrganizerKeys
    from handful.study import Study


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
            if opened.finished is None and opened.state.workers.knows(name):
                opened.leave(name)
    except StorageLocked:
        return False
    return True


# Invitations


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


# Keys


keys = typer.Typer(no_args_is_help=True, help="Show and renew the keys of a crowd app.")
app.add_typer(keys, name="keys", rich_help_panel=None)


@keys.command(epilog="[bold]Example[/bold]  handful keys show -s photos.db")
def show(storage: Storage = STORAGE, as_json: Json = False) -> None:
    """Show the organizer's link, and the link to the result of each study that has one.

    Add them to the address of the server. A link to a result is made and revoked on the organizer's page.
    """
    from handful.storage import list_studies

    names = [study.name for study in list_studies(storage)]
    known = _keys_of(storage)
    links = {name: link for name in names if (link := known.link(name)) is not None}
    if as_json:
        print_json({"organizer": known.login, "results": links})
        return
    console_for().print(f"organizer  {known.login}", soft_wrap=True, markup=False, highlight=False)
    for name, link in links.items():
        console_for().print(f"result of {name}  {link}", soft_wrap=True, markup=False, highlight=False)


@keys.command(epilog="[bold]Example[/bold]  handful keys renew -s photos.db")
def renew(storage: Storage = STORAGE) -> None:
    """Make another organizer's key, and print the link with it.

    It works at once, also with a server that is running: the key before opens nothing any more, sessions end with their
    next request, open pages within seconds.
    """
    known = _keys_of(storage)
    known.renew()
    console_for().print(f"organizer  {known.login}", soft_wrap=True, markup=False, highlight=False)


def _keys_of(storage: str) -> OrganizerKeys:
    needs("crowd", "the crowd app")
    from handful.crowd.organizer_keys import OrganizerKeys
    from handful.crowd.registry import items_folder
    from handful.crowd.tokens import SECRET, secret_in
    from handful.storage import list_studies

    list_studies(storage)  # refuses a storage that is not there
    folder = items_folder(storage)
    if not (folder / SECRET).is_file():
        raise InvalidProblem(
            f"there is no secret in {folder}, from which keys are made: run this where `handful serve` runs, after its "
            "first start"
        )
    return OrganizerKeys(secret_in(folder), storage)


# What the organizer's page can do


organize = typer.Typer(no_args_is_help=True, help="Do with a study what its organizer's page can do.")
app.add_typer(organize, name="organize", rich_help_panel=None)

_Worker = Annotated[str, typer.Argument(help="The pseudonym, as in the exports.")]
_Reason = Annotated[str, typer.Option(help="Why, for the journal.")]
_Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it; without this, only say what it would mean.")]


@contextmanager
def _opened(storage: str, study: str, *, read_only: bool = False) -> Iterator[Study]:
    """The study, to be changed here; where a server has it open, a sentence says what to add."""
    from handful.study import Study

    check_there(storage, study)
    try:
        opened = Study.open(storage, study, read_only=read_only)
    except StorageLocked as error:
        raise StorageLocked(f"{error}. Where a server has it open, its organizer's page does the same") from error
    with opened:
        yield opened


@organize.command(epilog="[bold]Example[/bold]  handful organize exclude cathedrals w3f9c0a1b2c3d4e5f --yes")
def exclude(
    study: Study_, worker: _Worker, reason: _Reason = "", yes: _Yes = False, storage: Storage = STORAGE
) -> None:
    """Count none of somebody's answers in the open round. By hand: the certificate then claims no confidence."""
    with _opened(storage, study, read_only=not yes) as opened:
        _check_known(opened, worker)
        say(opened.excluding([worker]).words)
        if yes and not opened.state.workers.excludes(worker):
            opened.exclude(worker, reason or None)
            say("excluded")
    _say_how(yes)


def _check_known(study: Study, worker: str) -> None:
    if not study.state.workers.knows(worker):
        raise InvalidProblem(f"there is no worker {worker!r} in study {study.name!r}: see `handful status --json`")


@organize.command(epilog="[bold]Example[/bold]  handful organize restore cathedrals w3f9c0a1b2c3d4e5f")
def restore(study: Study_, worker: _Worker, storage: Storage = STORAGE) -> None:
    """Count somebody's answers again."""
    with _opened(storage, study) as opened:
        _check_known(opened, worker)
        if not opened.state.workers.excludes(worker):
            say("they were not excluded: their answers count")
            return
        opened.restore(worker)
    say("their answers count again")


@organize.command(epilog="[bold]Example[/bold]  handful organize leave cathedrals w3f9c0a1b2c3d4e5f")
def leave(study: Study_, worker: _Worker, storage: Storage = STORAGE) -> None:
    """Somebody withdraws: their answers leave the open round. `handful people erase --withdraw` also forgets them."""
    with _opened(storage, study) as opened:
        opened.leave(worker)
    say("withdrawn from the open round; decided rounds stand")


@organize.command(epilog="[bold]Example[/bold]  handful organize extend cathedrals 500")
def extend(
    study: Study_,
    answers: Annotated[int, typer.Argument(min=1, help="How many more answers.")],
    storage: Storage = STORAGE,
) -> None:
    """Allow so many more answers than the budget has."""
    with _opened(storage, study) as opened:
        opened.extend(answers)
    say(f"the study may take {answers:,} answers more")


@organize.command(epilog="[bold]Example[/bold]  handful organize pause cathedrals")
def pause(study: Study_, storage: Storage = STORAGE) -> None:
    """Hand out no questions; answers on their way are still taken."""
    with _opened(storage, study) as opened:
        opened.pause()
    say("paused")


@organize.command(epilog="[bold]Example[/bold]  handful organize resume cathedrals")
def resume(study: Study_, storage: Storage = STORAGE) -> None:
    """End a pause."""
    with _opened(storage, study) as opened:
        opened.resume()
    say("open")


@organize.command(epilog="[bold]Example[/bold]  handful organize close cathedrals --yes")
def close(study: Study_, yes: _Yes = False, storage: Storage = STORAGE) -> None:
    """End a study for good, with what is known."""
    with _opened(storage, study, read_only=True) as opened:
        ended = opened.finished
    if ended is not None:
        say(f"it is finished already: {ended}; there is nothing to close")
        return
    say("the open round is decided with what is known, and nobody can answer any more; to stop for a while, pause it")
    if yes:
        with _opened(storage, study) as opened:
            _finish(opened, "closed by the organizer", storage)
        say("closed")
    _say_how(yes)


def _finish(study: Study, why: str, storage: str) -> None:
    """Close a study, and note when: its people are kept for so many days from then on."""
    from handful.crowd.people import People

    study.finish(why)
    People(study.name, storage).closed(time.time())


def _say_how(done: bool) -> None:
    if not done:
        say("nothing was changed: add --yes to do it")

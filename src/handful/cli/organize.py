"""`handful organize`: what an organizer's page does with a study, from the command line."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from handful.cli import app, say
from handful.cli.existing_storage import check_there
from handful.cli.parameters import STORAGE, Json, Storage
from handful.cli.people import Study_
from handful.cli.printing import console_for, print_json, when
from handful.errors import InvalidProblem, StorageLocked

if TYPE_CHECKING:
    from handful.crowd.hosting.groups import Group
    from handful.crowd.hosting.worker_statistics import AnswerStatistics
    from handful.crowd.people import People
    from handful.study import Study

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


@organize.command(epilog="[bold]Example[/bold]  handful organize networks cathedrals -s photos.db")
def networks(study: Study_, storage: Storage = STORAGE, as_json: Json = False) -> None:
    """List the networks that people came from by an open link, under names that say nothing about addresses."""
    from rich.table import Table

    from handful.crowd.hosting.groups import networks_of

    with _opened(storage, study, read_only=True) as opened:
        found = [vars(one) for one in networks_of(opened, *_people_of(opened, storage))]
    if as_json:
        print_json(found)
        return
    table = Table("network", "people", "answers", "excluded", "first came", "last answer")
    for one in found:
        counts = (f"{one[name]:,}" for name in ("people", "answers", "excluded"))
        table.add_row(one["network"], *counts, when(one["first"]), when(one["last"]) if one["last"] else "")
    console_for().print(table if found else "no networks are known: people came by another door, or 7 days are over")


@organize.command(
    epilog="""
[bold]Examples[/bold]

 handful organize exclude cathedrals w3f9c0a1b2c3d4e5f --yes

 handful organize exclude cathedrals --network 1f0c9a2e            say what it would mean

 handful organize exclude cathedrals --since 2026-03-01T14:00 --until 2026-03-01T14:20 --yes

Without a time zone a time is that of this machine. Somebody came when they joined, or else with their first answer.
"""
)
def exclude(
    study: Study_,
    worker: Annotated[str | None, typer.Argument(metavar="[WORKER]", help="One pseudonym, instead of a group.")] = None,
    network: Annotated[str | None, typer.Option(help="Everybody who came from there, as `networks` names it.")] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Everybody who came from then on.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Everybody who came until then.")] = None,
    reason: _Reason = "",
    yes: _Yes = False,
    storage: Storage = STORAGE,
) -> None:
    """Count none of their answers in the open round. By hand: the certificate then claims no confidence."""
    from handful.crowd.hosting.groups import Group

    group = Group(network, _time(since), _time(until))
    if (worker is None) == (group == Group()):
        raise InvalidProblem("say whom to exclude: one WORKER, or a group by --network, --since and --until")
    with _opened(storage, study, read_only=not yes) as opened:
        meant = opened.excluding(_whom(opened, storage, worker, group))
        say(meant.words)
        if yes and meant.workers:
            opened.exclude_all(meant.workers, reason or None)
            say("excluded")
    _say_how(yes)


def _whom(study: Study, storage: str, worker: str | None, group: Group) -> list[str]:
    from handful.crowd.hosting.groups import members_of

    if worker is None:
        return members_of(group, study, *_people_of(study, storage))
    _check_known(study, worker)
    return [worker]


def _check_known(study: Study, worker: str) -> None:
    if not study.fold.workers.knows(worker):
        raise InvalidProblem(f"there is no worker {worker!r} in study {study.name!r}: see `handful status --json`")


@organize.command(epilog="[bold]Example[/bold]  handful organize restore cathedrals w3f9c0a1b2c3d4e5f")
def restore(study: Study_, worker: _Worker, storage: Storage = STORAGE) -> None:
    """Count somebody's answers again."""
    with _opened(storage, study) as opened:
        _check_known(opened, worker)
        if not opened.fold.workers.excludes(worker):
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


@organize.command(epilog="[bold]Example[/bold]  handful organize redo cathedrals 3 --extend 200 --yes")
def redo(
    study: Study_,
    round: Annotated[int, typer.Argument(min=1, help="The first round to be done again.")],
    extend: Annotated[int, typer.Option(min=0, help="Answers to add to the budget first.")] = 0,
    yes: _Yes = False,
    storage: Storage = STORAGE,
) -> None:
    """Forget the picks from a round on, and choose again: its answers that still count are counted again."""
    with _opened(storage, study, read_only=not yes) as opened:
        say(opened.reopening(round).words)
        if yes:
            opened.reopen(round, extend=extend)
            _people_of(opened, storage)[0].reopened()
    if yes:
        say(f"round {round} is open again")
    _say_how(yes)


@organize.command(epilog='[bold]Example[/bold]  handful organize lift cathedrals network --reason "one school"')
def lift(
    study: Study_,
    cap: Annotated[Literal["network", "person"], typer.Argument(help="On whose share of a round.")],
    reason: _Reason = "",
    storage: Storage = STORAGE,
) -> None:
    """Lift a cap on the share of a round, for good. The journal and the certificate say so."""
    with _opened(storage, study) as opened:
        opened.lift(cap, reason or None)
    say(f"the cap on a {cap}'s share of a round is lifted, and the certificate says so")


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


def _people_of(study: Study, storage: str) -> tuple[People, AnswerStatistics]:
    """Who takes part, and when they answered."""
    from handful.crowd.hosting.worker_statistics import AnswerStatistics
    from handful.crowd.people import People
    from handful.study.events import Told

    statistics = AnswerStatistics()
    for at, event in study.journal():
        if isinstance(event, Told):
            statistics.count(event, at)
    return People(study.name, storage), statistics


def _say_how(done: bool) -> None:
    if not done:
        say("nothing was changed: add --yes to do it")


def _time(typed: str | None) -> float | None:
    """A time as it was typed, in seconds since 1970."""
    if typed is None:
        return None
    try:
        return datetime.fromisoformat(typed).timestamp()
    except ValueError as error:
        raise InvalidProblem(f"{typed!r} is no time: expected one like 2026-03-01T14:20") from error

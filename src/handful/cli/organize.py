"""`handful organize`: what an organizer's page does with a study, from the command line."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from handful.cli import app, say
from handful.cli.existing_storage import check_there
from handful.cli.parameters import STORAGE, Storage
from handful.cli.people import Study_
from handful.errors import InvalidProblem, StorageLocked

if TYPE_CHECKING:
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


@organize.command(epilog="[bold]Example[/bold]  handful organize exclude cathedrals w3f9c0a1b2c3d4e5f --yes")
def exclude(
    study: Study_, worker: _Worker, reason: _Reason = "", yes: _Yes = False, storage: Storage = STORAGE
) -> None:
    """Count none of somebody's answers in the open round. By hand: the certificate then claims no confidence."""
    with _opened(storage, study, read_only=not yes) as opened:
        _check_known(opened, worker)
        say(opened.excluding([worker]).words)
        if yes and not opened.fold.workers.excludes(worker):
            opened.exclude(worker, reason or None)
            say("excluded")
    _say_how(yes)


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

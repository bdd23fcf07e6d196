"""`handful recover`: a storage that lacks what was stored before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from handful.cli import app
from handful.cli.parameters import STORAGE, Json, Name, Storage
from handful.cli.printing import console_for, print_json, when
from handful.cli.studies import only_study
from handful.errors import InvalidProblem

if TYPE_CHECKING:
    from handful.storage.recovery import Findings, Version


@app.command(
    epilog="""
[bold]Examples[/bold]

 handful recover photos -s photos.db                        what is missing, if anything; nothing is written

 handful recover photos -s photos.db --other old/photos.db  how another copy differs

 handful recover photos -s photos.db --other old/photos.db --keep other

 handful recover photos -s photos.db --keep here            go on without what is missing

Which version goes on is yours to say. The other is kept in the same storage as a study of its own name, as far as it
has something that the first has not.
""",
)
def recover(
    study: Name = None,
    storage: Storage = STORAGE,
    other: Annotated[
        str | None, typer.Option("--other", metavar="URL", help="Another copy of the storage: a backup, a replica.")
    ] = None,
    keep: Annotated[
        Literal["here", "other"] | None,
        typer.Option(help="Go on with the version in the storage (here), or with that of --other."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say whether a study's storage holds all that was ever stored, and choose the version that goes on."""
    from handful.storage import open_journal
    from handful.storage.recovery import examine
    from handful.storage.recovery import recover as settle

    if keep == "other" and other is None:
        raise InvalidProblem("--keep other needs --other, the copy that should go on")
    name = study or only_study(storage)
    found = examine(storage, name, other)
    if found.noted is None and not found.here.records and (found.other is None or not found.other.records):
        open_journal(storage, name, mode="read")  # raises: there is no such study, but others
    if as_json:
        print_json(_as_dict(found))
    else:
        _show(found)
    if keep is None:
        raise typer.Exit(0 if found.is_well else 1)
    done = settle(storage, name, keep, other)
    if done.records:
        _note(storage, name, found, keep)
    if not as_json:
        beside = "" if done.kept_as is None else f"; the other version is kept as {done.kept_as}"
        console_for().print(f"{name} goes on with {done.records:,} records{beside}", markup=False)


def _note(storage: str, name: str, found: Findings, keep: str) -> None:
    """Leave a trace in the journal itself."""
    from handful.study import Study

    noted = None if found.noted is None else found.noted.seq + 1
    with Study.open(storage, name) as opened:
        opened.note("recovered", {"kept": keep, "records_here": found.here.records, "records_noted": noted})


def _show(found: Findings) -> None:
    console = console_for()

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    say(f"{found.study} in {found.here.where}: {_described(found.here)}")
    if found.noted is None:
        say(f"where it ended is not noted ({found.noted_in} is not there), so whether more was stored cannot be told")
    else:
        say(f"noted in {found.noted_in}: {found.noted.seq + 1:,} records")
        if found.here.holds(found.noted):
            say("nothing that was noted is missing")
        elif found.here.records <= found.noted.seq:
            say(f"missing: records {found.here.records:,} to {found.noted.seq:,}")
        else:
            say(f"record {found.noted.seq:,} is not the one that was noted: this is another version of the study")
    if found.other is not None:
        say(f"{found.study} in {found.other.where}: {_described(found.other)}")
        if found.noted is not None:
            say(f"  it {'holds' if found.other.holds(found.noted) else 'does not hold'} the record that was noted last")
        here, there = found.here.records - found.common, found.other.records - found.common
        say(f"  the first {found.common:,} records are the same; after them {here:,} only here, {there:,} only there")


def _described(version: Version) -> str:
    if version.last_time is None:
        return "no records"
    damage = "" if version.damage is None else f", {version.whole:,} of them whole ({version.damage})"
    return f"{version.records:,} records, the last of {when(version.last_time)}{damage}"


def _as_dict(found: Findings) -> dict[str, object]:
    def version(v: Version) -> dict[str, object]:
        return {
            "where": v.where,
            "records": v.records,
            "whole": v.whole,
            "last": v.last_time,
            "damage": v.damage,
            "holds_noted": None if found.noted is None else v.holds(found.noted),
        }

    return {
        "study": found.study,
        "well": found.is_well,
        "noted_records": None if found.noted is None else found.noted.seq + 1,
        "here": version(found.here),
        "other": None if found.other is None else version(found.other),
        "common": None if found.other is None else found.common,
    }

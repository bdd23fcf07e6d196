"""`handful keys`: who may see or run the studies of a crowd app."""

from __future__ import annotations

import time
from typing import Annotated, Literal

import typer

from handful.cli import app
from handful.cli.parameters import STORAGE, Json, Storage
from handful.cli.printing import console_for, print_json, print_table, when
from handful.errors import StudyNotFound

keys = typer.Typer(no_args_is_help=True, help="Make, list and revoke the keys of a crowd app's organizers.")
app.add_typer(keys, name="keys", rich_help_panel=None)


@keys.command("list", epilog="[bold]Example[/bold]  handful keys list -s photos.db")
def list_(storage: Storage = STORAGE, as_json: Json = False) -> None:
    """List all keys. What is stored of a key is a hash, so nobody can see the key itself again."""
    from handful.storage.keys import open_keys

    found = open_keys(storage).all()
    if as_json:
        print_json(
            [{"id": k.id, "study": k.study, "role": k.role, "made": k.made, "revoked": k.revoked} for k in found]
        )
        return
    if not found:
        console_for().print("there are no keys yet: the first is made by handful serve")
        return
    ended = ["" if key.revoked is None else when(key.revoked) for key in found]
    rows = [(key.id, key.study or "all", key.role, when(key.made), end) for key, end in zip(found, ended, strict=True)]
    print_table(("key", "study", "role", "made", "revoked"), rows, whole=("key", "study"))


@keys.command(
    epilog="""
[bold]Examples[/bold]

 handful keys new watch -s photos.db                             to look on, at all studies

 handful keys new result -s photos.db --study cathedrals         to see what was chosen in one study

The key works at once, also with a server that is running: open /organize/login there and type it, or add it to that
address behind a #.
"""
)
def new(
    role: Annotated[
        Literal["own", "watch", "result"],
        typer.Argument(
            help="own: run the studies; watch: see all of the organizer's page; result: see what was chosen."
        ),
    ],
    storage: Storage = STORAGE,
    study: Annotated[str | None, typer.Option(metavar="NAME", help="The one study it opens. Default: all.")] = None,
    as_json: Json = False,
) -> None:
    """Make a key for somebody else, and print it: this once, since only a hash is stored."""
    from handful.storage import list_studies
    from handful.storage.keys import link_of, new_key, open_keys

    names = [summary.name for summary in list_studies(storage)]
    if study is not None and study not in names:
        raise StudyNotFound(f"there is no study {study!r}; there are: {', '.join(names) or 'none'}")
    key, typed = new_key(open_keys(storage), role, study)
    if as_json:
        print_json({"id": key.id, "key": typed, "study": key.study, "role": key.role})
        return
    console = console_for()
    console.print(f"{key.id}, to {role} {study or 'all studies'}: [bold]{typed}[/bold]")
    console.print(f"  {link_of(key, typed)}", soft_wrap=True)


@keys.command(epilog="[bold]Example[/bold]  handful keys revoke watch-3f9c21 -s photos.db")
def revoke(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Its id, as `handful keys list` shows it.")],
    storage: Storage = STORAGE,
) -> None:
    """Let a key open nothing any more: sessions end with their next request, open pages within seconds.

    When the terminal's key is revoked, the next start of `handful serve` prints a new one.
    """
    from handful.storage.keys import open_keys

    open_keys(storage).revoke(key, time.time())
    console_for().print(f"{key} is revoked", markup=False)

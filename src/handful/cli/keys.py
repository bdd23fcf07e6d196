"""`handful keys`: who may run the studies of a crowd app, and who may see a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from handful.cli import app, needs
from handful.cli.parameters import STORAGE, Json, Storage
from handful.cli.printing import console_for, print_json
from handful.errors import InvalidProblem

if TYPE_CHECKING:
    from handful.crowd.hosting.organizer_keys import OrganizerKeys

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
    from handful.crowd.hosting.organizer_keys import OrganizerKeys
    from handful.crowd.hosting.startup import items_folder
    from handful.crowd.hosting.tokens import SECRET, secret_in
    from handful.storage import list_studies

    list_studies(storage)  # refuses a storage that is not there
    folder = items_folder(storage)
    if not (folder / SECRET).is_file():
        raise InvalidProblem(
            f"there is no secret in {folder}, from which keys are made: run this where `handful serve` runs, after its "
            "first start"
        )
    return OrganizerKeys(secret_in(folder), storage)

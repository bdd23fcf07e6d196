"""The items that `handful serve` asks about: processed before, or now with a progress bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from handful.cli.crowd_console import console, note
from handful.errors import InvalidCollection

if TYPE_CHECKING:
    from handful.crowd.collection.items import Collection

_LEFT_OUT_SHOWN = 8
LEFT_OUT = "left-out.txt"


def collection_of(source: Path | None, storage: str, check: Callable[[int], None]) -> Collection | None:
    """The collection that was processed before, or a new one, with a progress bar; None where there is none to begin
    with, and studies are set up in the browser.

    Processing may take minutes, so `check` is called before, with how many items there are at most.
    """
    from handful.crowd.collection.intake import ingest, storing
    from handful.crowd.collection.items import has_collection, load_collection
    from handful.crowd.collection.looking_ahead import number_of_items
    from handful.crowd.hosting.drafts import set_up_in_browser
    from handful.crowd.hosting.startup import items_folder

    folder = items_folder(storage)
    if source is None and not has_collection(folder):
        return None
    if has_collection(folder):
        collection = load_collection(folder)
        console.print(f"Using the {len(collection)} items processed before, in {folder}.")
        if source is not None:
            _say_changes(source, collection)
        return collection
    assert source is not None
    if source.suffix == ".db":
        if set_up_in_browser(folder):
            return None
        raise InvalidCollection(f"there is no collection {folder} beside {source}: give the pictures instead")
    check(number_of_items(source))
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("Preparing the items"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("items", total=None)
        collection = ingest(source, folder, lambda done, total: bar.update(task, completed=done, total=total))
    collection = replace(collection, source=str(source.resolve()))  # where the originals of the picks are
    with storing(folder):
        collection.save()
    console.print(f"{len(collection)} items are ready, in {folder}.")
    _say_left_out(collection)
    return collection


def _say_left_out(collection: Collection) -> None:
    """Name every file that was left out: where they are many, the first here and all of them in a file."""
    from handful.crowd.collection.intake import storing

    lines = [f"{one.name} {one.why}" for one in collection.left_out]
    for line in lines[:_LEFT_OUT_SHOWN]:
        console.print(f"  left out: {line}", style="yellow", markup=False)
    if len(lines) > _LEFT_OUT_SHOWN:
        with storing(collection.folder):
            (collection.folder / LEFT_OUT).write_text("\n".join(lines) + "\n", encoding="utf-8")
        more = f"  … and {len(lines) - _LEFT_OUT_SHOWN:,} more: all are named in {collection.folder / LEFT_OUT}"
        console.print(more, style="yellow", markup=False, soft_wrap=True)


def _say_changes(source: Path, collection: Collection) -> None:
    from handful.crowd.collection.looking_ahead import changes_since

    if source.suffix == ".db" or not source.exists():
        return
    new, gone = changes_since(source, collection)
    if new or gone:
        what = "folder" if source.is_dir() else "file"
        counts = ", ".join(f"{count:,} {word}" for count, word in ((new, "new"), (gone, "gone")) if count)
        note(
            f"the {what} has changed since: {counts}; a study keeps the items it began with. "
            "To take it in anew, give --storage with another file"
        )

"""The items that `handful serve` asks about: processed before, or now with a progress bar."""

from __future__ import annotations

import glob
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from handful.cli.crowd_console import console, note
from handful.errors import HandfulError, InvalidCollection, InvalidProblem, StorageLocked

if TYPE_CHECKING:
    from handful.crowd.collection import Collection
    from handful.crowd.hosting.study_plan import StudyPlan

_LEFT_OUT_SHOWN = 8
_LONGEST_LINE = 400
LEFT_OUT = "left-out.txt"


@contextmanager
def leaving_nothing_if_refused(storage: str) -> Iterator[None]:
    """If the block is refused, delete the items that it processed and the file that it made for studies.

    Whatever was there before stays, and so does everything once a study is stored or set up in the browser, or while
    another process has the storage. Interrupted, it deletes nothing: processed items are there for the next try.
    """
    from handful.crowd.hosting.drafts import set_up_in_browser
    from handful.crowd.hosting.startup import items_folder, stored_studies

    folder = items_folder(storage)
    before = _of_storage(folder, storage)
    try:
        yield
    except StorageLocked:
        raise
    except HandfulError:
        with suppress(HandfulError):
            used = set_up_in_browser(folder) or stored_studies(storage)
            for path in () if used else _of_storage(folder, storage) - before:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        raise


def _of_storage(folder: Path, storage: str) -> set[Path]:
    """What there is of a storage: the folder of its items, its file, and what is kept beside that."""
    file = Path(storage) if "://" not in storage else None
    endings = ("", "-wal", "-shm", ".*.lock", ".setup.lock")
    files = () if file is None else (one for end in endings for one in file.parent.glob(glob.escape(file.name) + end))
    return {path for path in (folder, *files) if path.exists()}


def look_ahead(source: Path | None, storage: str, check: Callable[[int], None]) -> None:
    """Refuse what can be seen to be wrong before the items are processed, which may take minutes, and before a port is
    asked for; `check` is called with how many items there are at most.
    """
    from handful.crowd.collection import has_collection
    from handful.crowd.hosting.drafts import set_up_in_browser
    from handful.crowd.hosting.startup import items_folder
    from handful.crowd.intake import number_of_items

    folder = items_folder(storage)
    if source is None or has_collection(folder):
        return
    if source.suffix != ".db":
        check(number_of_items(source))
    elif not set_up_in_browser(folder):
        raise InvalidCollection(f"there is no collection {folder} beside {source}: give the pictures instead")


def collection_of(source: Path | None, storage: str) -> Collection | None:
    """The collection that was processed before, or a new one, with a progress bar; None where there is none to begin
    with, and studies are set up in the browser.
    """
    from handful.crowd.collection import has_collection, load_collection
    from handful.crowd.hosting.startup import items_folder
    from handful.crowd.intake import ingest, storing

    folder = items_folder(storage)
    if has_collection(folder):
        collection = load_collection(folder)
        console.print(f"Using the {len(collection)} items processed before, in {folder}.")
        if source is not None:
            _say_changes(source, collection)
        return collection
    if source is None or source.suffix == ".db":
        return None
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
    from handful.crowd.intake import storing

    left_out = sorted(collection.left_out, key=lambda one: one.files == 1)  # what many are named in comes first
    lines = [f"{'left out: ' if one.files else ''}{one.name} {one.why}" for one in left_out]
    shown = [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} …" for line in lines[:_LEFT_OUT_SHOWN]]
    for line in shown:
        console.print(f"  {line}", style="yellow", markup=False, soft_wrap=True)
    if shown != lines:
        with storing(collection.folder):
            (collection.folder / LEFT_OUT).write_text("\n".join(lines) + "\n", encoding="utf-8")
        more = f"and {len(lines) - len(shown):,} more: " if len(lines) > len(shown) else ""
        where = f"  … {more}all are named in {collection.folder / LEFT_OUT}"
        console.print(where, style="yellow", markup=False, soft_wrap=True)


def _say_changes(source: Path, collection: Collection) -> None:
    from handful.crowd.intake import changes_since

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


def theme_of(source: Path | None, storage: str) -> list[str]:
    """The theme where none is given: what the folder or file is called, unless there are studies to go on with."""
    from handful.crowd.hosting.startup import stored_studies

    if source is None or source.suffix == ".db" or stored_studies(storage):
        return []
    return [stem_of(source)]


def say_theme(theme: str) -> None:
    """Say that a study gets this theme because nobody gave one."""
    note(
        f'no --theme was given, so the theme is "{theme}", which people read above every question; '
        '--theme "Cathedrals in Venice" would begin a study of that theme instead'
    )


def check_claimed(plan: StudyPlan, themes: Sequence[str], storage: str) -> None:
    """Refuse an ε for a new study whose explorer would not heed it. Studies that are there say what they keep."""
    from handful.crowd.hosting.registry import slug_of
    from handful.crowd.hosting.startup import stored_studies
    from handful.crowd.hosting.study_plan import DUELS

    if plan.epsilon is None or (plan.explorer or DUELS).partition(":")[0].strip() != DUELS:
        return
    stored = {study.name for study in stored_studies(storage)}
    if any(theme not in stored and slug_of(theme) not in stored for theme in themes):
        told = "the default explorer, duels," if plan.explorer is None else "the explorer duels"
        raise InvalidProblem(
            f"--epsilon {plan.epsilon:g} is not heeded by {told} which spends its budget and proves no ε: "
            "give --explorer topx with it, or leave it out"
        )


def stem_of(source: Path) -> str:
    """What a folder or file is called, without its ending."""
    return source.resolve().stem


def database_of(source: Path | None) -> str:
    """Where studies are kept when nothing else is said: beside what they are about, in the current folder."""
    if source is None:
        return "handful.db"
    return str(source) if source.suffix == ".db" else f"{stem_of(source)}.db"

"""One person chooses alone: when all is chosen, the picks are put into a folder, with a contact sheet."""

from __future__ import annotations

import shutil
import threading
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from handful.crowd.booth import Booth
from handful.crowd.hall import Hall
from handful.crowd.items import Item
from handful.crowd.opening import SOLO_IN_FLIGHT
from handful.crowd.sheet import write_contact_sheet
from handful.crowd.sources import MAX_PICTURE_BYTES, PICTURES, shown
from handful.errors import InvalidProblem

LOOK_EVERY_S = 0.3
SHEET = "contact-sheet.png"


def booth_of_one(hall: Hall, themes: Sequence[str] = ()) -> Booth:
    """What there is still to choose alone, of these themes before others; when all is chosen, the last of it."""
    booths = [booth for booth in hall.booths.values() if booth.study.setup.problem.in_flight == SOLO_IN_FLIGHT]
    if not booths:
        theirs = next(iter(hall.booths.values())).theme
        raise InvalidProblem(
            f"{hall.storage} holds {theirs!r}, a study for many: to choose alone beside it, "
            "give a --theme of your own, or another file as --storage"
        )
    named = [booth for booth in booths if booth.theme in themes] or booths
    return next((booth for booth in named if booth.open), named[-1])


def end_earlier_visits(booth: Booth) -> None:
    """What they hold, perhaps in another browser, is free again, and what they answered stands."""
    fold = booth.study.fold
    for worker in filter(None, {*fold.workers.names, *fold.leases.holders()}):
        booth.study.let_go(worker)
        booth.study.settle(worker)


def picks_folder(source: Path) -> Path:
    """Where picks go: in the current folder, named after the source."""
    return Path(f"{source.resolve().stem}-best")


def put_picks(booth: Booth, source: Path, folder: Path) -> Path:
    """The chosen items, numbered in the order they were picked: the original files where there are any.

    They go into a new folder; one that is there already is left alone, and gives its name with a number to the new one.
    """
    target, number = folder, 2
    while target.exists():
        target, number = Path(f"{folder}-{number}"), number + 1
    target.mkdir(parents=True)
    result = booth.study.result()
    width = len(str(len(result.chosen)))
    for place, id_ in enumerate(result.chosen, start=1):
        _put(booth, booth.collection[id_], source, target, f"{place:0{width}}")
    write_contact_sheet(booth.collection, result.chosen, booth.theme, "", target / SHEET)
    return target


def when_finished(booth: Booth, act: Callable[[], None], stop: threading.Event) -> threading.Thread:
    """Call `act` once the study has ended, unless `stop` is set before."""

    def watch() -> None:
        while not stop.wait(LOOK_EVERY_S):
            if not booth.open:
                act()
                return

    thread = threading.Thread(target=watch, name="handful-solo", daemon=True)
    thread.start()
    return thread


def _put(booth: Booth, item: Item, source: Path, folder: Path, place: str) -> None:
    name = PurePosixPath(item.id)
    if item.kind == "text":
        (folder / f"{place}-{name.stem}.txt").write_text(item.text + "\n", encoding="utf-8")
    elif name.suffix.lower() not in PICTURES or not _copy_original(item.id, source, folder / f"{place}-{name.name}"):
        shutil.copy2(booth.collection.large(item), folder / f"{place}-{name.stem}.webp")


def _copy_original(name: str, source: Path, target: Path) -> bool:
    """Whether the file that an item was made from is still there, and was copied."""
    if source.suffix.lower() == ".zip" and source.is_file():
        return _unzip(name, source, target)
    beside = source if source.is_dir() else source.parent
    original = (beside / name).resolve()
    if source.suffix.lower() == ".db" or not original.is_relative_to(beside.resolve()) or not original.is_file():
        return False
    shutil.copy2(original, target)
    return True


def _unzip(name: str, source: Path, target: Path) -> bool:
    with zipfile.ZipFile(source) as archive:
        entry = next((one for one in archive.infolist() if shown(one.filename) == name), None)
        if entry is None or entry.file_size > MAX_PICTURE_BYTES:
            return False
        with archive.open(entry) as stream:
            target.write_bytes(stream.read(MAX_PICTURE_BYTES))
        return True

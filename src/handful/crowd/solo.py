"""One person chooses alone: when all is chosen, the picks are put into a folder, with a contact sheet."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from handful.crowd.booth import Booth
from handful.crowd.items import Item
from handful.crowd.sheet import write_contact_sheet

LOOK_EVERY_S = 0.3
SHEET = "contact-sheet.png"


def picks_folder(source: Path) -> Path:
    """A new folder in the current one; never one that is there already."""
    stem = f"{source.stem}-best"
    folder, number = Path(stem), 2
    while folder.exists():
        folder, number = Path(f"{stem}-{number}"), number + 1
    return folder


def put_picks(booth: Booth, source: Path, folder: Path) -> Path:
    """The chosen items, numbered in the order they were picked: the original files where there are any."""
    folder.mkdir(parents=True)
    result = booth.study.result()
    for place, id_ in enumerate(result.chosen, start=1):
        _copy(booth, booth.collection[id_], source, folder, place)
    write_contact_sheet(booth.collection, result.chosen, booth.theme, "", folder / SHEET)
    return folder


def when_finished(booth: Booth, act: Callable[[], None], stop: threading.Event) -> threading.Thread:
    """Call `act` once the study has ended, unless `stop` is set before."""

    def watch() -> None:
        while not stop.wait(LOOK_EVERY_S):
            if booth.study.finished is not None:
                act()
                return

    thread = threading.Thread(target=watch, name="handful-solo", daemon=True)
    thread.start()
    return thread


def _copy(booth: Booth, item: Item, source: Path, folder: Path, place: int) -> None:
    name = PurePosixPath(item.id).name
    original = source / item.id
    if item.kind == "text":
        (folder / f"{place}-{PurePosixPath(name).stem}.txt").write_text(item.text + "\n", encoding="utf-8")
    elif source.is_dir() and original.is_file():
        shutil.copy2(original, folder / f"{place}-{name}")
    else:
        shutil.copy2(booth.collection.large(item), folder / f"{place}-{PurePosixPath(name).stem}.webp")

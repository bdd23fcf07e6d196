"""The folder of picks: the chosen items as files, numbered in the order they were picked, and their contact sheet."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path, PurePosixPath

from handful.crowd.collection.items import Collection, Item
from handful.crowd.collection.sources import MAX_PICTURE_BYTES, PICTURES, safe_name
from handful.crowd.output.contact_sheet import result_sheet
from handful.study.results import Result

SHEET, WORDS = "contact-sheet.png", "result.txt"


def picks_folder(source: Path) -> Path:
    """Where picks go: in the current folder, named after the source."""
    return Path(f"{source.resolve().stem}-best")


def write_picks(collection: Collection, result: Result[str], title: str, source: Path, folder: Path) -> Path:
    """Write the chosen items, their contact sheet and what is said of them, and give the folder.

    The items are the original files where there are any.

    They go into a new folder; one that is there already is left alone, and the new one gets its name with a number.
    """
    target, number = folder, 2
    while target.exists():
        target, number = Path(f"{folder}-{number}"), number + 1
    target.mkdir(parents=True)
    width = len(str(len(result.chosen)))
    for place, id_ in enumerate(result.chosen, start=1):
        _write_pick(collection, collection[id_], source, target, f"{place:0{width}}")
    (target / SHEET).write_bytes(result_sheet(collection, result, title))
    (target / WORDS).write_text(_words(collection, result, title), encoding="utf-8")
    return target


def _words(collection: Collection, result: Result[str], title: str) -> str:
    """What is said of each pick, then what is proved and on what that rests."""
    picks = (
        f"{place}. {collection.name_of(pick.item)}\n   {' '.join(pick.sentences(collection.name_of))}"
        for place, pick in enumerate(result.picks, start=1)
    )
    return "\n\n".join([title, *picks, result.verdict, str(result.certificate)]) + "\n"


def _write_pick(collection: Collection, item: Item, source: Path, folder: Path, place: str) -> None:
    name = PurePosixPath(item.id)
    if item.kind == "text":
        (folder / f"{place}-{name.stem}.txt").write_text(item.text + "\n", encoding="utf-8")
    elif name.suffix.lower() not in PICTURES or not _copy_original(item.id, source, folder / f"{place}-{name.name}"):
        shutil.copy2(collection.large(item), folder / f"{place}-{name.stem}.webp")


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
        entry = next((one for one in archive.infolist() if safe_name(one.filename) == name), None)
        if entry is None or entry.file_size > MAX_PICTURE_BYTES:
            return False
        with archive.open(entry) as stream:
            target.write_bytes(stream.read(MAX_PICTURE_BYTES))
        return True

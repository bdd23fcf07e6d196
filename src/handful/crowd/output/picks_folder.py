"""The folder of picks: the chosen items as files, numbered in the order they were picked, and their contact sheet."""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from handful.crowd.collection.items import Collection, Item
from handful.crowd.collection.originals import copy_original
from handful.crowd.collection.sources import PICTURES, UNNAMED
from handful.crowd.output.contact_sheet import result_sheet
from handful.study.results import Result

SHEET, WORDS = "contact-sheet.png", "result.txt"
MOST_LETTERS = 30


def picks_folder(source: Path) -> Path:
    """Where picks go: in the current folder, named after the source."""
    return Path(f"{source.resolve().stem}-best")


def write_picks(collection: Collection, result: Result[str], title: str, sources: Sequence[Path], folder: Path) -> Path:
    """Write the chosen items, their contact sheet and what is said of them, and give the folder.

    The items are the original files where one of the sources has them.

    They go into a new folder; one that is there already is left alone, and the new one gets its name with a number.
    """
    target, number = folder, 2
    while target.exists():
        target, number = Path(f"{folder}-{number}"), number + 1
    target.mkdir(parents=True)
    width = len(str(len(result.chosen)))
    for place, id_ in enumerate(result.chosen, start=1):
        _write_pick(collection, collection[id_], sources, target, f"{place:0{width}}")
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


def _write_pick(collection: Collection, item: Item, sources: Sequence[Path], folder: Path, place: str) -> None:
    """Write one pick: a text, the file that it was made from, or else the picture as it was shown."""
    name = PurePosixPath(item.id)
    if item.kind == "text":
        (folder / f"{place}-{_first_words(item) or name.stem}.txt").write_text(item.text + "\n", encoding="utf-8")
        return
    file = PurePosixPath(item.file or item.id)
    known = file.suffix.lower() in PICTURES
    if not known or not copy_original(item, sources, folder / f"{place}-{_named(name.name, file)}"):
        shutil.copy2(collection.large(item), folder / f"{place}-{name.stem}.webp")


def _first_words(item: Item) -> str:
    """How a text begins that nobody gave a name, as a file's name."""
    # Marks belong to the letter before them: without its vowel signs Hindi cannot be read.
    kept = (c if c.isalnum() or unicodedata.category(c).startswith("M") else " " for c in item.text[:MOST_LETTERS])
    words = " ".join("".join(kept).split())
    return words if re.fullmatch(UNNAMED, item.id) else ""


def _named(name: str, file: PurePosixPath) -> str:
    """An item's name with the ending of its file: "a.jpg (2)" is "a (2).jpg"."""
    ending = file.suffix
    if name.lower().endswith(ending.lower()):
        return name
    number = name.removeprefix(file.name)
    return f"{file.stem}{number}{ending}" if number != name else f"{name}{ending}"

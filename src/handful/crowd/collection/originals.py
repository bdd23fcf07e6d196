"""The files that items were made from, as they were given: nobody is shown them, but the picks are given back so."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from handful.crowd.collection.items import Item
from handful.crowd.collection.sources import MAX_PICTURE_BYTES, safe_name

ORIGINALS = "originals"
"""The folder in which a collection keeps the originals of items that come from an earlier study."""


def copy_original(name: str, sources: Sequence[Path], target: Path, *, link: bool = False) -> bool:
    """Whether the file that an item was made from is still in one of the sources, and was copied.

    `link`: where the disk allows it, both are then one file, which nobody must change.
    """
    return any(_copy(name, source, target, link) for source in sources)


def keep_originals(items: Iterable[Item], sources: Sequence[Path], folder: Path) -> None:
    """Keep the originals of these pictures in a collection's folder, under the names of the items."""
    for item in items:
        target = folder / ORIGINALS / item.id
        if item.picture and target.resolve().is_relative_to((folder / ORIGINALS).resolve()):
            target.parent.mkdir(parents=True, exist_ok=True)
            copy_original(item.id, sources, target, link=True)


def _copy(name: str, source: Path, target: Path, link: bool) -> bool:
    if source.suffix.lower() == ".zip" and source.is_file():
        return _unzip(name, source, target)
    beside = source if source.is_dir() else source.parent
    original = (beside / name).resolve()
    if source.suffix.lower() == ".db" or not original.is_relative_to(beside.resolve()) or not original.is_file():
        return False
    if link:
        with suppress(OSError):  # another disk, or one that knows no links
            os.link(original, target)
            return True
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

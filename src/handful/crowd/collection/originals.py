"""The files that items were made from, as they were given: nobody is shown them, but the picks are given back so."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from handful.crowd.collection.items import Item
from handful.crowd.collection.sources import MAX_PICTURE_BYTES, safe_name

ORIGINALS = "originals"
"""The folder in which a collection keeps the originals of items that come from an earlier study."""


def copy_original(item: Item, sources: Sequence[Path], target: Path, *, link: bool = False) -> bool:
    """Whether the file that an item was made from is still in one of the sources, and was copied.

    It is told by its bytes, where their digest was noted: two files may have had one name. `link`: where the disk
    allows it, both are then one file, which nobody must change.
    """
    return any(_copy(item, source, target, link) for source in sources)


def keep_originals(items: Iterable[Item], sources: Sequence[Path], folder: Path) -> None:
    """Keep the originals of these pictures in a collection's folder, under the names of the items."""
    for item in items:
        target = folder / ORIGINALS / item.id
        if item.picture and target.resolve().is_relative_to((folder / ORIGINALS).resolve()):
            target.parent.mkdir(parents=True, exist_ok=True)
            copy_original(item, sources, target, link=True)


def _copy(item: Item, source: Path, target: Path, link: bool) -> bool:
    if source.suffix.lower() == ".zip" and source.is_file():
        return _unzip(item, source, target)
    beside = source if source.is_dir() else source.parent
    for name in _names(item) if source.suffix.lower() != ".db" else ():
        original = (beside / name).resolve()
        if not original.is_relative_to(beside.resolve()) or not original.is_file():
            continue
        if original.stat().st_size > MAX_PICTURE_BYTES or not _is_of(item, original.read_bytes()):
            continue
        if link:
            with suppress(OSError):  # another disk, or one that knows no links
                os.link(original, target)
                return True
        shutil.copy2(original, target)
        return True
    return False


def _unzip(item: Item, source: Path, target: Path) -> bool:
    with zipfile.ZipFile(source) as archive:
        names = set(_names(item))
        for entry in archive.infolist():
            if not names & {entry.filename, safe_name(entry.filename)} or entry.file_size > MAX_PICTURE_BYTES:
                continue
            with archive.open(entry) as stream:
                data = stream.read(MAX_PICTURE_BYTES)
            if _is_of(item, data):
                target.write_bytes(data)
                return True
    return False


def _names(item: Item) -> Iterator[str]:
    """What the file may be called: as it was given, or as it was kept for an item of an earlier study."""
    yield from dict.fromkeys(name for name in (item.file, item.id) if name)


def _is_of(item: Item, data: bytes) -> bool:
    return not item.uploaded or item.uploaded == sha256(data).hexdigest()

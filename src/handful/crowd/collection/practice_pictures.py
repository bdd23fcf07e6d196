"""Pictures of the organizer's own to practise on: processed like items, kept beside them, and never chosen from."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Collection as Names
from contextlib import closing
from dataclasses import replace
from pathlib import Path, PurePosixPath

from handful.crowd.collection.decoder import Decoder
from handful.crowd.collection.intake import item_of, storing
from handful.crowd.collection.items import Collection, Item, LeftOut, carry, has_collection, load_collection
from handful.crowd.collection.sources import MAX_PICTURE_BYTES, PICTURES, raw_of
from handful.crowd.collection.uploads import SPARE_BYTES
from handful.errors import InvalidCollection, StorageError

PRACTICE = "practice.json"
"""As a manifest, of the pictures that people practise on."""
MOST_PICTURES = 40

_adding = threading.Lock()


def practice_pictures(folder: Path) -> Collection:
    """The pictures to practise on, beside the items of this folder."""
    there = (folder / PRACTICE).exists()
    return load_collection(folder, PRACTICE) if there else Collection(folder, ())


def is_picture(name: str) -> bool:
    """Whether this is what a picture's file is called."""
    return PurePosixPath(name).suffix.lower() in PICTURES


def take_practice_picture(folder: Path, name: str, data: bytes) -> Item:
    """Process a picture and keep it under its name, or under another one where that is taken; InvalidCollection says
    why it is not taken. The same picture again is the one that is there.
    """
    raw = raw_of(name, data)
    if isinstance(raw, LeftOut) or raw.text:
        why = raw.why if isinstance(raw, LeftOut) else "is a text: write it into the field"
        raise InvalidCollection(f"the file {raw.name} {why}")
    if len(data) > MAX_PICTURE_BYTES:
        raise InvalidCollection(f"the file {raw.name} is larger than {MAX_PICTURE_BYTES // 1_000_000} MB")
    with storing(folder):
        free = shutil.disk_usage(folder).free
    if free < SPARE_BYTES + len(data):
        raise StorageError("the server's disk is nearly full: free some space and send the picture again")
    with _adding:  # from its files on: they must not be let go of before they have a name
        with closing(Decoder()) as decoder:
            made = item_of(raw, folder, decoder)
        if isinstance(made, LeftOut):
            raise InvalidCollection(f"the file {made.name} {made.why}")
        there = practice_pictures(folder)
        same = next((item for item in there if item.picture == made.picture), None)
        if same is not None:
            return same
        if len(there) >= MOST_PICTURES:
            raise InvalidCollection(f"a practice has at most {MOST_PICTURES} pictures: use one that is there")
        taken = {*there.ids, *(load_collection(folder).ids if has_collection(folder) else ())}
        new, number = made.id, 2
        while new in taken:
            new, number = f"{PurePosixPath(made.id).stem} ({number}){PurePosixPath(made.id).suffix}", number + 1
        item = replace(made, id=new)
        with storing(folder):
            Collection(folder, (*there, item)).save(PRACTICE)
    return item


def keep_practice_pictures(folder: Path, names: Names[str]) -> None:
    """Delete the pictures that the practice does not name."""
    with _adding:
        there = practice_pictures(folder)
        kept = tuple(item for item in there if item.id in names)
        if len(kept) == len(there):
            return
        items = load_collection(folder).items if has_collection(folder) else ()
        used = {name for item in (*kept, *items) for name in there.pictures(item)}
        with storing(folder):
            Collection(folder, kept).save(PRACTICE)
            for name in {name for item in there for name in there.pictures(item)} - used:
                (folder / name).unlink(missing_ok=True)


def carry_practice_pictures(source: Path, folder: Path) -> None:
    """Take them into the folder of another study."""
    there = practice_pictures(source)
    if len(there):
        carry(there, there.ids, folder, PRACTICE)

"""The collection that people see: pictures and texts, processed once and kept in a folder beside the database."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection as Collection_
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from handful.crowd.collection.distinct_names import cut_apart, told_apart
from handful.errors import InvalidCollection

UNFINISHED = ".unfinished"
"""How the names of files end that are being written."""
MANIFEST = "manifest.json"
CARRIED = "carried.json"
"""As a manifest, of items that a new study was begun with: they come from another one."""
VERSION = 1
MOST_QUOTED = 40
LARGE, MEDIUM, SMALL = ".webp", "-medium.webp", "-small.webp"  # how the files of a picture end


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to choose. `id` is the organizer's name for it; `picture` names its files by what is in them.

    `uploaded` is the SHA-256 of the bytes it was made from, and `file` the name of the file that had them where that is
    not the id; both are empty in collections of earlier versions.
    """

    id: str
    kind: Literal["picture", "text"]
    text: str = ""
    caption: str = ""
    alt: str = ""
    picture: str = ""
    width: int = 0
    height: int = 0
    medium: bool = False  # whether there is a version between the large and the small one
    uploaded: str = ""
    file: str = ""

    @property
    def content(self) -> str:
        """What two items have in common that are the same."""
        return self.picture or " ".join(self.text.split()).casefold()

    @property
    def label(self) -> str:
        """What a person calls it: its caption, the beginning of its text, or its name."""
        return self.caption or self.text[:80] or self.id


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something in the source that did not become an item, and why; `files`: how many of it, 0 of one that was cut."""

    name: str
    why: str
    files: int = 1


@dataclass(frozen=True)
class Collection:
    """All items, in order, the folder that holds their pictures, and what was left out.

    `source` is the folder or file on this machine that they came from, or "".
    """

    folder: Path
    items: tuple[Item, ...]
    left_out: tuple[LeftOut, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_id", {item.id: item for item in self.items})

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, id: str) -> Item:
        by_id: dict[str, Item] = self._by_id  # type: ignore[attr-defined]
        return by_id[id]

    def name_of(self, id: str) -> str:
        """What a sentence calls an item, in a few words: its caption, its text in quotes, or its file without the
        ending; no two items are called the same.
        """
        return self._names[id]

    @cached_property
    def _names(self) -> dict[str, str]:
        quoted = [item for item in self.items if item.text and not item.caption]
        texts = cut_apart([" ".join(item.text.split()) for item in quoted], lambda text: len(text) <= MOST_QUOTED)
        quotes = {item.id: f"“{text}”" for item, text in zip(quoted, texts, strict=True)}
        return told_apart(
            {item.id: quotes.get(item.id) or item.caption or PurePosixPath(item.id).stem for item in self.items}
        )

    @property
    def ids(self) -> tuple[str, ...]:
        """The items' names, in order."""
        return tuple(item.id for item in self.items)

    @cached_property
    def only_texts(self) -> bool:
        """Whether there is no picture among the items."""
        return all(item.kind == "text" for item in self.items)

    def digests(self) -> dict[str, dict[str, str]]:
        """The SHA-256 of each item, by its name: of the bytes as they were `uploaded`, where that was noted, and as
        `sha256` of the picture or text as people see it.
        """
        return {item.id: self._digests_of(item) for item in self.items}

    def _digests_of(self, item: Item) -> dict[str, str]:
        shown = self.large(item).read_bytes() if item.picture else item.text.encode()
        uploaded = {"uploaded": item.uploaded} if item.uploaded else {}
        return {**uploaded, "sha256": sha256(shown).hexdigest()}

    def large(self, item: Item) -> Path:
        """The picture as it is shown."""
        return self.folder / f"{item.picture}{LARGE}"

    def thumbnail(self, item: Item) -> Path:
        """The picture in small, for lists."""
        return self.folder / f"{item.picture}{SMALL}"

    def pictures(self, item: Item) -> tuple[str, ...]:
        """The names of all files of an item's picture."""
        endings = (LARGE, SMALL, MEDIUM) if item.medium else (LARGE, SMALL)
        return tuple(f"{item.picture}{ending}" for ending in endings) if item.picture else ()

    def save(self, name: str = MANIFEST) -> None:
        """Write the manifest last, and in one step: a folder without it is an ingestion that did not finish."""
        told = {
            "version": VERSION,
            "items": [_without_blanks(asdict(item)) for item in self.items],
            "left_out": [asdict(one) for one in self.left_out],
            **({"source": self.source} if self.source else {}),
        }
        unfinished = self.folder / f"{name}{UNFINISHED}"
        with unfinished.open("w", encoding="utf-8") as file:
            json.dump(told, file, ensure_ascii=False, indent=1)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(self.folder / name)


def has_collection(folder: Path) -> bool:
    """Whether a collection was processed into this folder, to the end."""
    return (folder / MANIFEST).exists()


def load_collection(folder: Path, name: str = MANIFEST) -> Collection:
    """The collection that was processed into this folder before."""
    try:
        told = json.loads((folder / name).read_text(encoding="utf-8"))
        if told["version"] != VERSION:
            raise InvalidCollection(f"{folder} was made by another version of handful: give the pictures again")
        items = tuple(Item(**item) for item in told["items"])
        left_out = tuple(LeftOut(**one) for one in told["left_out"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, InvalidCollection):
            raise
        raise InvalidCollection(f"{folder} cannot be read as a processed collection: give the items again") from error
    collection = Collection(folder, items, left_out, str(told.get("source", "")))
    missing = [item.id for item in items if item.picture and not collection.large(item).exists()]
    if missing:
        raise InvalidCollection(f"{folder} has lost the picture of {missing[0]!r}: restore the folder from a backup")
    return collection


def forget_half_written(folder: Path) -> None:
    """Delete files of a collection that were being written when the process died."""
    for path in folder.glob(f"*{UNFINISHED}"):
        path.unlink(missing_ok=True)


def carry(collection: Collection, ids: Collection_[str], folder: Path, manifest: str = CARRIED) -> Collection:
    """The items of these names as a collection of their own in another folder, with pictures of its own."""
    taken = Collection(folder, tuple(item for item in collection if item.id in ids))
    for name in (name for item in taken for name in taken.pictures(item)):
        try:
            os.link(collection.folder / name, folder / name)
        except FileExistsError:  # the same picture twice
            continue
        except OSError:  # another disk, or one that knows no links
            shutil.copy2(collection.folder / name, folder / name)
    taken.save(manifest)
    return taken


def check_enough(items: int, left_out: Sequence[LeftOut], where: Path) -> None:
    """A choice needs two things at least; when there are fewer, say what happened to the rest."""
    if items >= 2:
        return
    found = "no usable items" if items == 0 else "1 usable item"
    said = "; ".join(f"{one.name} {one.why}" for one in left_out[:5])
    raise InvalidCollection(
        f"found {found} in {where}, and choosing takes at least 2" + (f". Left out: {said}" if said else "")
    )


def _without_blanks(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if value not in ("", 0)}

"""A collection: the items that are chosen from, what they are called, and the folder that keeps them."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Collection as Collection_
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, Literal

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


def _without_blanks(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if value not in ("", 0)}


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


# What is there twice


SAME_AS = "is the same as "
_COPY = re.compile(
    r"^(copy|kopie|copie|copia) (of|von|de|di) |[ _-](copy|kopie|copie|copia)( ?\(?\d+\)?)?$|\(\d+\)$", re.I
)


def is_copy(name: str) -> bool:
    """Whether a file's name is one that file managers and browsers give to copies."""
    return _COPY.search(PurePosixPath(name).stem) is not None


def change_places(original: Item, items: list[Item], left_out: list[LeftOut], at: int) -> None:
    """Let the item at this place, a copy that was met first, be left out, and its original be the item."""
    copied = items[at].id
    items[at] = original
    for place, one in enumerate(left_out):
        if one.why == f"{SAME_AS}{copied}":
            left_out[place] = replace(one, why=f"{SAME_AS}{original.id}")
    left_out.append(LeftOut(copied, f"{SAME_AS}{original.id}"))


# Names that nobody takes for each other


CONTEXT = 12
"""So many letters before the place where two texts differ may be shown with it."""
LEAST_BEGINNING = 4
"""So many letters a beginning has that is worth showing: "the …" says nothing."""
MOST_TIMES = 50
"""How often texts are compared further on, where each differs from the next a little later than from the one before."""


def cut_apart(texts: Sequence[str], fits: Callable[[str], bool]) -> list[str]:
    """Each text as it is if it fits, else its beginning; of texts that begin alike also where they differ: "The old
    harbour … in winter", and where there is no room for both, that alone.
    """
    starts = dict.fromkeys(texts, 0)
    cut = {text: _beginning(text, fits) for text in starts}
    for _ in range(MOST_TIMES):
        alike = [group for group in _grouped((short, text) for text, short in cut.items()) if len(group) > 1]
        for group in alike:
            further = _where_they_differ([text[starts[text] :] for text in group])
            for text in group:
                starts[text] += further
                cut[text] = _beginning(text[starts[text] :], fits, "… " if starts[text] else "")
        if not alike:
            break
    whole = {text: _with_beginning(text, starts[text], cut[text], fits) for text in cut}
    cut = whole if len(set(whole.values())) == len(whole) else cut
    return [cut[text] for text in texts]


def told_apart(names: dict[str, str]) -> dict[str, str]:
    """The name of each id, followed by the id itself where several have the name."""
    told, alike = dict(names), [*_groups_alike(names)]
    while alike:  # as a name with an id may be the name of another
        told |= {id_: f"{told[id_]} ({id_})" for group in alike for id_ in group}
        alike = [*_groups_alike(told)]
    return told


def _groups_alike(names: dict[str, str]) -> Iterator[list[str]]:
    """The ids that share a name, for each such name."""
    return (ids for ids in _grouped((name, id_) for id_, name in names.items()) if len(ids) > 1)


def _grouped(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Whatever has the same name, as pairs of a name and what has it."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name, what in pairs:
        groups[name].append(what)
    return list(groups.values())


def _beginning(text: str, fits: Callable[[str], bool], before: str = "") -> str:
    """The text, or as many of its words as fit; of a first word that is too long, its letters."""
    if fits(f"{before}{text}"):
        return f"{before}{text}"
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(f"{before}{text[:middle]}…") else (low, middle - 1)
    words = text[:low].rpartition(" ")[0].rstrip()
    return f"{before}{words} …" if words else f"{before}{text[:low]}…"


def _with_beginning(text: str, start: int, shown: str, fits: Callable[[str], bool]) -> str:
    """A text that is shown from `start` on, with as many of its first words before that as fit."""
    words = text[:start].split()
    for number in range(len(words), 0, -1):
        beginning = " ".join(words[:number])
        if len(beginning) >= LEAST_BEGINNING and fits(f"{beginning} {shown}"):
            return f"{beginning} {shown}"
    return shown


def _where_they_differ(texts: Sequence[str]) -> int:
    """The beginning of the word, or else the letter, from which texts are to be shown that begin alike."""
    first, last = min(texts), max(texts)
    common = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    common = max(0, min(common, min(map(len, texts)) - CONTEXT))  # of one that ends there its end is shown
    word = texts[0].rfind(" ", 0, common) + 1
    return word if word and common - word <= CONTEXT else common

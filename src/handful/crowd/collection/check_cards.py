"""What only checks show: spoiled copies of a few items, and cards that say which one to choose.

They are made once when a study opens, and kept in a folder beside the collection's pictures. Which items are copied is
drawn, so that nobody can know it from the collection.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from handful.crowd.collection.decoder import Decoder
from handful.crowd.collection.intake import item_of
from handful.crowd.collection.items import Collection, Item
from handful.crowd.collection.sources import Raw
from handful.errors import InvalidCollection

FOLDER, MANIFEST = "checks", "checks.json"
CARDS = 4
BLOCKS, STATIC = 16, 0.6
"""A spoiled picture is so many blocks wide, and mostly static: nobody can say what it showed, or take it for one."""
PAPERS = ("#f3d9a4", "#c5dfc9", "#cfd8f0", "#f0cfd0")
INK = "#1f2a33"


@dataclass(frozen=True)
class CheckCards:
    """Spoiled copies by the names of the items they are of, and the cards that say "choose this one"."""

    folder: Path
    instruction: str
    spoiled: dict[str, Item]
    instructed: tuple[Item, ...]


def check_cards(collection: Collection, instruction: str, copies: int = 10) -> CheckCards:
    """The cards for a collection's checks, with so many spoiled copies: those that were made before, or new ones."""
    folder = collection.folder / FOLDER
    known = _load(folder, collection)
    copies = min(copies, len(collection))
    if known is not None and known.instruction == instruction and len(known.spoiled) >= copies:
        return known
    folder.mkdir(parents=True, exist_ok=True)
    drawn = secrets.SystemRandom()
    of = drawn.sample(collection.items, copies)
    decoder = Decoder() if any(item.kind == "picture" for item in of) else None
    try:
        spoiled = {item.id: _spoiled(item, collection, folder, decoder) for item in of}
        like = [drawn.choice(of) for _ in range(CARDS)]
        instructed = _instructed(instruction, like, folder, decoder)
    finally:
        if decoder is not None:
            decoder.close()
    made = CheckCards(folder, instruction, spoiled, instructed)
    _save(made)
    return made


def _spoiled(item: Item, collection: Collection, folder: Path, decoder: Decoder | None) -> Item:
    """The item, so that nobody would choose it: a picture in coarse blocks, a text with its letters out of order."""
    if item.kind == "text":
        return Item(item.id, "text", text=spoiled_text(item.text), caption=item.caption)
    assert decoder is not None
    size = (item.width, item.height)
    rows = max(2, round(BLOCKS * size[1] / size[0]))
    coarse = decoder.pixels(collection.large(item).read_bytes(), (BLOCKS, rows), "exact")
    static = Image.frombytes("L", coarse.size, secrets.token_bytes(BLOCKS * rows)).convert("RGB")
    spoilt = Image.blend(coarse, static, STATIC).resize(size, Image.Resampling.NEAREST)
    return _kept(item, _png(spoilt), folder, decoder)


def spoiled_text(text: str) -> str:
    """The text with its letters in any order and its spaces where they were."""
    letters = [letter for letter in text if not letter.isspace()]
    random.SystemRandom().shuffle(letters)
    taken = iter(letters)
    return "".join(letter if letter.isspace() else next(taken) for letter in text)


def _instructed(instruction: str, like: Sequence[Item], folder: Path, decoder: Decoder | None) -> tuple[Item, ...]:
    """Cards that say what to do, each of the form of some item; none where the words cannot be drawn."""
    cards = []
    for at, item in enumerate(like):
        if item.kind == "text":
            cards.append(Item(item.id, "text", text=instruction, caption=item.caption))
        elif can_be_drawn(instruction):
            drawn = _drawn(instruction, (item.width, item.height), PAPERS[at % len(PAPERS)])
            cards.append(_kept(item, drawn, folder, decoder))
    return tuple(cards)


def can_be_drawn(words: str) -> bool:
    """Whether the font that is at hand has the letters; of Latin ones it has most."""
    return all(letter.isascii() or "À" <= letter <= "ſ" for letter in words)


def _drawn(words: str, size: tuple[int, int], paper: str) -> bytes:
    """A picture of that size with the words on it, as large as they fit."""
    picture = Image.new("RGB", size, paper)
    pen = ImageDraw.Draw(picture)
    room = 0.86 * min(size[0], 3 * size[1])
    for letters in (9, 12, 16, 24):
        lines = "\n".join(textwrap.wrap(words, letters))
        font = ImageFont.load_default(100)
        left, top, right, bottom = pen.multiline_textbbox((0, 0), lines, font=font, align="center")
        scale = min(room / (right - left), 0.8 * size[1] / (bottom - top))
        if scale * (right - left) >= 0.6 * size[0] or letters == 24:
            break
    font = ImageFont.load_default(max(8, int(100 * scale)))
    pen.multiline_text((size[0] / 2, size[1] / 2), lines, INK, font, anchor="mm", align="center")
    return _png(picture)


def _kept(item: Item, data: bytes, folder: Path, decoder: Decoder | None) -> Item:
    """A picture that stands for an item, processed and kept like any other."""
    assert decoder is not None
    made = item_of(Raw(item.id, data=data, caption=item.caption, alt=item.alt), folder, decoder)
    if not isinstance(made, Item):
        raise InvalidCollection(f"a check's picture could not be made from {item.id}: {made.why}")
    return made


def _png(picture: Image.Image) -> bytes:
    out = BytesIO()
    picture.save(out, "PNG", compress_level=1)
    return out.getvalue()


def _save(made: CheckCards) -> None:
    """Write the manifest last and in one step: without it, the cards are made again."""
    told = {
        "instruction": made.instruction,
        "spoiled": {name: asdict(item) for name, item in made.spoiled.items()},
        "instructed": [asdict(item) for item in made.instructed],
    }
    unfinished = made.folder / f"{MANIFEST}.unfinished"
    with unfinished.open("w", encoding="utf-8") as file:
        json.dump(told, file, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(made.folder / MANIFEST)


def _load(folder: Path, collection: Collection) -> CheckCards | None:
    """The cards that are kept there; None unless all of them are whole, and of these items."""
    try:
        told = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        spoiled = {str(name): Item(**item) for name, item in told["spoiled"].items()}
        instructed = tuple(Item(**item) for item in told["instructed"])
        kept = CheckCards(folder, str(told["instruction"]), spoiled, instructed)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    names = [name for item in (*spoiled.values(), *instructed) for name in collection.pictures(item)]
    whole = bool(spoiled) and spoiled.keys() <= set(collection.ids)
    return kept if whole and all((folder / name).exists() for name in names) else None

"""From a source to a collection, and the pictures beside it: to practise on, and for checks."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import secrets
import shutil
import textwrap
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Collection as Names
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from errno import ENOSPC
from io import BytesIO
from pathlib import Path, PurePosixPath

from PIL import Image, ImageDraw, ImageFont

from handful.crowd.collection import (
    LARGE,
    MEDIUM,
    SAME_AS,
    SMALL,
    UNFINISHED,
    Collection,
    Item,
    LeftOut,
    carry,
    change_places,
    check_enough,
    forget_half_written,
    has_collection,
    is_copy,
    load_collection,
)
from handful.crowd.decoding import Decoded, Decoder
from handful.crowd.sources import MAX_PICTURE_BYTES, MAX_TEXT, PICTURES, SPARE_BYTES, Raw, Source, open_source, raw_of
from handful.errors import InvalidCollection, StorageError

ItemsDone = Callable[[int, int], None]
"""Called with how many things are done, and how many there are."""
AHEAD = 2
"""Pictures waiting per decoder: enough to keep it busy, few enough to fit in memory."""


def ingest(
    path: str | Path, folder: str | Path, progress: ItemsDone | None = None, *, carried: Sequence[Item] = ()
) -> Collection:
    """Process the pictures and texts at `path` into `folder`, and give them as a collection.

    `carried` are items that are in the folder already: they come first.
    """
    target = Path(folder)
    with storing(target):
        target.mkdir(parents=True, exist_ok=True)
        forget_half_written(target)
    items = list(carried)
    left_out: list[LeftOut] = []
    seen = {item.content: at for at, item in enumerate(carried)}
    ids = {item.id for item in carried}
    with open_source(Path(path)) as source:
        for done, outcome in enumerate(_processed(source, target), start=1):
            if isinstance(outcome, Item) and len(outcome.text) > MAX_TEXT:
                left_out.append(LeftOut(outcome.id, f"was cut after {MAX_TEXT:,} characters", files=0))
                outcome = replace(outcome, text=outcome.text[:MAX_TEXT])
            if not isinstance(outcome, Item):
                left_out.append(outcome)
            elif (at := seen.setdefault(outcome.content, len(items))) == len(items):
                items.append(_under_its_own_id(outcome, ids))
            elif at >= len(carried) and is_copy(items[at].id) and not is_copy(outcome.id):
                change_places(_under_its_own_id(outcome, ids), items, left_out, at)
            else:
                left_out.append(LeftOut(outcome.id, f"{SAME_AS}{items[at].id}"))
            if progress is not None:
                progress(done, source.total)
        left_out += source.passed_over
    check_enough(len(items), left_out, Path(path))
    collection = Collection(target, tuple(items), tuple(left_out))
    with storing(target):
        collection.save()
    return collection


@contextmanager
def storing(folder: Path) -> Iterator[None]:
    """Say in one sentence where and why items cannot be stored."""
    try:
        yield
    except OSError as error:
        advice = "free some space, and start again" if error.errno == ENOSPC else "choose a folder that can be written"
        raise StorageError(f"the items cannot be stored in {folder}: {error.strerror or error}; {advice}") from error


def _processed(source: Source, folder: Path) -> Iterator[Item | LeftOut]:
    """Every raw item's outcome, in order, with a few decoders at work."""
    with _decoders() as submit:
        waiting: deque[Future[Item | LeftOut]] = deque()
        for raw in source.read():
            waiting.append(submit(raw, folder))
            if len(waiting) > AHEAD * _workers():
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@contextmanager
def _decoders() -> Iterator[Callable[[Raw | LeftOut, Path], Future[Item | LeftOut]]]:
    mine = threading.local()
    all_of_them: list[Decoder] = []

    def start() -> None:
        mine.decoder = Decoder()
        all_of_them.append(mine.decoder)

    def process(raw: Raw | LeftOut, folder: Path) -> Item | LeftOut:
        return raw if isinstance(raw, LeftOut) else item_of(raw, folder, mine.decoder)

    pool = ThreadPoolExecutor(_workers(), initializer=start)
    try:
        yield lambda raw, folder: pool.submit(process, raw, folder)
    finally:
        pool.shutdown(cancel_futures=True)
        for decoder in all_of_them:
            decoder.close()


def _workers() -> int:
    return min(4, os.cpu_count() or 1)


def item_of(raw: Raw, folder: Path, decoder: Decoder) -> Item | LeftOut:
    """The item that this becomes, its pictures stored in the folder; or why it becomes none."""
    digest, file = hashlib.sha256(raw.data or raw.text.encode()).hexdigest(), _file(raw)
    if raw.text:
        return Item(raw.name, "text", text=raw.text, caption=raw.caption, uploaded=digest, file=file)
    try:
        decoded = decoder.decode(raw.data)
    except InvalidCollection as refusal:
        return LeftOut(raw.name, str(refusal))
    picture = _keep(decoded, folder)
    return Item(
        raw.name,
        "picture",
        "",
        raw.caption,
        raw.alt,
        picture=picture,
        width=decoded.width,
        height=decoded.height,
        medium=bool(decoded.medium),
        uploaded=digest,
        file=file,
    )


def _file(raw: Raw) -> str:
    """The name of the file, where that is not the item's and can be written down."""
    told = raw.file.encode("utf-8", "replace").decode()
    return raw.file if raw.file != raw.name and told == raw.file else ""


def _keep(decoded: Decoded, folder: Path) -> str:
    """Store all versions under the hash of the large one, so that the same pixels have one name in any file."""
    name = hashlib.sha256(decoded.large).hexdigest()[:32]
    versions = ((SMALL, decoded.thumbnail), (MEDIUM, decoded.medium), (LARGE, decoded.large))
    for ending, data in versions:
        if not data:
            continue
        final = folder / f"{name}{ending}"
        unfinished = folder / f"{name}{ending}.{threading.get_ident()}{UNFINISHED}"
        with storing(folder):
            unfinished.write_bytes(data)
            unfinished.rename(final)
    return name


def _under_its_own_id(item: Item, ids: set[str]) -> Item:
    """Two rows of a CSV, or two names cut short, may end up with one name; every item needs its own."""
    name, number = item.id, 2
    while name in ids:
        name, number = f"{item.id} ({number})", number + 1
    ids.add(name)
    return item if name == item.id else replace(item, id=name, file=item.file or item.id)


# Before anything is processed


NUMBERED = re.compile(r" \(\d+\)$")


def number_of_items(path: Path) -> int:
    """How many items there are at most, without reading them: some may turn out to be unusable. InvalidCollection if
    there are too few to choose from.
    """
    with open_source(path) as source:
        possible = sum(name not in source.refused for name in source.names)
        refused = [LeftOut(name, why) for name, why in source.refused.items()]
        check_enough(possible, [*refused, *source.passed_over], path)
        return possible


def changes_since(path: Path, collection: Collection) -> tuple[int, int]:
    """How many things have come to the source since it was processed, and how many items have left it, by name."""
    with open_source(path) as source:
        present, refused = set(source.names), source.refused
    known = {*collection.ids, *(one.name for one in collection.left_out)}
    # An id may be a name with a number, where two things had the same name.
    gone = [id_ for id_ in collection.ids if id_ not in present and NUMBERED.sub("", id_) not in present]
    new = [name for name in present if name not in known and name not in refused]
    return len(new), len(gone)


# Pictures to practise on: processed like items, kept beside them, and never chosen from


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


# Pictures of checks: made once when a study opens; which items are copied is drawn, so that nobody can know it


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

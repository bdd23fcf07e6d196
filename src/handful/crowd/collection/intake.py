"""From a source to a collection: decode, name by content, notice what is there twice, and keep the result."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from errno import ENOSPC
from pathlib import Path

from handful.crowd.collection.copies import SAME_AS, change_places, is_copy
from handful.crowd.collection.decoder import Decoded, Decoder
from handful.crowd.collection.items import (
    LARGE,
    MEDIUM,
    SMALL,
    UNFINISHED,
    Collection,
    Item,
    LeftOut,
    check_enough,
    forget_half_written,
)
from handful.crowd.collection.sources import MAX_TEXT, Raw, Source, open_source
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

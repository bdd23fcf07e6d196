"""What an organizer takes home: the contact sheet, the report, a folder with the picks, and a copy of the database."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import textwrap
import unicodedata
import zipfile
from base64 import b64encode
from collections.abc import Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path, PurePosixPath

from PIL import Image, ImageDraw, ImageFont

from handful.crowd.assets import page
from handful.crowd.collection import Collection, Item, cut_apart
from handful.crowd.decoding import Decoder
from handful.crowd.sources import PICTURES, UNNAMED, copy_original
from handful.errors import StorageError
from handful.results import PickStatement, Result, RoundResult
from handful.storage import backup
from handful.wording import counted

CELL, GAP, EDGE = (560, 420), 28, 56
SMALL = (116, 87)
"""Of the runner-up's picture."""
SAID, SIZE, LINE = 168, 19, 27
"""The least room for what is said of a pick, the size of its letters, and the height of a line."""
NAME, MOST_LINES = 300, 12
"""How wide a name may be in what is said of a pick, and how many lines there may be."""
PAPER, INK, FAINT, ACCENT = "#fbf9f4", "#23303b", "#66727c", "#0b7a75"
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def contact_sheet(
    collection: Collection, chosen: Sequence[str], title: str, note: str = "", picks: Sequence[PickStatement[str]] = ()
) -> bytes:
    """A PNG of the chosen items, numbered in the order they were picked and named, with a title and a note below.

    Below each stands what `picks` say of it, if they are given, beside a small picture of its runner-up.
    """
    columns = 1 if len(chosen) == 1 else 2 if len(chosen) in (2, 4) else 3
    rows = max(1, -(-len(chosen) // columns))
    width = 2 * EDGE + columns * CELL[0] + (columns - 1) * GAP
    heading = textwrap.wrap(title, max(12, (width - 2 * EDGE) // 25))[:3]
    footing = textwrap.wrap(note, max(20, (width - 2 * EDGE) // 12))[:8]
    top = EDGE + 58 * len(heading) + 24
    names = _names(collection, chosen)
    caption_height = 44 if any(names) else 0
    called = _called(collection, picks)
    said = [_said(collection, pick, called) for pick in picks]
    below = caption_height + (max(SAID, *(LINE * len(lines) + 20 for lines, _ in said)) if said else 0)
    height = top + rows * (CELL[1] + below + GAP) + 30 * len(footing) + EDGE
    sheet = Image.new("RGB", (width, height), PAPER)
    pen = ImageDraw.Draw(sheet)
    for line, text in enumerate(heading):
        pen.text((EDGE, EDGE + 58 * line), text, INK, _font(44))
    with closing(Decoder()) as decoder:
        for place, id_ in enumerate(chosen):
            x = EDGE + (place % columns) * (CELL[0] + GAP)
            y = top + (place // columns) * (CELL[1] + below + GAP)
            _place(sheet, collection, collection[id_], place + 1, (x, y), decoder)
            pen.text((x + 4, y + CELL[1] + 8), names[place], INK, _font(22))
            if picks:
                at = (x + 4, y + CELL[1] + caption_height + 10)
                _say(sheet, collection, picks[place], *said[place], at, decoder)
    for line, text in enumerate(footing):
        pen.text((EDGE, height - EDGE - 30 * (len(footing) - line)), text, FAINT, _font(21))
    out = BytesIO()
    sheet.save(out, "PNG", optimize=False, compress_level=6)
    return out.getvalue()


def _place(
    sheet: Image.Image, collection: Collection, item: Item, number: int, at: tuple[int, int], decoder: Decoder
) -> None:
    pen = ImageDraw.Draw(sheet)
    x, y = at
    frame = (x, y, x + CELL[0], y + CELL[1])
    pen.rounded_rectangle(frame, 14, fill="#efebe2")
    if item.kind == "picture":
        shown = decoder.pixels(collection.large(item).read_bytes(), CELL, "contain")
        sheet.paste(shown, (x + (CELL[0] - shown.width) // 2, y + (CELL[1] - shown.height) // 2))
    else:
        _write_in(pen, item.text, (x + 30, y + 70, x + CELL[0] - 30, y + CELL[1] - 20))
    pen.ellipse((x + 14, y + 14, x + 58, y + 58), fill=ACCENT, outline="white", width=3)
    pen.text((x + 36, y + 36), str(number), "white", _font(24), anchor="mm")


def _names(collection: Collection, chosen: Sequence[str]) -> list[str]:
    """What stands below each: what the collection calls it, as far as there is room; nothing below a text."""
    font = _font(22)
    shown = [collection.name_of(id_) if collection[id_].picture or collection[id_].caption else "" for id_ in chosen]
    return cut_apart(shown, lambda name: font.getlength(name) <= CELL[0] - 8)


def _called(collection: Collection, picks: Sequence[PickStatement[str]]) -> dict[str, str]:
    """What the sentences on the picks call the items that they name: short, so that they need not be cut."""
    font, ids = _font(SIZE), [id_ for pick in picks for id_ in (pick.runner_up, *_near_ties(pick)) if id_ is not None]
    names = cut_apart([collection.name_of(id_) for id_ in ids], lambda name: font.getlength(name) <= NAME)
    return dict(zip(ids, names, strict=True))


def _near_ties(pick: PickStatement[str]) -> tuple[str, ...]:
    return () if pick.believed is None else pick.believed.near_ties


def _said(collection: Collection, pick: PickStatement[str], called: dict[str, str]) -> tuple[list[str], int]:
    """What is said of a pick, in lines that leave room for its runner-up; and how many lines its first sentence has."""
    width = CELL[0] - 8 - (SMALL[0] + 16 if _has_small(collection, pick) else 0)
    first, *rest = pick.sentences(called.__getitem__)
    head = _wrapped(first, width, _font(SIZE), MOST_LINES)
    return [*head, *(_wrapped(" ".join(rest), width, _font(SIZE), MOST_LINES - len(head)) if rest else ())], len(head)


def _has_small(collection: Collection, pick: PickStatement[str]) -> bool:
    return pick.runner_up is not None and bool(collection[pick.runner_up].picture)


def _say(
    sheet: Image.Image,
    collection: Collection,
    pick: PickStatement[str],
    lines: Sequence[str],
    head: int,
    at: tuple[int, int],
    decoder: Decoder,
) -> None:
    """What is said of a pick, and its runner-up in small."""
    pen, (x, y) = ImageDraw.Draw(sheet), at
    if pick.runner_up is not None and _has_small(collection, pick):
        right = x + CELL[0] - 8 - SMALL[0]
        shown = decoder.pixels(collection.thumbnail(collection[pick.runner_up]).read_bytes(), SMALL, "cover")
        sheet.paste(shown, (right, y + 4))
        pen.text((right + SMALL[0] // 2, y + SMALL[1] + 10), "runner-up", FAINT, _font(16), anchor="ma")
    for number, line in enumerate(lines):
        pen.text((x, y + number * LINE), line, INK if number < head else FAINT, _font(SIZE))


def _wrapped(text: str, width: int, font: Font, most: int) -> list[str]:
    """The text in lines that are no wider than this; cut after so many."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and font.getlength(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    if len(lines) > most:
        lines = [*lines[: most - 1], " ".join(lines[most - 1 :])]
    return [_cut(line, width, font) for line in lines]


def _write_in(pen: ImageDraw.ImageDraw, text: str, box: tuple[int, int, int, int]) -> None:
    """The text in the largest size that fits; cut where even the smallest does not."""
    for size in (34, 28, 24, 20, 17):
        lines = textwrap.wrap(text, max(8, int((box[2] - box[0]) / (size * 0.52))))
        if len(lines) * size * 1.35 <= box[3] - box[1] or size == 17:
            break
    most = int((box[3] - box[1]) / (size * 1.35))
    if len(lines) > most:
        lines = [*lines[: most - 1], lines[most - 1][:-1] + "…"]
    for number, line in enumerate(lines):
        pen.text((box[0], box[1] + number * size * 1.35), line, INK, _font(size))


def _cut(text: str, width: int, font: Font) -> str:
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(text + "…") > width:
        text = text[:-1]
    return text + "…"


def _font(size: int) -> Font:
    """A system font that knows many scripts if there is one, else Pillow's own."""
    for path in ("DejaVuSans.ttf", "NotoSans-Regular.ttf"):
        try:
            return ImageFont.truetype(path, size)
        except OSError:
            continue
    return ImageFont.load_default(size)


def result_sheet(collection: Collection, result: Result[str], title: str) -> bytes:
    """The contact sheet of a result: each pick with what is said of it, and below how the whole came about."""
    note = f"{len(result.chosen)} of {len(collection):,}, chosen by {result.answers_said}. {result.verdict}"
    return contact_sheet(collection, result.chosen, title, note, result.picks)


ENDED = {
    "rule": "decided by its answers",
    "budget": "its share of the answers was used",
    "alone": "nothing else was left",
    "closed": "decided with what was known when the study was closed",
    "filled": "filled in from what was known when the study was closed",
}


def report(collection: Collection, result: Result[str], theme: str, people: int, journal: str, now: float) -> str:
    """The page, with the pictures in it. `journal` is the digest of the exported journal."""
    by_pick = {round_.pick: round_ for round_ in result.rounds}
    when = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d")
    number = "one person" if people == 1 else f"{people:,} people"
    return page(
        "report.html",
        theme=theme,
        lead=f"{len(result.chosen)} of {len(collection):,}; {result.answers_said}; {number} took part. {when}.",
        picks=[_reported(collection, pick, by_pick.get(pick.item)) for pick in result.picks],
        verdict=result.verdict,
        certificate=str(result.certificate),
        assumptions=result.certificate.assumptions,
        journal=journal,
    )


def _reported(collection: Collection, pick: PickStatement[str], round_: RoundResult[str] | None) -> dict[str, str]:
    """What the report's page shows of a pick: itself, how it came about, and who came second."""
    item = collection[pick.item]
    shown = {
        "text": item.text,
        "name": collection.name_of(item.id) if item.picture or item.caption else "",  # a text stands there in full
        "early": "filled in" if pick.filled else "cut short" if pick.cut_short else "",
        "said": " ".join(pick.sentences(collection.name_of)),
        "how": ""
        if round_ is None
        else f"{counted(round_.answers, 'answer')}; {ENDED.get(round_.ended, round_.ended)}.",
    }
    if item.picture:
        shown |= {"picture": _encoded(collection.large(item)), "alt": item.alt or item.label}
    second = None if pick.runner_up is None else collection[pick.runner_up]
    if second is not None and second.picture:
        shown |= {"second": _encoded(collection.thumbnail(second)), "second_alt": second.alt or second.label}
    return shown


def _encoded(file: Path) -> str:
    return b64encode(file.read_bytes()).decode()


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


STEM = "handful"


def backup_file(storage: str | Path, items: Path, target: Path | None = None) -> Path:
    """A zip with handful.db and handful.db.items/, made while the studies go on; give its path.

    To restore, unpack it and serve `handful.db`. It holds the secret that workers' cookies are checked with, so keep
    it as safe as the database itself.
    """
    if target is not None and target.exists():
        raise StorageError(f"{target} is there already and is not overwritten: choose another name for the backup")
    with tempfile.TemporaryDirectory(prefix="handful-backup-") as folder:
        database = backup(storage, Path(folder) / f"{STEM}.db")
        if target is None:
            with tempfile.NamedTemporaryFile(prefix="handful-backup-", suffix=".zip", delete=False) as file:
                target = Path(file.name)
        else:
            # For its owner only, from the first byte on: it holds the secret.
            with suppress(OSError):
                os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED, allowZip64=True) as out:
            out.write(database, f"{STEM}.db", compress_type=zipfile.ZIP_DEFLATED)
            for path in sorted(items.rglob("*")):
                if path.is_file():
                    out.write(path, f"{STEM}.db.items/{path.relative_to(items).as_posix()}")
    return target

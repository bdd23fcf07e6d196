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
from html import escape
from io import BytesIO
from pathlib import Path, PurePosixPath

from PIL import Image, ImageDraw, ImageFont

from handful.crowd.collection import Collection, Item, cut_apart
from handful.crowd.decoding import Decoder
from handful.crowd.sources import PICTURES, UNNAMED, copy_original
from handful.errors import StorageError
from handful.storage import backup
from handful.study.results import Result, RoundResult
from handful.study.statements import PickStatement
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
    picks = "\n".join(
        _pick(place, collection, pick, by_pick.get(pick.item)) for place, pick in enumerate(result.picks, start=1)
    )
    when = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d")
    number = "one person" if people == 1 else f"{people:,} people"
    claims = "".join(f"<li>{escape(one)}</li>" for one in result.certificate.assumptions)
    return _PAGE.format(
        theme=escape(theme),
        lead=f"{len(result.chosen)} of {len(collection):,}; {result.answers_said}; {number} took part. {when}.",
        picks=picks or "<p>Nothing is chosen yet.</p>",
        verdict=escape(result.verdict),
        certificate=escape(str(result.certificate)),
        journal=journal,
        assumptions=f"<p>This rests on:</p><ul>{claims}</ul>" if claims else "",
    )


def _pick(place: int, collection: Collection, pick: PickStatement[str], round_: RoundResult[str] | None) -> str:
    item = collection[pick.item]
    if item.picture:
        shown = _picture(collection.large(item), item.alt or item.label)
    else:
        shown = f"<blockquote>{escape(item.text)}</blockquote>"
    how = "" if round_ is None else f"{counted(round_.answers, 'answer')}; {ENDED.get(round_.ended, round_.ended)}."
    named = item.picture or item.caption  # a text stands there in full
    name = f"<strong>{escape(collection.name_of(item.id))}</strong>" if named else ""
    early = "filled in" if pick.filled else "cut short" if pick.cut_short else ""
    mark = f'<em class="early">{early}</em>' if early else ""
    said = f"<p>{escape(' '.join(pick.sentences(collection.name_of)))}</p><p>{how}</p>"
    return (
        f'<figure><span class="place">{place}</span>{shown}'
        f"<figcaption><div>{name}{mark}{said}</div>{_runner_up(collection, pick)}</figcaption></figure>"
    )


def _runner_up(collection: Collection, pick: PickStatement[str]) -> str:
    """Who came second, in small."""
    if pick.runner_up is None or not collection[pick.runner_up].picture:
        return ""
    item = collection[pick.runner_up]
    return f'<div class="second">{_picture(collection.thumbnail(item), item.alt or item.label)}runner-up</div>'


def _picture(file: Path, alt: str) -> str:
    data = b64encode(file.read_bytes()).decode()
    return f'<img src="data:image/webp;base64,{data}" alt="{escape(alt)}">'


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{theme}</title>
<style>
:root {{ --ink: #1f2b35; --faint: #5a6670; --paper: #faf8f3; --surface: #fff; --line: #ddd7ca; --accent: #0b6f6a; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #eceae4; --faint: #a7b1b9; --paper: #12171b; --surface: #1b2228; --line: #2f3942; }}
  :root {{ --accent: #5cc9c0; }}
}}
body {{ margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }}
main {{ max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; display: grid; gap: 1.25rem; }}
h1 {{ margin: 0; font-size: 2.2rem; line-height: 1.15; }}
.lead {{ margin: 0; color: var(--faint); font-size: 1.1rem; }}
.picks {{ display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); }}
figure {{
  margin: 0; position: relative; background: var(--surface); border: 1px solid var(--line); border-radius: 14px;
  overflow: hidden; display: flex; flex-direction: column;
}}
img {{ display: block; width: 100%; height: auto; }}
figure > img {{ aspect-ratio: 4 / 3; object-fit: contain; background: var(--paper); }}
blockquote {{ margin: 0; padding: 1.5rem 1.25rem 1rem 3.25rem; white-space: pre-line; flex: 1; }}
figcaption {{ padding: .75rem 1rem; color: var(--faint); }}
figcaption {{ display: flex; flex-wrap: wrap; gap: 1rem; align-items: start; }}
figcaption div:first-child {{ flex: 1 1 14rem; min-width: 0; }}
figcaption p {{ margin: .25rem 0 0; }}
.early {{ float: right; font-style: normal; font-weight: 600; }}
.second {{ width: 7rem; font-size: .8rem; text-align: center; }}
.second img {{ border-radius: 8px; }}
code {{ overflow-wrap: anywhere; }}
figcaption strong {{ color: var(--ink); overflow-wrap: anywhere; }}
.place {{
  position: absolute; top: .6rem; left: .6rem; display: grid; place-items: center; width: 2rem; height: 2rem;
  border-radius: 50%; background: var(--accent); color: var(--surface); font-weight: 700;
}}
details {{ border-top: 1px solid var(--line); padding-top: 1rem; }}
summary {{ cursor: pointer; color: var(--accent); font-weight: 600; }}
</style></head><body><main>
<h1>{theme}</h1>
<p class="lead">{lead}</p>
<div class="picks">{picks}</div>
<p>{verdict}</p>
<details><summary>What may be claimed, and on what it rests</summary><p>{certificate}</p>{assumptions}
<p>SHA-256 of the journal, as it was exported at that moment: <code>{journal}</code></p></details>
</main></body></html>
"""


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

"""The contact sheet: the summary as one picture to keep, print or send."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont, ImageOps

from handful.crowd.collection.items import Collection, Item

CELL, GAP, EDGE = (560, 420), 28, 56
PAPER, INK, FAINT, ACCENT = "#fbf9f4", "#23303b", "#66727c", "#0b7a75"
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def contact_sheet(collection: Collection, chosen: Sequence[str], title: str, note: str = "") -> bytes:
    """A PNG of the chosen items, numbered in the order they were picked, with a title and a note below."""
    columns = 1 if len(chosen) == 1 else 2 if len(chosen) in (2, 4) else 3
    rows = max(1, -(-len(chosen) // columns))
    width = 2 * EDGE + columns * CELL[0] + (columns - 1) * GAP
    heading = textwrap.wrap(title, max(12, (width - 2 * EDGE) // 25))[:3]
    footing = textwrap.wrap(note, max(20, (width - 2 * EDGE) // 12))[:8]
    top = EDGE + 58 * len(heading) + 24
    caption_height = 44 if any(collection[id_].caption for id_ in chosen) else 0
    height = top + rows * (CELL[1] + caption_height + GAP) + 30 * len(footing) + EDGE
    sheet = Image.new("RGB", (width, height), PAPER)
    pen = ImageDraw.Draw(sheet)
    for line, text in enumerate(heading):
        pen.text((EDGE, EDGE + 58 * line), text, INK, _font(44))
    for place, id_ in enumerate(chosen):
        x = EDGE + (place % columns) * (CELL[0] + GAP)
        y = top + (place // columns) * (CELL[1] + caption_height + GAP)
        _place(sheet, collection, collection[id_], place + 1, (x, y))
    for line, text in enumerate(footing):
        pen.text((EDGE, height - EDGE - 30 * (len(footing) - line)), text, FAINT, _font(21))
    out = BytesIO()
    sheet.save(out, "PNG", optimize=False, compress_level=6)
    return out.getvalue()


def _place(sheet: Image.Image, collection: Collection, item: Item, number: int, at: tuple[int, int]) -> None:
    pen = ImageDraw.Draw(sheet)
    x, y = at
    frame = (x, y, x + CELL[0], y + CELL[1])
    pen.rounded_rectangle(frame, 14, fill="#efebe2")
    if item.kind == "picture":
        with Image.open(collection.large(item)) as picture:
            shown = ImageOps.contain(picture.convert("RGB"), CELL, Image.Resampling.LANCZOS)
        sheet.paste(shown, (x + (CELL[0] - shown.width) // 2, y + (CELL[1] - shown.height) // 2))
    else:
        _write_in(pen, item.text, (x + 30, y + 70, x + CELL[0] - 30, y + CELL[1] - 20))
    pen.ellipse((x + 14, y + 14, x + 58, y + 58), fill=ACCENT, outline="white", width=3)
    pen.text((x + 36, y + 36), str(number), "white", _font(24), anchor="mm")
    if item.caption:
        pen.text((x + 4, y + CELL[1] + 8), _cut(pen, item.caption, CELL[0] - 8, _font(22)), INK, _font(22))


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


def _cut(pen: ImageDraw.ImageDraw, text: str, width: int, font: Font) -> str:
    if pen.textlength(text, font) <= width:
        return text
    while text and pen.textlength(text + "…", font) > width:
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


def write_contact_sheet(collection: Collection, chosen: Sequence[str], title: str, note: str, path: Path) -> Path:
    """Write the contact sheet into a file, and give its path."""
    path.write_bytes(contact_sheet(collection, chosen, title, note))
    return path

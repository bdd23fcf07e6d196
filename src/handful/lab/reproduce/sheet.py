"""A contact sheet: several pictures on one page, numbered."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from PIL import Image, ImageDraw, ImageFont

from handful.errors import InvalidCollection

PAPER, INK, BADGE = (244, 240, 232), (52, 46, 48), (196, 52, 50)


def postcard_sheet(
    pictures: Sequence[Image.Image],
    captions: Sequence[str] | None = None,
    columns: int = 3,
    title: str = "",
    *,
    width: int = 1200,
) -> Image.Image:
    """The pictures in reading order, numbered from 1, each over its caption.

    All cells have the proportions of the first picture.
    """
    if not pictures or columns < 1:
        raise InvalidCollection(
            f"{len(pictures)} pictures in {columns} columns make no sheet: give at least one of each"
        )
    if captions is not None and len(captions) != len(pictures):
        raise InvalidCollection(f"{len(captions)} captions for {len(pictures)} pictures: give one per picture")
    columns = min(columns, len(pictures))
    gap = width // 60
    across = (width - gap * (columns + 1)) // columns
    down = round(across * pictures[0].height / pictures[0].width)
    line = max(12, across // 16)
    head = width // 20 if title else gap
    cell = down + gap + (round(line * 1.2) if captions else 0)
    sheet = Image.new(
        "RGB", (width, head + cell * ceil(len(pictures) / columns) + (0 if not captions else gap // 2)), PAPER
    )
    ink = ImageDraw.Draw(sheet)
    if title:
        ink.text((gap, head / 2), title, fill=INK, font=ImageFont.load_default(size=head * 0.42), anchor="lm")
    for number, picture in enumerate(pictures):
        x = gap + (number % columns) * (across + gap)
        y = head + (number // columns) * cell
        ink.rectangle([x + 2, y + 3, x + across + 2, y + down + 3], fill=(220, 213, 202))
        sheet.paste(picture.convert("RGB").resize((across, down), Image.Resampling.LANCZOS), (x, y))
        _badge(sheet, x, y, max(9, across // 22), number + 1)
        if captions:
            font = ImageFont.load_default(size=line * 0.8)
            ink.text(
                (x, y + down + line * 0.7), _fitting(captions[number], font, across), fill=INK, font=font, anchor="lm"
            )
    return sheet


def _badge(sheet: Image.Image, x: int, y: int, r: int, number: int) -> None:
    """A smooth red disc with the number, over the picture's corner."""
    finer = 4
    disc = Image.new("L", (2 * r * finer, 2 * r * finer))
    ImageDraw.Draw(disc).ellipse([0, 0, 2 * r * finer - 1, 2 * r * finer - 1], fill=255)
    sheet.paste(BADGE, (x - r // 3, y - r // 3), disc.reduce(finer))
    middle = (x - r // 3 + r, y - r // 3 + r)
    font = ImageFont.load_default(size=r * (1.2 if number < 10 else 1.0))
    ImageDraw.Draw(sheet).text(middle, str(number), fill=(255, 250, 240), font=font, anchor="mm")


def _fitting(text: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, room: float) -> str:
    """The text, cut where the cell ends."""
    if font.getlength(text) <= room:
        return text
    while text and font.getlength(text + "…") > room:
        text = text[:-1]
    return text.rstrip() + "…"

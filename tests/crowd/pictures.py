"""Small pictures for the tests, drawn when asked for."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw


def drawn(number: int, size: tuple[int, int] = (320, 240)) -> Image.Image:
    """A picture that no other number has."""
    colour = ((37 * number) % 256, (91 * number) % 256, (151 * number) % 256)
    picture = Image.new("RGB", size, colour)
    pen = ImageDraw.Draw(picture)
    for bit in range(12):
        if number >> bit & 1:
            pen.rectangle((bit * 24, 60, bit * 24 + 18, 180), fill="white")
    return picture


def encoded(picture: Image.Image, kind: str = "JPEG", **options: object) -> bytes:
    out = BytesIO()
    picture.save(out, kind, **options)  # type: ignore[arg-type]
    return out.getvalue()


def folder_of(pictures: int, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(pictures):
        (folder / f"photo {number}.jpg").write_bytes(encoded(drawn(number)))
    return folder

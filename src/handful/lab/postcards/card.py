"""A finished postcard: the scene, printed on paper, with a border and a caption."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont, ImageOps

from handful.errors import InvalidCollection
from handful.lab.collections import Image, ImageCollection
from handful.lab.postcards.composer import compose

FINER = 3
"""Scenes are drawn this many times larger and then reduced, for smooth edges."""

PAPER, INK = (250, 245, 234), (84, 74, 70)

SMALLEST = 48
"""Pixels; below this there is no room for border and caption."""

TITLES = {
    "rialto": "Ponte di Rialto", "piazzasanmarco": "Piazza San Marco", "murano": "Murano", "carnival": "Carnevale",
    "mask": "Carnevale", "grandcanal": "Canal Grande", "gondola": "Gondola", "cathedral": "Basilica",
    "church": "Chiesa", "street": "Calle", "canal": "Rio", "bridge": "Ponte", "ponte": "Ponte", "art": "Arte",
    "architecture": "Palazzo", "boat": "Laguna", "water": "Laguna",
}  # fmt: skip
"""What is printed below, by the most telling tag."""


def draw(image: Image, seed: int = 0, size: tuple[int, int] = (640, 480)) -> Picture.Image:
    """The postcard of an image. The same image, seed and size give the same picture."""
    width, height = size
    if min(size) < SMALLEST:
        raise InvalidCollection(f"a postcard of {width}×{height} pixels is too small: ask for at least {SMALLEST}")
    rng = Random(f"{seed}/{image.id}/{' '.join(image.tags)}")
    rim = round(height * 0.04)
    foot = round(height * 0.085)
    inner = (width - 2 * rim, height - rim - foot)
    scene = Picture.new("RGB", (inner[0] * FINER, inner[1] * FINER))
    compose(scene, image.tags, rng)
    card = Picture.new("RGB", size, PAPER)
    card.paste(_print(scene.reduce(FINER), frozenset(image.tags)), (rim, rim))
    _caption(card, image, rim, foot)
    return _grain(card, rng)


def write_folder(
    collection: ImageCollection,
    folder: str | Path,
    progress: Callable[[int, int], None] | None = None,
    *,
    seed: int = 0,
) -> list[Path]:
    """Draw a collection into a folder: a JPEG per image, named by its id, and tags.csv, which `load_csv` reads.

    `progress`, if given, is told how many pictures of how many are done.
    """
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    paths = []
    for image in collection.images:
        if Path(image.id).name != image.id:
            raise InvalidCollection(f"the id {image.id!r} cannot name a file: use ids without slashes")
        path = home / f"{image.id}.jpg"
        draw(image, seed).save(path, quality=90)
        paths.append(path)
        if progress is not None:
            progress(len(paths), collection.size)
    with (home / "tags.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(("id", "tags", "views"))
        table.writerows((image.id, ";".join(image.tags), image.views) for image in collection.images)
    return paths


def _print(scene: Picture.Image, tags: frozenset[str]) -> Picture.Image:
    """The inks the tags ask for: all, black and white, or blue."""
    grey = ImageOps.autocontrast(ImageOps.grayscale(scene), cutoff=1)
    if tags & {"bw", "blackwhite"}:
        white, black = ((236, 242, 250), (14, 22, 40)) if "blue" in tags else ((248, 246, 240), (18, 17, 18))
        return ImageOps.colorize(grey, black, white)
    if "blue" in tags:
        blues = ImageOps.colorize(grey, (8, 24, 72), (236, 244, 252), mid=(66, 132, 206))
        return Picture.blend(scene, blues, 0.78)
    return scene


def _caption(card: Picture.Image, image: Image, rim: int, foot: int) -> None:
    """A title on the left, VENEZIA on the right."""
    ink = ImageDraw.Draw(card)
    title = next((name for tag, name in TITLES.items() if tag in image.tags), "Venezia")
    font = ImageFont.load_default(size=max(6.0, foot * 0.42))
    small = ImageFont.load_default(size=max(5.0, foot * 0.3))
    middle = card.height - foot * 0.48
    ink.text((rim, middle), title, fill=INK, font=font, anchor="lm")
    if title != "Venezia":
        ink.text((card.width - rim, middle), "V E N E Z I A", fill=(170, 156, 146), font=small, anchor="rm")


def _grain(card: Picture.Image, rng: Random) -> Picture.Image:
    """The tooth of the paper."""
    noise = np.random.Generator(np.random.Philox(rng.getrandbits(64))).random((card.height, card.width, 1)) - 0.5
    return Picture.fromarray(np.clip(np.asarray(card) + noise * 9.0, 0, 255).astype(np.uint8))

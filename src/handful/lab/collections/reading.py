"""A collection from a table of a user's own: id, tags, views."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path

from handful.errors import InvalidCollection
from handful.lab.collections.collection import Image, ImageCollection

COLUMNS = ("id", "tags", "views")

TextPath = str | PathLike[str]


def load_csv(path: TextPath, *, model: TextPath | None = None, topics: Sequence[str] | None = None) -> ImageCollection:
    """Read a collection from a CSV file with the columns id, tags (separated by ; or spaces) and views.

    Topics and weights come from the file `model`, in the same format, as in Appendix E; without one, from the images
    themselves. Unless given, the topics are the 20 most frequent tags. Tags are compared in lower case.
    """
    images = read_images(path)
    if topics is not None:
        topics = [topic.lower() for topic in topics]
    return ImageCollection.build(images, images if model is None else read_images(model), topics)


def read_images(path: TextPath) -> list[Image]:
    """The images in a CSV file, in the order of its lines."""
    name = Path(path).name
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            images = list(_images(csv.reader(file), name))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidCollection(f"{name} cannot be read ({error}): give a CSV file in UTF-8") from error
    if not images:
        raise InvalidCollection(f"{name} has no images: below the header, give one line per image")
    if not any(image.tags for image in images):
        raise InvalidCollection(f"{name} has no tags at all: fill the column tags, such as gondola;canal")
    return images


def _images(rows: Iterator[list[str]], name: str) -> Iterator[Image]:
    header = [cell.strip().lower() for cell in next(rows, [])]
    missing = [column for column in COLUMNS if column not in header]
    if missing:
        raise InvalidCollection(
            f"{name} has no column {' and no column '.join(missing)}: its first line must name the columns "
            f"{', '.join(COLUMNS)}; it names {', '.join(header) or 'none'}"
        )
    places = [header.index(column) for column in COLUMNS]
    seen: dict[str, int] = {}
    for number, row in enumerate(rows, start=2):
        if not any(cell.strip() for cell in row):
            continue
        where = f"{name}, line {number}"
        if len(row) <= max(places):
            raise InvalidCollection(f"{where} has {len(row)} cells: it needs {', '.join(COLUMNS)}")
        id_, tags, views = (row[place].strip() for place in places)
        if not id_:
            raise InvalidCollection(f"{where} has no id: give each image an id of its own")
        if id_ in seen:
            raise InvalidCollection(f"{where} has the id {id_!r} of line {seen[id_]}: give each image an id of its own")
        seen[id_] = number
        yield Image(id_, _tags(tags), _views(views, where))


def _tags(cell: str) -> tuple[str, ...]:
    """Each tag once, in the order given."""
    return tuple(dict.fromkeys(tag.lower() for tag in re.split(r"[;\s]+", cell) if tag))


def _views(cell: str, where: str) -> float:
    try:
        views = float(cell)
    except ValueError:
        views = math.nan
    if not math.isfinite(views) or views < 0:
        raise InvalidCollection(f"{where} has the view count {cell!r}: give a number ≥ 0, such as 1250")
    return views

"""Images with tags and view counts, and how well a few of them stand for all (the paper's Appendix E)."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

from handful.errors import InvalidCollection
from handful.objectives import Coverage, keep, most_frequent


@dataclass(frozen=True)
class Image:
    """What is known of an image without looking at it. Its tags need not be topics."""

    id: str
    tags: tuple[str, ...]
    views: float


@dataclass(frozen=True)
class ImageCollection:
    """The ground set V: item a is `images[a]`. `weights[j]` is w_j of `topics[j]`."""

    images: tuple[Image, ...]
    objective: Coverage
    topics: tuple[str, ...]
    weights: tuple[float, ...]

    @property
    def size(self) -> int:
        """N, the number of images."""
        return len(self.images)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The images' ids, in the order of the items."""
        return tuple(image.id for image in self.images)

    @classmethod
    def build(
        cls, images: Sequence[Image], model: Sequence[Image], topics: Sequence[str] | None = None
    ) -> ImageCollection:
        """Appendix E: topics and their weights from the model images, coverage from the images to be summarised.

        Without `topics`, they are the 20 tags most frequent among the model images.
        """
        if not images:
            raise InvalidCollection("the collection has no images: give at least one")
        if topics is None:
            topics = most_frequent([image.tags for image in model])
        objective = Coverage.from_tags(
            model_tags=keep([image.tags for image in model], topics),
            tags=keep([image.tags for image in images], topics),
            views=[image.views for image in images],
            topics=topics,
        )
        return cls(tuple(images), objective, tuple(topics), tuple(objective.weights.tolist()))


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

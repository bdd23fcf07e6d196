"""A collection: images, and the objective that says how well a few of them stand for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from handful.errors import InvalidCollection
from handful.objectives import Coverage, keep, most_frequent


@dataclass(frozen=True)
class Image:
    """What is known of an image without looking at it. Its tags need not be topics: others help to draw it."""

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

"""The crowd experiment's three themes: one collection, three opinions of what a summary should show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from handful.errors import InvalidCollection
from handful.lab.collections.collection import ImageCollection
from handful.objectives import Coverage, keep, topic_coverage
from handful.objectives.coverage import TOTAL_WEIGHT


@dataclass(frozen=True)
class Theme:
    """Only images with a tag of the `heart` belong to the theme; the `rest` asks for variety among them.

    Numbers say how much a tag matters, up to a factor. Tags need not be the collection's topics.
    """

    heart: Mapping[str, float]
    rest: Mapping[str, float]


THEMES: Mapping[str, Theme] = {
    "Venice Carnival": Theme(
        {"carnival": 5, "mask": 5, "costume": 4},
        {"girl": 2, "piazzasanmarco": 1, "street": 1, "gondola": 1, "night": 1},
    ),
    "Venice Cathedrals": Theme(
        {"church": 5, "cathedral": 4, "dome": 3, "campanile": 2, "mosaic": 2},
        {"architecture": 1, "piazzasanmarco": 1, "art": 1, "water": 1},
    ),
}


def themes(collection: ImageCollection) -> dict[str, Coverage]:
    """Objectives over the same items: "Venice" (the collection's own), "Venice Carnival" and "Venice Cathedrals".

    Coverage is Appendix E's with the theme's tags as topics; the weights sum to 20 in all three.
    """
    return {"Venice": collection.objective, **{name: _reweighted(collection, name) for name in THEMES}}


def _reweighted(collection: ImageCollection, name: str) -> Coverage:
    theme = THEMES[name]
    importance = {**theme.heart, **theme.rest}
    tags = keep([image.tags for image in collection.images], importance)
    tags = [image if image & theme.heart.keys() else frozenset() for image in tags]
    if not any(tags):
        raise InvalidCollection(f"no image belongs to {name!r}: tag some with {' or '.join(theme.heart)}")
    scale = TOTAL_WEIGHT / sum(importance.values())
    coverage = topic_coverage(tags, [image.views for image in collection.images], list(importance))
    return Coverage([scale * weight for weight in importance.values()], coverage)

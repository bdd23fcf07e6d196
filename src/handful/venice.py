"""Sixty postcards of Venice: their tags and views as in the paper's Appendix E, three themes, people, and pictures.

The paper's photos are gone, but its footnote tells how often each topic occurred. An image here is a scene (a gondola
ride, a square, a workshop on Murano, …) in some light; each brings its tags with the probabilities below, scaled so
that every topic occurs in the published proportions while tags that belong together still come together. All is drawn
from a seed; the pictures are those of seed 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from math import ceil
from pathlib import Path
from statistics import NormalDist

import numpy as np

from handful.errors import InvalidCollection
from handful.images import Image, ImageCollection
from handful.objectives import Coverage, keep, topic_coverage
from handful.objectives.coverage import TOTAL_WEIGHT
from handful.problem import GrowingSet

PICTURES = Path(__file__).with_name("postcards")
"""The pictures of `venice()`, named by the images' ids, and tags.csv, which `load_csv` reads."""

TOPIC_WEIGHTS: Mapping[str, float] = {
    "gondola": 1.91, "water": 1.91, "canal": 1.47, "bridge": 1.32, "art": 1.18, "rialto": 1.18, "ponte": 1.03,
    "piazzasanmarco": 0.88, "bw": 0.88, "street": 0.88, "night": 0.74, "murano": 0.74, "blackwhite": 0.74, "boat": 0.74,
    "blue": 0.74, "grandcanal": 0.74, "girl": 0.74, "carnival": 0.74, "architecture": 0.74, "sunset": 0.74,
}  # fmt: skip
"""The paper's footnote. All are multiples of 20/136: 136 tags among its 350 model images, 13 of them `gondola`."""

TOPICS_PER_IMAGE = 2.8
"""Expected topics per image: more than the paper's 0.4, so that a picture drawn from its tags has something to show."""

LIKELIEST = 0.95
"""No tag is more certain than this, whatever the scaling wants."""

MEDIAN_VIEWS, SPREAD_OF_VIEWS = 150.0, 1.3
"""Views are log-normal: a few photos are seen by thousands, most by hardly more than friends."""


@dataclass(frozen=True)
class Scene:
    """What a photographer stood in front of: how often, and which tags it brings. `extra` tags are never topics."""

    share: float
    topics: Mapping[str, float]
    extra: Mapping[str, float]


SCENES: Mapping[str, Scene] = {
    "gondola": Scene(
        0.13, {"gondola": 0.95, "water": 0.60, "canal": 0.45, "boat": 0.10, "bridge": 0.15},
        {"gondolier": 0.5, "mask": 0.1},
    ),
    "canal": Scene(
        0.11, {"canal": 0.90, "water": 0.50, "bridge": 0.55, "ponte": 0.35, "gondola": 0.25, "boat": 0.20},
        {"church": 0.12, "palazzo": 0.4},
    ),
    "rialto": Scene(
        0.13, {"rialto": 0.95, "bridge": 0.45, "ponte": 0.55, "grandcanal": 0.25, "gondola": 0.30, "water": 0.20},
        {"market": 0.3, "mask": 0.1},
    ),
    "grandcanal": Scene(
        0.08, {"grandcanal": 0.90, "rialto": 0.40, "water": 0.60, "boat": 0.35, "gondola": 0.30, "architecture": 0.20},
        {"palazzo": 0.6, "church": 0.15, "dome": 0.15},
    ),
    "lagoon": Scene(
        0.08, {"boat": 0.60, "water": 0.85, "gondola": 0.30, "murano": 0.30},
        {"island": 0.5, "church": 0.2, "campanile": 0.2},
    ),
    "piazza": Scene(
        0.09, {"piazzasanmarco": 0.95, "architecture": 0.25, "girl": 0.15, "art": 0.10, "carnival": 0.10},
        {"pigeons": 0.5, "lion": 0.4, "campanile": 0.4, "mask": 0.2},
    ),
    "street": Scene(
        0.09, {"street": 0.95, "girl": 0.20, "architecture": 0.20, "bridge": 0.10, "ponte": 0.10, "rialto": 0.10},
        {"lantern": 0.4, "mask": 0.35},
    ),
    "carnival": Scene(
        0.11, {"carnival": 0.95, "girl": 0.45, "piazzasanmarco": 0.20, "art": 0.10, "street": 0.20},
        {"mask": 0.9, "costume": 0.6},
    ),
    "murano": Scene(0.08, {"murano": 0.95, "art": 0.35, "canal": 0.10, "boat": 0.10}, {"glass": 0.8}),
    "museum": Scene(0.06, {"art": 0.95, "architecture": 0.25, "girl": 0.15}, {"painting": 0.6, "mask": 0.4}),
    "church": Scene(
        0.04, {"architecture": 0.60, "art": 0.30, "piazzasanmarco": 0.15, "canal": 0.15, "water": 0.10, "bridge": 0.05},
        {"church": 0.95, "cathedral": 0.4, "dome": 0.4, "campanile": 0.35, "mosaic": 0.2},
    ),
}  # fmt: skip

CHURCH_SCENES: Mapping[str, float] = {
    "church": 0.50, "piazza": 0.15, "canal": 0.12, "grandcanal": 0.09, "lagoon": 0.07, "museum": 0.07
}  # fmt: skip
"""What the query “Venice & Church” finds."""

CHURCH_EXTRA: Mapping[str, float] = {
    "church": 1.0, "cathedral": 0.35, "dome": 0.25, "campanile": 0.25, "mosaic": 0.12, "mask": 0.0
}  # fmt: skip
"""Tags that this query adds to those of the scene, or takes away."""

LIGHTS = ("night", "sunset", "blue")
"""Light by which a photo is taken, one at a time."""

BOTH_WORDS = 0.7
"""Of the photos tagged `blackwhite`, those tagged `bw` as well."""


def venice(seed: int = 0, n: int = 60, model: int = 350) -> ImageCollection:
    """A collection of `n` images, half found by “Venice” and half by “Venice & Church”, as in Appendix E.

    Topic weights come from `model` other images. The same seed gives the same collection everywhere.
    """
    for what, count in (("n", n), ("model", model)):
        if count < 1:
            raise InvalidCollection(f"{what} is {count}: ask for at least one image")
    if seed < 0:
        raise InvalidCollection(f"seed is {seed}: give a number ≥ 0")
    plain = {name: scene.share for name, scene in SCENES.items()}
    half = ceil(n / 2)
    images = [
        *_images("venice", half, plain, {}, _uniforms(seed, 1), topicless=False),
        *_images("church", n - half, CHURCH_SCENES, CHURCH_EXTRA, _uniforms(seed, 2), topicless=False),
    ]
    modelled = _images("model", model, plain, {}, _uniforms(seed, 0), topicless=True)
    return ImageCollection.build(images, modelled, tuple(TOPIC_WEIGHTS))


def _uniforms(seed: int, stream: int) -> np.random.Generator:
    """Only `random()` is drawn from it: unlike other distributions it is the same in every version of NumPy."""
    return np.random.Generator(np.random.Philox(key=np.array([stream, seed], dtype=np.uint64)))


def _images(
    query: str, count: int, shares: Mapping[str, float], extra: Mapping[str, float], rng: np.random.Generator,
    *, topicless: bool,
) -> list[Image]:  # fmt: skip
    """Images of one query. Scenes are spread evenly, so that small collections have their share of each.

    Images without a topic are kept where `topicless`, because mending them would bend the weights.
    """
    width = max(2, len(str(count)))
    return [
        Image(f"{query}-{number:0{width}d}", _tags(scene, extra, rng, topicless), _views(rng.random()))
        for number, scene in enumerate(_spread(count, shares, rng), start=1)
    ]


def _spread(count: int, shares: Mapping[str, float], rng: np.random.Generator) -> list[str]:
    """`count` scenes in random order: one draw in each of `count` equal slices of the shares (systematic sampling)."""
    names = list(shares)
    edges = np.cumsum([shares[name] for name in names])
    points = (np.arange(count) + rng.random()) / count * edges[-1]
    picks = np.minimum(np.searchsorted(edges, points, side="right"), len(names) - 1)
    return [names[pick] for pick in picks[np.argsort(rng.random(count), kind="stable")]]


def _tags(scene: str, extra: Mapping[str, float], rng: np.random.Generator, topicless: bool) -> tuple[str, ...]:
    likely = _calibrated()[scene]
    topics = [topic for topic, chance in likely.items() if rng.random() < chance]
    topics += _light(rng)
    if not topics and not topicless:
        topics = [max(likely, key=likely.__getitem__)]
    free = {**SCENES[scene].extra, **extra}
    return (*topics, *(tag for tag, chance in free.items() if rng.random() < chance))


def _light(rng: np.random.Generator) -> Iterator[str]:
    """Night, sunset or blue, and, whatever the light, perhaps no colours."""
    point = rng.random()
    for topic, edge in zip(LIGHTS, accumulate(map(_wanted, LIGHTS)), strict=True):
        if point < edge:
            yield topic
            break
    bw, blackwhite = _wanted("bw"), _wanted("blackwhite")
    is_bw = rng.random() < bw
    if is_bw:
        yield "bw"
    if rng.random() < (BOTH_WORDS * blackwhite / bw if is_bw else (1 - BOTH_WORDS) * blackwhite / (1 - bw)):
        yield "blackwhite"


def _views(uniform: float) -> int:
    return round(float(np.exp(np.log(MEDIAN_VIEWS) + SPREAD_OF_VIEWS * NormalDist().inv_cdf(max(uniform, 1e-12)))))


def _wanted(topic: str) -> float:
    """The probability that an image carries the topic."""
    return TOPICS_PER_IMAGE * TOPIC_WEIGHTS[topic] / sum(TOPIC_WEIGHTS.values())


@cache
def _calibrated() -> Mapping[str, Mapping[str, float]]:
    """The scenes' topic probabilities, each topic scaled over all scenes until it occurs as often as wanted."""
    topics = sorted({topic for scene in SCENES.values() for topic in scene.topics})
    scaled: dict[str, dict[str, float]] = {name: {} for name in SCENES}
    for topic in topics:
        chances = {name: scene.topics[topic] for name, scene in SCENES.items() if topic in scene.topics}
        factor = _factor(chances, _wanted(topic))
        for name, chance in chances.items():
            scaled[name][topic] = min(LIKELIEST, factor * chance)
    return scaled


def _factor(chances: Mapping[str, float], wanted: float) -> float:
    """By bisection: Σ share·min(LIKELIEST, factor·chance) = wanted."""
    low, high = 0.0, 100.0
    for _ in range(60):
        factor = (low + high) / 2
        total = sum(SCENES[name].share * min(LIKELIEST, factor * chance) for name, chance in chances.items())
        low, high = (factor, high) if total < wanted else (low, factor)
    return high


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


class VeniceCrowd:
    """How much more one picture adds to a theme's summary than another: what the people of the demo compare by.

    Studies are known by the names the app gives them, items by their file names.
    """

    def __init__(self, collection: ImageCollection, studies: dict[str, str]) -> None:
        by_theme = themes(collection)
        self._objectives: dict[str, Coverage] = {name: by_theme[theme] for name, theme in studies.items()}
        self._index = {image: i for i, image in enumerate(collection.ids)}
        self._given = lru_cache(maxsize=64)(self._start)

    def __call__(self, study: str, chosen: tuple[str, ...], left: str, right: str) -> float:
        progress = self._given(study, chosen)
        return progress.gain(self._at(left)) - progress.gain(self._at(right))

    def value(self, study: str, chosen: tuple[str, ...]) -> float:
        """f(chosen)."""
        return self._given(study, chosen).value

    def _start(self, study: str, chosen: tuple[str, ...]) -> GrowingSet:
        progress = self._objectives[study].start()
        for item in chosen:
            progress.add(self._at(item))
        return progress

    def _at(self, item: str) -> int:
        return self._index[Path(item).stem]

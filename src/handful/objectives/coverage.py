"""Weighted probabilistic coverage, and its construction from tags and view counts in Appendix E of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from handful.core.objective import Floats
from handful.errors import InvalidCollection, InvalidProblem
from handful.objectives.growing import Growing, numbers

Tags = Collection[str]

TOTAL_WEIGHT = 20.0
"""Σ_j w_j, as the paper scales it; f never exceeds it."""


class Coverage:
    """f(S) = Σ_j w_j·(1 − Π_{s∈S}(1 − f′_j(s))): how much of the weighted topics S covers.

    `matrix[s, j]` is f′_j(s) in [0, 1]: the probability that item s covers topic j on its own.
    """

    def __init__(self, weights: npt.ArrayLike, matrix: npt.ArrayLike) -> None:
        self.weights: Floats = numbers("weights", weights, 1)
        self.matrix: Floats = numbers("coverage", matrix, 2)
        topics = self.matrix.shape[1]
        if len(self.weights) != topics:
            raise InvalidProblem(f"{len(self.weights)} weights for {topics} topics: give one weight per column")
        if self.matrix.max() > 1.0:
            item, topic = (int(i) for i in np.argwhere(self.matrix > 1.0)[0])
            raise InvalidProblem(
                f"coverage[{item}, {topic}] is {self.matrix[item, topic]}: it is a probability; divide by the largest"
            )

    @classmethod
    def from_tags(
        cls, model_tags: Sequence[Tags], tags: Sequence[Tags], views: Sequence[float], topics: Sequence[str]
    ) -> Coverage:
        """Appendix E: weights from the model images' tags, coverage from the ground set's tags and view counts.

        All tags must be topics already (`keep` drops the others, `most_frequent` finds the topics).
        """
        return cls(topic_weights(model_tags, topics), topic_coverage(tags, views, topics))

    @property
    def size(self) -> int:
        """N, the number of items."""
        return len(self.matrix)

    def start(self) -> CoverageProgress:
        """Progress at the empty set."""
        return CoverageProgress(self.weights, self.matrix)


class CoverageProgress(Growing):
    """Coverage at a growing set: `w_j·Π_{s∈S}(1 − f′_j(s))`, the weight of each topic still to be had."""

    def __init__(self, weights: Floats, matrix: Floats) -> None:
        super().__init__(len(matrix))
        self._matrix = matrix
        self._left = weights.copy()

    def _gain(self, item: int) -> float:
        return float((self._matrix[item] * self._left).sum())

    def _gains(self) -> Floats:
        return np.asarray((self._matrix * self._left).sum(axis=1))

    def _absorb(self, item: int) -> None:
        self._left *= 1.0 - self._matrix[item]


def most_frequent(tags: Sequence[Tags], count: int = 20) -> tuple[str, ...]:
    """The topics: the tags that most images carry, most frequent first, ties by name ("we kept only the 20 …")."""
    carried = Counter(tag for image in tags for tag in set(image))
    return tuple(sorted(carried, key=lambda tag: (-carried[tag], tag))[:count])


def keep(tags: Sequence[Tags], topics: Collection[str]) -> list[frozenset[str]]:
    """T_s for every image s: its tags that are topics."""
    kept = frozenset(topics)
    return [kept.intersection(image) for image in tags]


def topic_weights(model_tags: Sequence[Tags], topics: Sequence[str]) -> Floats:
    """w_j = 20·Σ_a 1[j ∈ T_a] / Σ_a n_a over the model images a, n_a = |T_a|; the weights sum to 20."""
    present = _present(model_tags, topics, "model image")
    total = present.sum()
    if total == 0:
        raise InvalidCollection("no model image carries any topic: give model images that carry some of the topics")
    return np.asarray(TOTAL_WEIGHT * present.sum(axis=0) / total)


def topic_coverage(tags: Sequence[Tags], views: Sequence[float], topics: Sequence[str]) -> Floats:
    """f′_j(s) ∝ log(v_s)·1[j ∈ T_s]/n_s, divided by its largest value over all j and s of the ground set.

    The paper first speaks of "the number of tags in total" and then defines n_s = |T_s| after keeping only the topics;
    we follow the definition, so n_s counts the image's topics. An image without topics (n_s = 0) covers nothing.
    log(v_s) is negative below one view and −∞ at none, which no probability can be: an image hardly anyone looked at
    is taken to cover nothing (log(v_s) is cut off at 0), like one viewed once, where the formula itself says 0.
    """
    present = _present(tags, topics, "image")
    counts = np.asarray(views, dtype=np.float64)
    if counts.shape != (len(tags),):
        raise InvalidCollection(f"{counts.size} view counts for {len(tags)} images: give one per image")
    for image, count in enumerate(counts):
        if not np.isfinite(count) or count < 0:
            raise InvalidCollection(f"image {image} has {count} views: give a finite number ≥ 0")
    pull = np.log(np.maximum(counts, 1.0))
    coverage = pull[:, np.newaxis] * present / np.maximum(present.sum(axis=1, keepdims=True), 1.0)
    largest = coverage.max()
    if largest == 0.0:
        raise InvalidCollection("no image has both a topic and more than one view: there is nothing to cover")
    return np.asarray(coverage / largest)


def _present(tags: Sequence[Tags], topics: Sequence[str], what: str) -> Floats:
    """1[j ∈ T_s], one row per image."""
    if not topics or len(set(topics)) != len(topics):
        raise InvalidCollection(f"the topics are {list(topics)}: give at least one, each once")
    if not tags:
        raise InvalidCollection(f"there is no {what}: give at least one")
    column = {topic: j for j, topic in enumerate(topics)}
    present = np.zeros((len(tags), len(topics)))
    for row, image in enumerate(tags):
        if isinstance(image, str):
            raise InvalidCollection(f"the tags of {what} {row} are the text {image!r}: give a list of tags")
        for tag in image:
            if tag not in column:
                raise InvalidCollection(
                    f"{what} {row} has the tag {tag!r}, which is not among the {len(topics)} topics: "
                    "add it to the topics, or keep only topics with handful.objectives.keep"
                )
            present[row, column[tag]] = 1.0
    return present

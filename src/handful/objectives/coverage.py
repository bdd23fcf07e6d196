"""Topic coverage (the paper's Appendix E) and reach: how much of what there is do the chosen items touch?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from handful.errors import InvalidCollection, InvalidProblem
from handful.objectives.arrays import Real, Sparse, Table2D, ids_of, numbers, table, weights_for
from handful.objectives.progress import Columns
from handful.problem import Floats

Tags = Collection[str]

TOTAL_WEIGHT = 20.0
"""Σ_j w_j, as the paper scales it; f never exceeds it."""


class Coverage:
    """f(S) = Σ_j w_j·(1 − Π_{s∈S}(1 − f′_j(s))): how much of the weighted topics S covers.

    `matrix[s, j]` is f′_j(s) in [0, 1]: the probability that item s covers topic j on its own. Where it is 0 or 1, f is
    the weight of the topics that some item of S covers (weighted coverage). `avoid` are rows like those of `matrix`
    for what is there already: only what is new counts. Monotone and submodular.
    """

    monotone = True
    submodular = True

    def __init__(self, weights: object, matrix: object, avoid: object = None) -> None:
        self.matrix: Table2D = _probabilities("coverage", matrix)
        self.ids = ids_of(matrix)
        topics = self.matrix.shape[1]
        self.weights: Floats = numbers("weights", weights, 1).astype(np.float64)
        if len(self.weights) != topics:
            raise InvalidProblem(f"{len(self.weights)} weights for {topics} topics: give one weight per column")
        self.left: Floats = self.weights.copy()
        if avoid is not None:
            there = _probabilities("avoid", avoid)
            if isinstance(there, Sparse) or there.shape[1] != topics:
                raise InvalidProblem(f"avoid must be a dense table with the {topics} columns of the items")
            self.left *= np.prod(1.0 - there, axis=0)

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
        return self.matrix.shape[0]

    def start(self) -> CoverageProgress:
        """Progress at the empty set."""
        return CoverageProgress(self.left, self.matrix)


class CoverageProgress(Columns):
    """Coverage at a growing set: `w_j·Π_{s∈S}(1 − f′_j(s))`, the weight of each topic still to be had."""

    def __init__(self, left: Floats, matrix: Table2D) -> None:
        super().__init__(matrix)
        self._type = (matrix.data if isinstance(matrix, Sparse) else matrix).dtype
        self._left = left.copy()
        self._now = left.astype(self._type)

    def _rises(self, entries: Real, columns: Any) -> Real:
        return np.asarray(entries * self._now[columns])

    def _take(self, entries: Real, columns: Any) -> None:
        self._left[columns] *= 1.0 - entries
        self._now = self._left.astype(self._type)


def _probabilities(what: str, given: object) -> Table2D:
    matrix = table(what, given)
    entries = matrix.data if isinstance(matrix, Sparse) else matrix
    if entries.size and entries.max() > 1.0:
        full = matrix.dense() if isinstance(matrix, Sparse) else matrix
        item, topic = (int(i) for i in np.argwhere(full > 1.0)[0])
        raise InvalidProblem(
            f"{what}[{item}, {topic}] is {full[item, topic]}: it is a probability; divide by the largest"
        )
    return matrix


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


class Reach:
    """f(S) = Σ_r w_r·[respondent r would take some item of S]: the weighted number of respondents reached.

    `responses` has one row per respondent and one column per item, as surveys come: 1 where the respondent would take
    the item, else 0 (a number between is a probability). `weights` are case weights. With pandas the items are the
    names of the columns. Monotone and submodular.
    """

    monotone = True
    submodular = True

    def __init__(self, responses: object, weights: object = None) -> None:
        names = getattr(responses, "columns", None)
        turned = ids_of(responses) is not None and names is not None
        self.ids = tuple(names.tolist()) if turned and names is not None else None
        self.responses: Table2D = _by_item(responses)
        self.weights: Floats = weights_for("case weights", weights, self.responses.shape[1], "respondent")

    @property
    def size(self) -> int:
        """The number of items."""
        return self.responses.shape[0]

    @property
    def total(self) -> float:
        """The weight of all respondents: f(S)/total is the share reached."""
        return float(self.weights.sum())

    def start(self) -> CoverageProgress:
        """Progress at the empty set."""
        return CoverageProgress(self.weights, self.responses)


def _by_item(responses: Any) -> Table2D:
    """The table with one row per item."""
    if hasattr(responses, "tocsr"):
        turned = table("responses", responses.T)
    else:
        given = table("responses", responses)
        assert not isinstance(given, Sparse)
        turned = np.ascontiguousarray(given.T)
    entries = turned.data if isinstance(turned, Sparse) else turned
    if entries.size and entries.max() > 1.0:
        raise InvalidProblem(
            f"responses hold {entries.max():g}: give 1 where a respondent would take the item and 0 elsewhere, "
            "for instance `ratings >= 4`"
        )
    return turned

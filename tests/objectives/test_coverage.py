"""Appendix E's construction, against numbers worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter

import numpy as np
import pytest

from handful.errors import InvalidCollection
from handful.objectives import Coverage, keep, most_frequent, topic_coverage, topic_weights
from tests.pace import slowness

TOPICS = ("gondola", "water", "art")


def test_weights_are_twenty_times_the_share_of_each_topic_among_the_model_images_tags() -> None:
    weights = topic_weights([{"gondola", "water"}, {"gondola"}, set(), {"art"}], TOPICS)
    assert weights.tolist() == [20 * 2 / 4, 20 * 1 / 4, 20 * 1 / 4]


def test_coverage_is_the_log_of_the_views_shared_among_an_images_topics_and_scaled_by_the_largest() -> None:
    tags = [{"gondola"}, {"gondola", "water"}, {"art"}]
    matrix = topic_coverage(tags, [math.e**2, math.e**6, math.e**4], TOPICS)
    # log(v)/n is 2, 3 and 4: the third is the largest.
    assert matrix == pytest.approx(np.array([[2 / 4, 0, 0], [3 / 4, 3 / 4, 0], [0, 0, 1]]))


def test_the_objective_multiplies_what_images_leave_uncovered() -> None:
    progress = Coverage.from_tags([{"gondola"}], [{"gondola"}, {"gondola"}, {"art"}], [4.0, 4.0, 16.0], TOPICS).start()
    progress.add(0)
    progress.add(1)
    assert progress.value == pytest.approx(20.0 * (1 - 0.5 * 0.5))


@pytest.mark.parametrize("views", [0, 0.5, 1])
def test_an_image_hardly_anyone_looked_at_covers_nothing(views: float) -> None:
    assert topic_coverage([{"art"}, {"art"}], [views, 10], TOPICS)[:, 2].tolist() == [0.0, 1.0]


def test_an_image_without_topics_covers_nothing() -> None:
    assert topic_coverage([set(), {"art"}], [1000, 10], TOPICS)[0].tolist() == [0.0, 0.0, 0.0]


def test_topics_are_the_most_frequent_tags_and_others_are_dropped() -> None:
    tags = [["venice", "art"], ["venice", "water"], ["water", "venice", "gondola", "gondola"]]
    assert most_frequent(tags, 3) == ("venice", "water", "art")
    assert keep(tags, ("water", "art")) == [{"art"}, {"water"}, {"water"}]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: topic_weights([{"church"}], TOPICS), "model image 0 has the tag 'church'.*keep only topics"),
        (lambda: topic_weights([set()], TOPICS), "no model image carries any topic"),
        (lambda: topic_weights([], TOPICS), "there is no model image: give at least one"),
        (lambda: topic_weights([{"art"}], ()), "give at least one, each once"),
        (lambda: topic_weights([{"art"}], ("art", "art")), "give at least one, each once"),
        (lambda: topic_weights(["art"], TOPICS), "the tags of model image 0 are the text 'art'"),
        (lambda: topic_coverage([{"art"}, {"bw"}], [1, 2], TOPICS), "image 1 has the tag 'bw'"),
        (lambda: topic_coverage([{"art"}], [1, 2], TOPICS), "2 view counts for 1 images"),
        (lambda: topic_coverage([{"art"}], [-3], TOPICS), "image 0 has -3.0 views: give a finite number ≥ 0"),
        (lambda: topic_coverage([{"art"}], [math.nan], TOPICS), "image 0 has nan views"),
        (lambda: topic_coverage([{"art"}, set()], [1, 100], TOPICS), "nothing to cover"),
    ],
)
def test_metadata_that_makes_no_coverage_is_refused_with_what_to_do(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidCollection, match=message):
        make()


def test_all_gains_of_ten_thousand_items_take_about_a_millisecond() -> None:
    progress = Coverage(np.ones(20), np.random.default_rng(0).random((10_000, 20))).start()
    progress.add(0)

    def seconds() -> float:
        start = perf_counter()
        progress.gains()
        return perf_counter() - start

    assert min(seconds() for _ in range(30)) < 2e-3 * slowness()

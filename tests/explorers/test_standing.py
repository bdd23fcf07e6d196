"""What a belief says of a pick: among the best how many, and who comes next."""

from __future__ import annotations

import numpy as np
import pytest

from handful.explorers.board import GAIN, STRENGTH, belief_view
from handful.explorers.strengths import standing_of


def test_the_chance_to_be_among_the_best_is_that_of_drawn_strengths() -> None:
    rng = np.random.default_rng(1)
    mean, variance = rng.normal(size=30), rng.uniform(0.1, 0.6, 30)
    pick = int(np.argmax(mean))
    found = standing_of(belief_view(mean, variance, STRENGTH), pick)
    assert found is not None
    draws = mean + np.sqrt(variance) * rng.normal(size=(40_000, 30))
    ranks = 1 + (draws > draws[:, [pick]]).sum(axis=1)
    assert found.best_of > 1
    assert found.chance == pytest.approx(np.mean(ranks <= found.best_of), abs=0.01)
    assert np.mean(ranks <= found.best_of - 1) < 0.9 + 0.01
    assert found.chance_of_best == pytest.approx(np.mean(ranks == 1), abs=0.01)
    for other in found.runners_up:
        assert other.chance == pytest.approx(np.mean(draws[:, pick] > draws[:, other.item]), abs=0.01)


def test_who_is_most_likely_better_comes_first_and_a_near_tie_is_said() -> None:
    view = belief_view(np.array([2.0, -9.0, 1.9, 0.0, -9.0]), np.full(5, 0.1), STRENGTH)
    found = standing_of(view, 0, runners_up=2)
    assert found is not None
    assert [other.item for other in found.runners_up] == [2, 3]
    assert [other.near for other in found.runners_up] == [True, False]
    assert (found.candidates, found.best_of) == (5, 2)


def test_of_items_that_are_gone_and_of_other_views_nothing_is_said() -> None:
    mean, variance = np.array([1.0, 0.0, 3.0]), np.full(3, 1e-6)
    gone = belief_view(mean, variance, STRENGTH).without(np.array([False, False, True]))
    found = standing_of(gone, 0)
    assert found is not None
    assert (found.candidates, found.best_of, found.chance_of_best) == (2, 1, pytest.approx(1.0))
    assert standing_of(gone, 2) is None
    assert standing_of(belief_view(mean, variance, GAIN), 0) is None


def test_where_nothing_is_known_an_item_is_among_the_best_nine_tenths() -> None:
    found = standing_of(belief_view(np.zeros(200), np.ones(200), STRENGTH), 17)
    assert found is not None
    assert found.best_of == pytest.approx(180, abs=2)
    assert found.chance_of_best == pytest.approx(1 / 200, abs=0.002)


def test_of_a_candidate_that_is_alone_nothing_is_said() -> None:
    assert standing_of(belief_view(np.zeros(1), np.ones(1), STRENGTH), 0) is None

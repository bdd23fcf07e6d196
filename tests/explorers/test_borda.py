"""Where tastes differ, `duels` still finds the item that beats a random other most often."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.non_transitive import Crowd, giant_killer, rock_paper_scissors, shares_of_best, two_camps
from handful import Duels, Uniform
from handful.explorers.protocol import Explorer

MANY = range(6000, 6120)  # of twelve crowds with two camps the mean is off by 0.017


def share_of_best(explorer: Explorer, crowd: Crowd, per_item: int, options: int = 2, seeds: range = MANY) -> float:
    """The Borda score of the pick over the best one, on average."""
    return float(np.mean(shares_of_best(explorer, crowd, per_item, options, seeds)))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("options", [2, 4])
@pytest.mark.parametrize("crowd", [giant_killer, rock_paper_scissors, two_camps])
def test_with_more_answers_the_borda_winner_is_found_also_where_preferences_go_round(
    crowd: Crowd, options: int
) -> None:
    few, many = (share_of_best(Duels(), crowd, per_item, options) for per_item in (2, 60))
    print(f"{crowd.__name__}, {options} options: {few:.4f} with 2 per item, {many:.4f} with 60")
    assert many >= 0.98
    assert many >= few - 0.01
    assert few >= share_of_best(Uniform(), crowd, 2) - 0.02


def test_a_giant_killer_is_not_picked_once_random_rivals_have_told() -> None:
    assert share_of_best(Duels(), giant_killer, 60, seeds=range(8)) >= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("options", [2, 4])
@pytest.mark.parametrize("crowd", [giant_killer, rock_paper_scissors, two_camps])
def test_more_answers_make_no_pick_worse_and_none_is_worse_than_by_asking_evenly(crowd: Crowd, options: int) -> None:
    before, seeds = np.zeros(120), range(1000, 1120)
    for per_item in (3, 4, 5, 6, 8):
        found = shares_of_best(Duels(), crowd, per_item, options, seeds)
        evenly = shares_of_best(Uniform(), crowd, per_item, 2, seeds)
        for other in (before, evenly):
            more = found - other
            assert more.mean() >= -2 * more.std() / len(more) ** 0.5
        before = found

"""Selection with exact gains: greedy, lazy greedy, random."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from handful.objectives import Coverage, FacilityLocation, FeatureBased, Modular, appendix_b
from handful.problem import Objective
from handful.simulation import greedy, lazy_greedy, random_set
from handful.venice import venice
from tests.explorers.statistics import chi_square_z


@st.composite
def tied_objectives(draw: st.DrawFn) -> Objective:
    """Objectives over a few round numbers, so that ties are everywhere."""
    size, width = draw(st.integers(1, 9)), draw(st.integers(1, 3))
    rows = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=width, max_size=width)
    table = draw(st.lists(rows, min_size=size, max_size=size))
    kind = draw(st.sampled_from(["coverage", "modular", "facility", "feature"]))
    match kind:
        case "coverage":
            return Coverage(np.ones(width), table)
        case "modular":
            return Modular(np.sum(table, axis=1))
        case "facility":
            return FacilityLocation(table)
    assume(np.any(table))  # features that are zero everywhere are refused
    return FeatureBased(table, np.ones(width))


@settings(deadline=None)
@given(tied_objectives(), st.data())
def test_lazy_greedy_equals_greedy_ties_included(objective: Objective, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, objective.size))
    naive, lazy = greedy(objective, k), lazy_greedy(objective, k)
    assert lazy.chosen == naive.chosen
    assert lazy.gains == naive.gains
    assert lazy.value == naive.value
    assert lazy.evaluations <= naive.evaluations + objective.size


@settings(deadline=None)
@given(tied_objectives(), st.data())
def test_greedy_is_within_its_factor_of_the_optimum(objective: Objective, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, min(objective.size, 4)))

    def value(items: tuple[int, ...]) -> float:
        progress = objective.start()
        for item in items:
            progress.add(item)
        return progress.value

    best = max(value(items) for items in combinations(range(objective.size), k))
    assert greedy(objective, k).value >= (1 - 1 / math.e) * best - 1e-9


def test_ties_go_to_the_lowest_index_and_gains_add_up() -> None:
    selection = greedy(Modular([1.0, 3.0, 2.0, 3.0, 2.0]), 3)
    assert selection.chosen == (1, 3, 2)
    assert selection.gains == (3.0, 3.0, 2.0)
    assert selection.value == 8.0
    assert selection.evaluations == 5 + 4 + 3


def test_greedy_on_appendix_b_is_the_papers() -> None:
    assert greedy(appendix_b(0.1), 2).chosen == (0, 1)


def test_lazy_greedy_saves_most_evaluations_on_a_collection() -> None:
    objective = venice(0, n=500).objective
    naive, lazy = greedy(objective, 20), lazy_greedy(objective, 20)
    assert lazy.chosen == naive.chosen
    assert lazy.evaluations < naive.evaluations / 5


def test_a_random_set_is_every_item_equally_often_and_the_same_for_the_same_seed() -> None:
    objective = Modular(np.ones(10))
    sets = [random_set(objective, 3, seed).chosen for seed in range(2000)]
    assert all(len(set(chosen)) == 3 for chosen in sets)
    assert abs(chi_square_z(np.bincount(np.ravel(sets), minlength=10))) < 5
    assert random_set(objective, 3, 5) == random_set(objective, 3, 5)
    assert len(random_set(objective, 3, 2**64 - 1).chosen) == 3
    assert random_set(objective, 10, 1).value == pytest.approx(10.0)

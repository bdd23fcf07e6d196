"""Promises that every objective keeps, whatever its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.errors import InvalidProblem
from handful.objectives import Coverage, FacilityLocation, FeatureBased, Modular, Table, appendix_b
from handful.problem import Objective


def random_objective(kind: str, seed: int, size: int, width: int) -> Objective:
    rng = np.random.default_rng(seed)
    table = rng.random((size, width)) * (rng.random((size, width)) < 0.7)
    table[0, 0] = 0.5  # features that are zero everywhere are refused
    weights = rng.random(width) * 3
    match kind:
        case "coverage":
            return Coverage(weights, table)
        case "modular":
            return Modular(table.sum(axis=1))
        case "facility":
            return FacilityLocation(table)
        case "feature":
            return FeatureBased(table, weights)
    return Table({frozenset(c): math.sqrt(len(c)) for n in range(size + 1) for c in combinations(range(size), n)})


@st.composite
def objectives(draw: st.DrawFn) -> Objective:
    kind = draw(st.sampled_from(["coverage", "modular", "facility", "feature", "table"]))
    return random_objective(kind, draw(st.integers(0, 2**32)), draw(st.integers(1, 6)), draw(st.integers(1, 25)))


def value_of(objective: Objective, items: list[int]) -> float:
    progress = objective.start()
    for item in items:
        progress.add(item)
    return progress.value


@given(objectives(), st.randoms(use_true_random=False))
def test_incremental_gains_equal_recomputed_ones(objective: Objective, random: object) -> None:
    progress = objective.start()
    for item in random.sample(range(objective.size), objective.size):  # type: ignore[attr-defined]
        for other in range(objective.size):
            recomputed = value_of(objective, [*progress.chosen, other]) - value_of(objective, list(progress.chosen))
            assert progress.gain(other) == pytest.approx(recomputed, abs=1e-12)
        progress.add(item)


@given(objectives())
def test_one_gain_and_all_gains_agree_to_the_bit(objective: Objective) -> None:
    progress = objective.start()
    for item in range(objective.size):
        assert progress.gains().tolist() == [progress.gain(a) for a in range(objective.size)]
        progress.add(item)


@given(objectives())
def test_gains_never_fall_below_zero_nor_grow_with_the_set_not_even_by_rounding(objective: Objective) -> None:
    progress = objective.start()
    before = progress.gains()
    assert (before >= 0.0).all()
    for item in range(objective.size):
        progress.add(item)
        after = progress.gains()
        assert (after >= 0.0).all()
        assert (after <= before).all()
        before = after


@given(objectives(), st.randoms(use_true_random=False))
def test_the_order_of_adding_does_not_matter(objective: Objective, random: object) -> None:
    items = list(range(objective.size))
    shuffled = random.sample(items, len(items))  # type: ignore[attr-defined]
    assert value_of(objective, shuffled) == pytest.approx(value_of(objective, items))


@given(objectives())
def test_an_item_of_the_set_adds_nothing_and_adding_it_again_changes_nothing(objective: Objective) -> None:
    progress = objective.start()
    progress.add(0)
    value, gains = progress.value, progress.gains()
    assert progress.gain(0) == gains[0] == 0.0
    progress.add(0)
    assert (progress.chosen, progress.value, progress.gains().tolist()) == ((0,), value, gains.tolist())


def test_two_starts_do_not_share_their_progress() -> None:
    objective = random_objective("coverage", 0, 5, 4)
    first, second = objective.start(), objective.start()
    first.add(2)
    assert (second.chosen, second.value) == ((), 0.0)
    assert second.gains()[2] > 0.0


def test_values_of_small_sets_are_the_textbook_ones() -> None:
    assert value_of(Modular([1.0, 2.0, 4.0]), [0, 2]) == 5.0
    assert value_of(FacilityLocation([[3.0, 0.0], [1.0, 2.0]]), [0, 1]) == 5.0
    assert value_of(FeatureBased([[4.0, 0.0], [5.0, 16.0]], [1.0, 0.5]), [0, 1]) == pytest.approx(3.0 + 2.0)
    assert value_of(Coverage([2.0, 10.0], [[0.5, 0.0], [0.5, 0.1]]), [0, 1]) == pytest.approx(1.5 + 1.0)


def test_appendix_b_is_the_papers_table() -> None:
    table = appendix_b(0.1)
    a, b, c = range(3)
    assert value_of(table, [a]) == value_of(table, [b]) == 1.0
    assert value_of(table, [c]) == pytest.approx(0.8)
    assert value_of(table, [a, b]) == value_of(table, [a, b, c]) == 2.0
    assert value_of(table, [a, c]) == value_of(table, [b, c]) == pytest.approx(1.4)


@pytest.mark.parametrize("item", [-1, 3])
def test_an_item_that_is_not_there_is_named(item: int) -> None:
    progress = Modular([1.0, 2.0, 3.0]).start()
    for call in (progress.gain, progress.add):
        with pytest.raises(InvalidProblem, match=rf"item {item} is not there.* 0\.\.2"):
            call(item)


COMPLETE = {frozenset(): 0.0, frozenset({0}): 1.0, frozenset({1}): 1.0, frozenset({0, 1}): 1.5}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Modular([]), "non-empty list"),
        (lambda: Modular([1.0, math.nan]), r"values\[1\] is nan, not a finite number"),
        (lambda: Modular([math.inf]), r"values\[0\] is inf"),
        (lambda: Modular([0.0, -1.0]), r"values\[1\] is -1.0, negative: give"),
        (lambda: Modular(["many"]), "values must be an array of numbers"),
        (lambda: FacilityLocation([[1.0], [1.0, 2.0]]), "all rows equally long"),
        (lambda: FacilityLocation([[1.0, -0.5]]), r"similarity\[\(0, 1\)\] is -0.5, negative"),
        (lambda: FeatureBased([1.0, 2.0]), "one row per item"),
        (lambda: FeatureBased([[1.0, 2.0]], [1.0]), "1 weights for 2 features: give one weight per feature"),
        (lambda: Coverage([1.0, 1.0], [[0.5]]), "2 weights for 1 topics: give one weight per column"),
        (lambda: Coverage([-1.0], [[0.5]]), r"weights\[0\] is -1.0, negative"),
        (lambda: Coverage([1.0], [[0.5], [1.5]]), r"coverage\[1, 0\] is 1.5: it is a probability"),
        (lambda: Coverage([1.0], [[math.nan]]), "not a finite number"),
        (lambda: Table({}), "name them 0..N-1, at least one"),
        (lambda: Table({frozenset(): 0.0, frozenset({1}): 1.0}), r"items \[1\]: name them 0..N-1"),
        (lambda: Table({**COMPLETE, frozenset({2}): 1.0}), r"no value for \{0, 2\}: give all 8 subsets"),
        (lambda: Table({**COMPLETE, frozenset({0}): math.nan}), r"f\(\{0\}\) is nan"),
        (lambda: Table({**COMPLETE, frozenset(): 1.0}), "subtract it everywhere"),
        (lambda: Table({**COMPLETE, frozenset({0, 1}): 0.5}), r"not monotone: item 1 adds -0.5 to \{0\}"),
        (lambda: Table({**COMPLETE, frozenset({0, 1}): 3.0}), r"not submodular: item 0 adds 1 to \{\} but 2 to \{1\}"),
        (lambda: appendix_b(0.0), "0 < alpha ≤ 0.5"),
        (lambda: appendix_b(0.6), "alpha is 0.6"),
        (lambda: appendix_b(math.nan), "alpha is nan"),
    ],
)
def test_numbers_that_make_no_objective_are_refused_with_what_to_do(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidProblem, match=message):
        make()

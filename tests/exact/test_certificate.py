"""The instance's own bound: never below the optimum, and as low as what was computed on the way allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import handful
from handful.objectives import FacilityLocation, Function, Modular
from tests.objectives.every import KINDS, best_value, make, subsets


@pytest.mark.parametrize("method", ["naive", "lazy"])
def test_one_pick_is_known_to_be_the_best(method: str) -> None:
    found = handful.maximize(FacilityLocation(np.random.default_rng(0).random((50, 80))), 1, method=method)
    assert found.ratio == 1.0
    assert "100.0%" in str(found)


def test_for_a_modular_function_the_empty_set_proves_that_greedy_is_optimal() -> None:
    assert handful.maximize(Modular(np.random.default_rng(0).random(300)), 40).ratio == pytest.approx(1.0, abs=1e-12)


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(KINDS), st.integers(0, 2**32), st.integers(1, 7), st.booleans(), st.data())
def test_the_share_stated_is_at_least_the_one_proved_and_never_too_much(
    kind: str, seed: int, size: int, tied: bool, data: st.DataObject
) -> None:
    objective, k = make(kind, seed, size, 5, tied=tied), data.draw(st.integers(1, size))
    found = handful.maximize(objective, k)
    best = best_value(objective, [s for s in subsets(size) if len(s) <= k])
    assert found.ratio is not None
    assert found.bound is not None
    assert found.bound >= best - 1e-9 * max(1.0, best)
    assert found.guarantee is None or found.ratio >= found.guarantee - 1e-12


def test_interrupted_while_another_set_is_filled_up_the_better_one_is_kept() -> None:
    """One large item is worth more than the many small ones per cost; Ctrl-C comes while it is being taken instead."""
    worth = np.array([10.0, *np.full(9, 0.2)])
    costs = [10.0, *[0.1] * 9]
    seen: list[int] = []

    def watch(picked: int, _: int) -> None:
        seen.append(picked)
        if picked < max(seen):  # it has begun anew
            raise KeyboardInterrupt

    found = handful.maximize(Modular(worth), costs=costs, budget=10.0, progress=watch)
    assert not found.complete
    assert found.value == pytest.approx(10.0)
    assert found.indices == (0,)


def test_interrupted_before_the_other_set_is_better_the_first_one_is_kept() -> None:
    def f(items: tuple[int, ...]) -> float:
        if armed and items == (0,):
            raise KeyboardInterrupt
        return worth[list(items)].sum()

    armed: list[Any] = []
    worth = np.array([10.0, *np.full(9, 0.2)])
    costs = [10.0, *[0.1] * 9]

    def watch(picked: int, _: int) -> None:
        if picked == 9:
            armed.append(True)

    found = handful.maximize(Function(f, 10), costs=costs, budget=10.0, progress=watch)
    assert not found.complete
    assert len(found.chosen) == 9
    assert found.value == pytest.approx(1.8)

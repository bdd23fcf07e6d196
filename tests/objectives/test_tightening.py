"""Compiled bounds change how quickly the picks are found, never which they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import handful
from handful.errors import InvalidProblem
from handful.objectives import FacilityLocation, FeatureBased, facility


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Bounds are tightened however small the table is."""
    monkeypatch.setattr(facility, "LARGE", 0)
    monkeypatch.setattr(facility, "RUNS", [1])
    return iter(())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", [FacilityLocation, FeatureBased])
@pytest.mark.parametrize("seed", range(6))
def test_lazy_with_tight_bounds_equals_naive_ties_included(seed: int, kind: Any, dtype: type) -> None:
    rng = np.random.default_rng(seed)
    table = rng.random((60, 90)).astype(dtype)
    table[30:] = table[:30]  # every row twice
    if seed % 2:
        table = np.round(table * 3) / 3
    objective = kind(table)
    naive, lazy = (handful.maximize(objective, 25, method=method) for method in ("naive", "lazy"))
    assert naive.indices == lazy.indices
    assert naive.gains == lazy.gains
    assert naive.bound is not None
    assert lazy.bound is not None
    assert naive.bound * (1.0 - 1e-9) <= lazy.bound <= 1.05 * naive.bound  # lazy knows less of the prefixes
    costs, groups = rng.random(60) + 0.1, rng.integers(0, 5, size=60).tolist()
    limits = {"costs": costs, "budget": 6.0, "groups": groups, "limit": 3}
    naive, lazy = (handful.maximize(objective, **limits, method=method) for method in ("naive", "lazy"))
    assert naive.indices == lazy.indices


def test_far_fewer_gains_are_computed() -> None:
    objective = FacilityLocation(np.random.default_rng(0).random((400, 300)))
    tight = handful.maximize(objective, 30)
    facility.LARGE = 10**9
    loose = handful.maximize(objective, 30)
    assert tight.indices == loose.indices
    assert tight.evaluations < loose.evaluations / 2


@settings(deadline=None, max_examples=60)
@given(
    arrays(np.float32, (6, 40), elements=st.floats(0, 1e6, width=32)),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from([0.0, 0.9, 1e7]),
)
def test_bounds_from_bytes_are_never_below_the_gains(values: Any, dtype: type, shift: float) -> None:
    table = (values.astype(np.float64) + shift).astype(dtype)
    progress = FacilityLocation(table).start()
    for item in (0, 3, 1):
        upper = np.full(6, np.inf)
        progress.tighten(upper, np.ones(6, dtype=bool), None)  # type: ignore[attr-defined]
        gains = progress.gains()
        assert (upper >= gains).all()
        assert upper.max() >= gains.max()
        progress.add(item)


def test_what_is_not_allowed_in_a_large_table_is_named_all_the_same() -> None:
    for wrong, said in ((-1.0, "negative"), (np.nan, "not a finite number")):
        table = np.ones((5, 5))
        table[3, 2] = wrong
        with pytest.raises(InvalidProblem, match=rf"similarity\[\(3, 2\)\] is .*{said}"):
            FacilityLocation(table)
    table = np.ones((5, 5))
    table[3, 2] = -0.0
    assert len(handful.maximize(FacilityLocation(table), 2)) == 2

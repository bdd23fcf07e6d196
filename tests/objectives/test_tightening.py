"""Compiled bounds change how quickly the picks are found, never which they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import handful
from handful.objectives import FacilityLocation, FeatureBased, tiers


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Bounds are tightened however small the table is."""
    monkeypatch.setattr(tiers, "LARGE", 0)
    monkeypatch.setattr(tiers, "RUNS", [True])
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
    assert lazy.bound == pytest.approx(naive.bound, rel=1e-6)
    costs, groups = rng.random(60) + 0.1, rng.integers(0, 5, size=60).tolist()
    limits = {"costs": costs, "budget": 6.0, "groups": groups, "limit": 3}
    naive, lazy = (handful.maximize(objective, **limits, method=method) for method in ("naive", "lazy"))
    assert naive.indices == lazy.indices


def test_far_fewer_gains_are_computed() -> None:
    objective = FacilityLocation(np.random.default_rng(0).random((400, 300)))
    tight = handful.maximize(objective, 30)
    tiers.LARGE = 10**9
    loose = handful.maximize(objective, 30)
    assert tight.indices == loose.indices
    assert tight.evaluations < loose.evaluations / 2

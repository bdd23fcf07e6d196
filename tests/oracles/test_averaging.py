"""Sample average: the picks of greedy on stored scenarios, and bounds from fresh ones that hold."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from handful.errors import InvalidProblem
from handful.oracles import IndependentCascade, sample_average, simulators

EDGES = [(0, 1, 0.5), (0, 2, 0.5), (3, 4, 0.6), (4, 5, 0.6), (6, 7, 0.3), (2, 5, 0.4)]


@pytest.fixture(scope="module")
def world() -> tuple[IndependentCascade, dict[tuple[int, ...], float]]:
    """A small cascade, and f of every pair by many simulations."""
    cascade = IndependentCascade(EDGES)
    pairs = itertools.combinations(range(8), 2)
    return cascade, {pair: float(cascade.spreads(pair, 40_000, seed=5).mean()) for pair in pairs}


def wrong(cascade: IndependentCascade, f: dict[tuple[int, ...], float]) -> int:
    """In how many of 40 runs a bound is not true."""
    failures = 0
    for seed in range(40):
        found = sample_average(cascade.spread, range(8), 2, most=8, scenarios=20, fresh=200, seed=seed)
        value = f[tuple(sorted(found.chosen))]
        failures += not (found.lower <= value + 0.01 and max(f.values()) <= found.upper + 0.01)
    return failures


def test_bounds_from_fresh_scenarios_hold_and_fail_when_they_are_too_narrow(
    world: tuple[IndependentCascade, dict[tuple[int, ...], float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    cascade, f = world
    assert wrong(cascade, f) <= 2
    monkeypatch.setattr(simulators, "radius", lambda values, span, alpha: 0.0)
    assert wrong(cascade, f) > 5


def test_the_picks_are_those_of_greedy_and_the_share_grows_with_fresh_scenarios(
    world: tuple[IndependentCascade, dict[tuple[int, ...], float]],
) -> None:
    cascade, f = world
    few, many = (sample_average(cascade.spread, range(8), 2, most=8, scenarios=400, fresh=n) for n in (50, 3000))
    assert f[tuple(sorted(many.chosen))] > 0.98 * max(f.values())
    assert few.ratio < many.ratio
    assert many.ratio > 0.5
    assert f"{many.simulations:,} simulations" in str(many)


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(InvalidProblem, match="expected a number from 0 to most=1"):
        sample_average(lambda items, seed: 2.0 * len(items), range(4), 2, most=1)
    with pytest.raises(InvalidProblem, match="fresh"):
        sample_average(lambda items, seed: 1.0, range(4), 2, most=1, fresh=1)
    with pytest.raises(InvalidProblem, match="most must be a positive number"):
        sample_average(lambda items, seed: 1.0, range(4), 2, most=np.inf)

"""Intervals of the reproduction, against published tables and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reproduction.curves import up_to_three_times
from reproduction.statistics import (
    Interval,
    bootstrap,
    budget_for,
    geometric,
    mean,
    number,
    share,
    slope,
    student_quantile,
)


@pytest.mark.parametrize(("freedom", "published"), [(3, 3.182), (4, 2.776), (9, 2.262), (49, 2.010), (1000, 1.962)])
def test_students_t_is_that_of_the_tables(freedom: int, published: float) -> None:
    assert student_quantile(freedom) == pytest.approx(published, rel=0.01)


def test_a_mean_has_the_textbook_interval() -> None:
    interval = mean([1.0, 2.0, 3.0, 4.0, 5.0])
    assert interval.mid == 3.0
    assert interval.high - 3.0 == pytest.approx(2.776 * math.sqrt(2.5 / 5), rel=0.01)
    assert 3.0 - interval.low == pytest.approx(interval.high - 3.0)


def test_a_geometric_mean_does_not_care_for_the_unit() -> None:
    one, thousand = geometric([1.0, 10.0, 100.0]), geometric([1e3, 1e4, 1e5])
    assert one.mid == pytest.approx(10.0)
    assert thousand.high / one.high == pytest.approx(1000.0)


def test_wilsons_interval_says_something_even_for_none_of_n() -> None:
    none, half = share(0, 200), share(10, 20)
    assert (none.mid, none.low) == (0.0, 0.0)
    assert none.high == pytest.approx(0.0188, abs=1e-4)
    assert (half.low, half.high) == (pytest.approx(0.299, abs=1e-3), pytest.approx(0.701, abs=1e-3))


def test_a_slope_is_found_with_an_interval_around_it() -> None:
    x = np.linspace(0, 1, 20)
    exact, noisy = slope(x, 3 * x + 1), slope(x, 3 * x + np.where(np.arange(20) % 2, 0.1, -0.1))
    assert exact.mid == pytest.approx(3.0)
    assert exact.high - exact.low < 1e-9
    assert noisy.low < 3.0 < noisy.high


def test_the_budget_for_a_utility_is_read_off_between_two_points() -> None:
    assert budget_for(1.5, [1, 10, 100], [1.0, 2.0, 3.0]) == pytest.approx(math.sqrt(10))
    assert budget_for(0.5, [1, 10, 100], [1.0, 2.0, 3.0]) == 1
    assert math.isnan(budget_for(3.5, [1, 10, 100], [1.0, 2.0, 3.0]))


def test_a_bootstrap_interval_is_about_that_of_student() -> None:
    x = np.random.default_rng(1).normal(5.0, 1.0, 50)
    resampled, exact = bootstrap([x], lambda means: means[0]), mean(x)
    assert resampled.mid == pytest.approx(exact.mid)
    assert resampled.low == pytest.approx(exact.low, abs=0.05)
    assert resampled.high == pytest.approx(exact.high, abs=0.05)


def test_a_wide_interval_leaves_a_claim_undecided() -> None:
    assert up_to_three_times({0.8: Interval(1.5, 0.7, 3.5)}) == "is undecided"
    assert up_to_three_times({0.8: Interval(1.5, 1.1, 2.0)}) == "holds in part"
    assert up_to_three_times({0.8: Interval(2.5, 1.1, 3.2)}) == "holds"
    assert up_to_three_times({0.8: Interval(1.2, 0.9, 1.5)}) == "does not hold"
    assert up_to_three_times({}) == "is undecided"


def test_large_numbers_are_written_as_powers_of_ten() -> None:
    assert [number(x) for x in (2e7, 1.234, -0.5, math.inf)] == ["2.0·10⁷", "1.23", "−0.50", "∞"]

"""Simulated answers have the means and spreads that their models say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from handful.draws import question_seed
from handful.responses import Response, bernoulli, btl, gaussian, linear, preference, respond, saturating, uniform

SEEDS = [question_seed(11, 1, n) for n in range(8000)]


def answers(response: Response, gain: float, rival: float = 0.0) -> np.ndarray:
    return np.array([respond(response, gain, rival, seed) for seed in SEEDS])


def tolerance(sd: float) -> float:
    return 5 * sd / math.sqrt(len(SEEDS))


def test_uniform_values_fill_the_interval_of_the_half_width_around_the_gain() -> None:
    x = answers(uniform(0.5), 2.0)
    assert 1.5 <= x.min() < 1.501
    assert 2.499 < x.max() <= 2.5
    assert x.mean() == pytest.approx(2.0, abs=tolerance(0.5 / math.sqrt(3)))
    assert x.var() == pytest.approx(0.25 / 3, rel=0.05)


def test_gaussian_values_have_the_gain_as_mean_and_the_given_standard_deviation() -> None:
    x = answers(gaussian(0.5), -1.0)
    assert x.mean() == pytest.approx(-1.0, abs=tolerance(0.5))
    assert x.std() == pytest.approx(0.5, rel=0.05)


@pytest.mark.parametrize("response", [uniform(0.0), gaussian(0.0)])
def test_without_noise_the_answer_is_the_gain(response: Response) -> None:
    assert set(answers(response, 0.3)) == {0.3}


@pytest.mark.parametrize("gain", [0.0, 0.2, 1.0])
def test_bernoulli_values_are_one_as_often_as_the_gain_says(gain: float) -> None:
    x = answers(bernoulli(), gain)
    assert set(x) <= {0.0, 1.0}
    assert x.mean() == pytest.approx(gain, abs=tolerance(math.sqrt(gain * (1 - gain))))


@pytest.mark.parametrize("gain", [-1.0, 0.5, 3.0])
def test_bernoulli_values_of_two_numbers_have_the_gain_as_their_mean(gain: float) -> None:
    x = answers(bernoulli(-1.0, 3.0), gain)
    assert set(x) <= {-1.0, 3.0}
    assert x.mean() == pytest.approx(gain, abs=tolerance(math.sqrt((gain + 1.0) * (3.0 - gain))))


LINKS = {
    btl: lambda z: 1 / (1 + math.exp(-z)),
    linear: lambda z: min(max(0.5 + z / 4, 0.0), 1.0),
    saturating: lambda z: 0.5 + 0.8 / math.pi * math.atan(math.pi * z / 3.2),
}


@pytest.mark.parametrize("careless", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("beta", [0.0, 0.7, 3.0])
@pytest.mark.parametrize("model", LINKS)
def test_comparisons_prefer_the_item_as_often_as_the_link_says(model: object, beta: float, careless: float) -> None:
    response: Response = model(beta, careless)  # type: ignore[operator]
    p = (1 - careless) * LINKS[model](beta * 0.8) + careless / 2  # type: ignore[index]
    x = answers(response, 1.1, 0.3)
    assert set(x) <= {0.0, 1.0}
    assert x.mean() == pytest.approx(p, abs=tolerance(math.sqrt(p * (1 - p))))


@pytest.mark.parametrize("model", LINKS)
def test_without_sharpness_or_difference_a_comparison_is_a_fair_coin(model: object) -> None:
    assert preference(model(0.0), 100.0) == 0.5  # type: ignore[operator]
    assert preference(model(math.inf), 0.0) == 0.5  # type: ignore[operator]


def test_with_infinite_sharpness_the_larger_gain_wins_always_or_as_often_as_the_model_lets_it() -> None:
    assert set(answers(btl(math.inf), 1.0, 1.0 - 1e-12)) == {1.0}
    assert set(answers(linear(math.inf), 1.0, 2.0)) == {0.0}
    assert preference(saturating(math.inf), 1e-9) == pytest.approx(0.9)


@pytest.mark.parametrize("model", LINKS)
def test_all_links_have_the_same_slope_at_zero_rise_and_are_symmetric(model: object) -> None:
    response: Response = model(2.0)  # type: ignore[operator]
    assert (preference(response, 1e-6) - 0.5) / 1e-6 == pytest.approx(2.0 / 4, rel=1e-3)
    x = np.linspace(-4, 4, 81)
    p = np.array([preference(response, d) for d in x])
    assert (np.diff(p) >= 0).all()
    assert p + p[::-1] == pytest.approx(np.ones(81))


def test_a_huge_difference_overflows_nothing() -> None:
    assert preference(btl(1e3), -1e6) == 0.0
    assert preference(btl(1e3), 1e6) == 1.0


def test_only_comparisons_compare() -> None:
    assert [r.compares for r in (uniform(1), gaussian(1), bernoulli(), btl(1), linear(1), saturating(1))] == [
        False
    ] * 3 + [True] * 3

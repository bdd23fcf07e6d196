"""Black boxes, noise on known functions, and information in data: what an answer is, and what its mean is."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from handful import Study, Values
from handful.errors import InvalidProblem
from handful.oracles import InformationGain, SimulatedGain, SimulatedSet, btl, gaussian, noisy_function


@dataclass(frozen=True)
class Asked:
    """A question, as oracles see it."""

    item: Any
    chosen: tuple[Any, ...] = ()
    seed: int = 0
    rival: Any = None


def test_a_simulated_gain_is_what_the_simulator_says() -> None:
    oracle = SimulatedGain(lambda chosen, item, seed: len(chosen) + 10 * item + seed / 100)
    assert oracle(Asked(3, (1, 2), 7)) == 32.07


def test_a_gain_of_two_simulations_is_paired_by_the_seed() -> None:
    def simulate(items: tuple[int, ...], seed: int) -> float:
        return sum(items) + np.random.default_rng(seed).normal(scale=1000)

    oracle = SimulatedSet(simulate)
    for seed in range(20):
        assert oracle(Asked(5, (1, 2), seed)) == pytest.approx(5)


def test_what_is_chosen_is_simulated_once_for_each_seed() -> None:
    calls = []

    def simulate(items: tuple[int, ...], seed: int) -> float:
        calls.append((items, seed))
        return float(sum(items))

    oracle = SimulatedSet(simulate)
    for item in (3, 4, 5):
        assert oracle(Asked(item, (1, 2), 9)) == item
    assert calls == [((1, 2), 9), ((1, 2, 3), 9), ((1, 2, 4), 9), ((1, 2, 5), 9)]
    oracle(Asked(3, (1, 2), 10))
    assert calls[-2:] == [((1, 2), 10), ((1, 2, 3), 10)]


def root(items: tuple[int, ...]) -> float:
    return float(np.sqrt(sum(items)))


def test_noise_on_a_function_has_the_gain_as_its_mean() -> None:
    oracle = noisy_function(root, gaussian(0.5))
    answers = [oracle(Asked(9, (16,), seed)) for seed in range(4000)]
    assert np.mean(answers) == pytest.approx(5 - 4, abs=5 * 0.5 / np.sqrt(4000))
    assert np.std(answers) == pytest.approx(0.5, rel=0.1)
    travelled = pickle.loads(pickle.dumps(oracle))
    assert travelled(Asked(9, (16,), 3)) == oracle(Asked(9, (16,), 3))
    assert Study(range(1, 9), 2, feedback=Values(noise=0.1), budget=400).run(
        noisy_function(root, gaussian(0.1))
    ).chosen == (8, 7)


def table() -> tuple[np.ndarray, np.ndarray]:
    """A target, three columns that tell of it independently, and a copy of the first."""
    rng = np.random.default_rng(4)
    target = rng.integers(3, size=4000)
    columns = [np.where(rng.random(4000) < right, target, rng.integers(3, size=4000)) for right in (0.7, 0.5, 0.3)]
    return np.stack([*columns, columns[0]], axis=1), target


def information(columns: np.ndarray, target: np.ndarray) -> float:
    """I(target; columns) in bits, by the definition, one cell after the other."""
    rows = [tuple(row) for row in columns]
    bits = 0.0
    for cell in set(zip(rows, target, strict=True)):
        together = np.mean([(row, y) == cell for row, y in zip(rows, target, strict=True)])
        alone = np.mean([row == cell[0] for row in rows]) * np.mean(target == cell[1])
        bits += together * np.log2(together / alone)
    return float(bits)


def test_information_gain_is_exact_on_all_rows() -> None:
    columns, target = table()
    oracle = InformationGain(columns, target, ["a", "b", "c", "copy"])
    assert oracle.gain((), "a") == pytest.approx(information(columns[:, :1], target))
    both = information(columns[:, :2], target)
    assert oracle.information(("a", "b")) == pytest.approx(both)
    assert oracle.gain(("a",), "b") == pytest.approx(both - information(columns[:, :1], target))
    assert oracle.gain(("a",), "copy") == pytest.approx(0, abs=1e-12)
    assert oracle.gain(("a",), "c") < oracle.gain((), "c") <= oracle.range[1] == np.log2(3)


def test_columns_that_tell_only_together_are_not_submodular() -> None:
    a, b = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    oracle = InformationGain(np.stack([a, b], axis=1), a ^ b)
    assert oracle.gain((), 0) == oracle.gain((), 1) == 0
    assert oracle.gain((0,), 1) == pytest.approx(1)


def test_information_in_some_rows_is_noisy_and_nears_the_whole_as_they_grow() -> None:
    columns, target = table()
    exact = InformationGain(columns, target).gain((0,), 1)

    def mean(rows: int) -> float:
        oracle = InformationGain(columns, target, rows=rows)
        return float(np.mean([oracle(Asked(1, (0,), seed)) for seed in range(400)]))

    assert mean(100) > mean(400) > mean(1600) > exact
    assert mean(1600) - exact < 27 / (2 * 1600 * np.log(2)) + 0.005
    oracle = InformationGain(columns, target, rows=100)
    assert oracle(Asked(1, (0,), 5)) == oracle(Asked(1, (0,), 5)) != oracle(Asked(1, (0,), 6))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: SimulatedSet("f"), "give a function simulate(set, seed), got 'f'"),  # type: ignore[arg-type]
        (lambda: noisy_function(root, btl(1.0)), "answers comparisons"),
        (lambda: InformationGain([[1, 2]], [1, 2]), "the table has 1 rows and the target 2"),
        (lambda: InformationGain([1, 2], [1, 2]), "a table has rows and columns"),
        (lambda: InformationGain([[1, 2]], [1], ["a"]), "1 items for a table of 2 columns"),
        (lambda: InformationGain([[1, 2]], [1], rows=0), "rows must be a whole number"),
        (lambda: InformationGain([[1, 2]], [1]).gain((), "z"), "'z' is not a column"),
    ],
)
def test_a_simulator_that_makes_no_sense_is_refused(make: Any, says: str) -> None:
    with pytest.raises(InvalidProblem) as raised:
        make()
    assert says in str(raised.value)

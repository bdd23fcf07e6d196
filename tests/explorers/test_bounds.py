"""Bounds on single items: lower ones for all of them at once, upper ones for a set that no answer changes."""

from __future__ import annotations

import numpy as np
import pytest

from handful.explorers.board import NOW, clear, new_board, note_asked, note_counted
from handful.explorers.bounds import close_round, item_bounds, narrow, new_round
from handful.problem import Problem, Values
from tests.explorers.instances import BROKEN, HELD
from tests.explorers.statistics import binomial_p

DELTAS = (0.05, 0.3, 0.8)
KNOWN = [Values(noise=1.0), Values(range=(-1.0, 3.0))]


def one_is_false(seed: int, k: int, delta: float, known: Values, shrink: float, most: int) -> bool:
    """Whether an upper bound of OPT, the first k of 3k items, or any lower bound is false at some time in two rounds.

    Who asks wants it to be: an item is asked about until a bound of it is false, or `most` times.
    """
    rng = np.random.default_rng([seed, k])
    size = 3 * k
    limits = item_bounds(Problem(size, k, known, epsilon=1.0, delta=delta), k, shrink, of_optimum=True)
    board, upper, lower = new_board(size, k, 0, 1), limits.items["upper"], limits.items["lower"]
    for j in (1, 2):
        clear(board, j, -1, 1)
        new_round(limits)
        for item in range(size) if j == 1 else range(k):
            for x in 1.0 + (rng.standard_normal(most) if known.range is None else rng.uniform(-2.0, 2.0, most)):
                note_asked(board, item, NOW)
                note_counted(board, item, NOW, float(x))
                narrow(limits, board, item)
                if (item < k and upper[item] < 1.0) or lower[item] > 1.0:
                    return True
        close_round(limits, board)
    return False


def p_value(runs: int, k: int, delta: float, known: Values, shrink: float, most: int) -> float:
    """Of “it happens in at most δ of the runs”."""
    return binomial_p(sum(one_is_false(s, k, delta, known, shrink, most) for s in range(runs)), runs, delta)


@pytest.mark.slow
@pytest.mark.parametrize("known", KNOWN, ids=["R", "range"])
@pytest.mark.parametrize("delta", DELTAS)
def test_bounds_of_a_fixed_set_hold_and_narrower_ones_are_caught(delta: float, known: Values) -> None:
    assert p_value(30, 6, delta, known, 1.0, 12) > HELD
    assert p_value(60, 12, delta, known, 0.3, 80) < BROKEN


@pytest.mark.slow
@pytest.mark.parametrize("known", KNOWN, ids=["R", "range"])
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("k", [1, 20, 50])
def test_bounds_of_a_fixed_set_hold_over_many_runs_and_narrower_ones_are_caught(
    k: int, delta: float, known: Values
) -> None:
    assert p_value(1000, k, delta, known, 1.0, 40) > HELD
    if k > 1:  # one item alone is seldom seen that far off
        assert p_value(200, k, delta, known, 0.3, 60) < BROKEN**2


def test_upper_bounds_of_a_fixed_set_do_not_grow_with_the_number_of_items() -> None:
    widths = []
    for size in (100, 10_000):
        limits = item_bounds(Problem(size, 5, Values(noise=1.0), epsilon=1.0), 5, 1.0, of_optimum=True)
        board = new_board(size, 5, 0, 1)
        clear(board, 1, -1, 1)
        new_round(limits)
        for _ in range(10):
            note_asked(board, 0, NOW)
            note_counted(board, 0, NOW, 9.0)
            narrow(limits, board, 0)
        widths.append((float(limits.items["upper"][0]), float(limits.items["lower"][0])))
    assert widths[0][0] == widths[1][0]
    assert widths[0][1] > widths[1][1]

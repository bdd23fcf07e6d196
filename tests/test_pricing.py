"""The price before the start: an honest simulation with a range, and clear words when it cannot be told."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from handful import Preferences, Values, price
from handful.errors import InvalidProblem


def test_more_noise_costs_more() -> None:
    calm = price(20, 3, feedback=Values(noise=0.1), epsilon=0.3, runs=6)
    loud = price(20, 3, feedback=Values(noise=0.4), epsilon=0.3, runs=6)
    assert 0 < calm.low <= calm.answers <= calm.high
    assert loud.answers > 2 * calm.answers


def test_a_range_costs_what_the_noisiest_answers_in_it_do() -> None:
    wide = price(20, 3, feedback=Values(range=(-1.0, 3.0)), epsilon=0.3, runs=6)
    narrow = price(20, 3, feedback=Values(range=(0.0, 1.2)), epsilon=0.3, runs=6)
    assert wide.answers > 3 * narrow.answers
    assert "each -1 or 3" in str(wide)


def test_a_sharper_crowd_needs_fewer_comparisons() -> None:
    dull = price(20, 3, feedback=Preferences(), quality=0.9, beta=1.0, runs=8)
    sharp = price(20, 3, feedback=Preferences(), quality=0.9, beta=10.0, runs=8)
    assert sharp.answers < dull.answers
    assert dull.low <= dull.answers <= dull.high


def test_units_do_not_matter_only_noise_against_the_best_gain() -> None:
    metres = price(20, 3, feedback=Values(noise=0.2), epsilon=0.3, best_gain=1.0, runs=4)
    millimetres = price(20, 3, feedback=Values(noise=200.0), epsilon=300.0, best_gain=1000.0, runs=4)
    assert metres.answers == pytest.approx(millimetres.answers, rel=0.05)


def test_the_same_seed_gives_the_same_price() -> None:
    first = price(20, 3, feedback=Values(noise=0.2), epsilon=0.3, runs=3)
    assert price(20, 3, feedback=Values(noise=0.2), epsilon=0.3, runs=3) == first


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "epsilon= or ratio="),
        ({"epsilon": 0.1, "quality": 0.9}, "for one aim"),
        ({"epsilon": 0.1, "feedback": "values"}, r"Values\(...\) or Preferences"),
        ({"quality": 1.5}, "share of exact greedy"),
        ({"epsilon": 0.1, "best_gain": 0.0}, "best_gain"),
        ({"epsilon": 0.1, "runs": 0}, "runs"),
        ({"epsilon": 0.1, "feedback": Values()}, "noise"),
        ({"epsilon": 0.1, "feedback": Values(range=(0.0, 0.5))}, "another range, or the right best_gain="),
        ({"epsilon": 0.1, "feedback": Values(range=(0.5, 2.0))}, "another range, or the right best_gain="),
    ],
)
def test_a_price_that_cannot_be_told_says_what_to_do(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidProblem, match=message):
        price(10, 2, **({"feedback": Values(noise=0.1)} | options))


def test_the_command_prints_json_for_a_program() -> None:
    words = ["price", "-n", "15", "-k", "2", "--noise", "0.1", "--epsilon", "0.3", "--runs", "2", "--json"]
    made = subprocess.run([sys.executable, "-c", "from handful.cli import main; main()", *words], capture_output=True)
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["answers"] > 0

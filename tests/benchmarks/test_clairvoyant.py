"""What somebody who knows f would need to prove the claim."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.answers.clairvoyant import clairvoyant
from handful.objectives import FacilityLocation, Modular

GAINS = [1.0, 0.9, 0.8, 0.1, 0.1, 0.0]


def test_what_it_finds_is_enough_and_not_far_from_the_least() -> None:
    """Two picks and four items that could be as good: by hand, 2n + 4T answers, n and T as the width wants them."""
    world, z, s = Modular([1.0, 1.0, 1.0, 1.0]), 2.0 * math.log(20.0), 1.0 - 1.0 / math.e
    gap = 2.0 - 2.0 * s
    by_hand = z * (2.0 + math.sqrt(8.0) * s) ** 2 / gap**2  # R = 1, without rounding
    found = clairvoyant(world, (0, 1), 1.0, 0.0, 0.05)
    assert by_hand <= found < 1.1 * by_hand + 6


def test_more_noise_costs_more_and_no_noise_one_answer_each() -> None:
    """Given all picks nothing is left to ask about them but what they added."""
    found = [clairvoyant(Modular(GAINS), (0, 1, 2), noise, 0.1, 0.05) for noise in (1e-6, 1.0, 3.0)]
    assert found[0] == len(GAINS)
    assert found[0] < found[1] < found[2]


def test_what_the_empty_set_does_not_show_a_later_anchor_may() -> None:
    """Three that are one and the same look like two of them, until one is picked."""
    world = FacilityLocation(np.array([[1.0, 0.0]] * 3 + [[0.0, 0.2]]))
    s = 1.0 - 1.0 / math.e
    assert s * 2.0 > 1.2  # from the empty set
    assert clairvoyant(world, (0, 3), 1e-6, 0.0, 0.05) == 4  # two about the picks, two about what is left
    by_hand = 2.0 * math.log(20.0) * (2.0 * (1.0 - s) + 2.0 * s) ** 2 / (1.2 * (1.0 - s)) ** 2  # given both picks
    assert by_hand <= clairvoyant(world, (0, 3), 1.0, 0.0, 0.05) < 1.1 * by_hand + 4


def test_a_claim_that_is_not_so_costs_infinity() -> None:
    assert clairvoyant(Modular(GAINS), (3, 4, 5), 0.1, 0.0, 0.05) == math.inf
    assert np.isfinite(clairvoyant(Modular(GAINS), (3, 4, 5), 0.1, 2.0, 0.05))


@pytest.mark.parametrize("delta", [0.05, 0.5])
def test_a_larger_delta_costs_less(delta: float) -> None:
    assert clairvoyant(Modular(GAINS), (0, 1, 2), 1.0, 0.1, delta) > clairvoyant(
        Modular(GAINS), (0, 1, 2), 1.0, 0.1, 0.9
    )

"""Closed rounds are kept small, and nothing of them is lost."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from handful.rounds import PackedNumbers


@pytest.mark.parametrize("share", [0.0, 0.1, 0.6, 1.0])
def test_numbers_are_unpacked_to_the_bit(share: float) -> None:
    rng = np.random.default_rng(1)
    for fill in (np.nan, 0.0, -0.0, -np.inf):
        values = np.where(rng.random(1_000) < share, rng.normal(size=1_000), fill)
        values[3:5] = np.nan, -0.0
        assert np.array_equal(PackedNumbers(values).unpacked().view(np.int64), values.view(np.int64))
    counts = np.where(rng.random(999) < share, rng.integers(1, 9, 999), 0)
    assert np.array_equal(PackedNumbers(counts).unpacked(), counts)


def test_what_is_mostly_one_number_takes_little_room() -> None:
    values = np.full(10_000, np.nan)
    values[::100] = 1.0
    packed = PackedNumbers(values)
    parts = [getattr(packed, slot) for slot in ("_fill", "_values", "_where")]
    held = sum((part if part.base is None else part.base).nbytes for part in parts)  # a view holds all it is of
    assert held + sys.getsizeof(packed) < 0.05 * values.nbytes

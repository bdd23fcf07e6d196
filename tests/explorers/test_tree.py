"""A tournament tree always knows who is best."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from handful.explorers.bounds import new_tree, plant, seat

KEYS = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 1.0, np.inf])
CHANGES = st.lists(st.tuples(st.integers(0, 12), st.booleans(), KEYS), max_size=40)


def order(keys: np.ndarray, ties: np.ndarray, present: set[int]) -> list[int]:
    """The larger key, then the larger tie-breaker, then the lower index."""
    return sorted(present, key=lambda i: (-keys[i], -ties[i], i))


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 13), st.lists(st.sampled_from([0.0, 1.0]), min_size=13, max_size=13), CHANGES)
def test_the_winner_is_that_of_a_sort(size: int, breakers: list[float], changes: list[tuple[int, bool, float]]) -> None:
    keys, ties, tree = np.zeros(size), np.array(breakers[:size]), new_tree(size)
    present = set(range(size))
    plant(tree, keys, ties)
    for item, stays, key in changes:
        item %= size
        keys[item] = key
        seat(tree, keys, ties, item, stays)
        present = present | {item} if stays else present - {item}
        best = order(keys, ties, present)
        assert tree[1] == (best[0] if best else -1)

"""A tournament tree: the best of many items by a key that changes for one item at a time, at O(log N) a change.

`tree` holds winners; its leaves stand from len//2 on, -1 for nobody, and the winner of all at 1. The larger key wins;
where keys are equal the larger tie-breaker; where these are equal too the lower index.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from handful.core.draws import TIE, uniforms
from handful.core.kernels import kernel
from handful.core.objective import Floats, Ints


def new_tree(size: int) -> Ints:
    """Everybody takes part; `plant` finds the winners."""
    leaves = 1 << max(0, (size - 1).bit_length())
    tree = np.full(2 * leaves, -1, np.int64)
    tree[leaves : leaves + size] = np.arange(size)
    return tree


def draw_ties(items: np.ndarray[Any, Any], seed: int) -> None:
    """Fill the field `tie` of every row: a draw that decides where keys are equal."""
    _draw_all(items, np.uint64(seed))


@kernel
def _draw_all(items: Any, seed: Any) -> None:
    for i in range(len(items)):
        items[i].tie, _ = uniforms(seed, 0, TIE, i)


@kernel
def winner(keys: Floats, ties: Floats, i: int, j: int) -> int:
    """The better of two; -1 is nobody."""
    if i < 0 or j < 0:
        return max(i, j)
    if keys[i] != keys[j]:
        return i if keys[i] > keys[j] else j
    if ties[i] != ties[j]:
        return i if ties[i] > ties[j] else j
    return min(i, j)


@kernel
def plant(tree: Ints, keys: Floats, ties: Floats) -> None:
    """All winners, from the leaves."""
    for node in range(len(tree) // 2 - 1, 0, -1):
        tree[node] = winner(keys, ties, tree[2 * node], tree[2 * node + 1])


@kernel
def seat(tree: Ints, keys: Floats, ties: Floats, item: int, present: bool) -> None:
    """Put an item in, take it out, or let its new key be seen: up to where it makes no difference any more."""
    node = len(tree) // 2 + item
    tree[node] = item if present else -1
    node //= 2
    while node > 0:
        best = winner(keys, ties, tree[2 * node], tree[2 * node + 1])
        if best == tree[node] and best != item:
            return
        tree[node] = best
        node //= 2

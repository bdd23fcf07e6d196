"""The few items of the largest keys, in order, found in one pass over all items."""

from __future__ import annotations

from handful.core.kernels import kernel
from handful.core.objective import Floats, Ints


@kernel
def rank(keys: Floats, items: Ints, held: int, most: int, key: float, item: int) -> int:
    """Put an item among the `held` of the largest keys, `most` at the most; returns how many are held then.

    The largest key comes first; of equal keys the one that came first.
    """
    if held == most:
        if not key > keys[held - 1]:
            return held
        held -= 1
    place = held
    while place > 0 and key > keys[place - 1]:
        keys[place] = keys[place - 1]
        items[place] = items[place - 1]
        place -= 1
    keys[place] = key
    items[place] = item
    return held + 1

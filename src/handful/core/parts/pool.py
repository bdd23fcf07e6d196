"""The pool: few items that any set B which stands in the way of a claim can be taken from, whatever is looked for.

Of two items with equally many answers of equally many rounds the one with the larger sum adds more, for every way,
share and y. So of each such class only those with the largest sums are looked at, some times more than a set has room
for; who has many answers, or fresh ones, and in a known range (where it matters how answers vary) who has more than
one, always is. Every answer of an audit may take an item from its class: before too many have, the pool is gathered
anew. So what an audit looks at does not grow with N.
"""

from __future__ import annotations

from handful.core.kernels import kernel, rare
from handful.core.objective import Ints
from handful.core.parts.board import Rows
from handful.core.parts.claim_state import MANY, Claim

_ROOM, _MORE = 6, 200  # of each class 6k + 200 items
_NEEDED = 4  # of each class 4k are needed: so many times k are planned for


@kernel
def _seats(claim: Claim) -> int:
    """How many of each class are in the pool."""
    return _ROOM * claim.rules[0].k + _MORE


@kernel
def renew_pool(claim: Claim) -> None:
    """Gather the pool if it was not, or if too much has changed since."""
    rules = claim.rules[0]
    if rules.pooled == 0 or (rules.pooled < len(claim.pool) and rules.moved > _seats(claim) - _NEEDED * rules.k):
        _gather(claim)


@rare
def _gather(claim: Claim) -> None:
    """Put all items into the pool, or, where they are many, those that may be in a set."""
    rules, items, pool = claim.rules[0], claim.items, claim.pool
    size, seats = len(items), _seats(claim)
    rules.moved = 0
    if size <= 2 * seats:
        for i in range(size):
            pool[i] = i
        rules.pooled = size
        return
    for i in range(size):
        pool[i] = i
    _sort(pool, items)
    for c in range(len(claim.taken)):
        claim.taken[c] = 0
    most = 1 if rules.span > 0.0 else MANY - 1
    held = 0
    for p in range(size):
        row = items[pool[p]]
        if row.old < 0:
            continue
        if row.old <= most and (rules.alone == 1 or row.now == 0):
            c = row.old_rounds * MANY + row.old
            if claim.taken[c] >= seats:
                continue
            claim.taken[c] += 1
        pool[held] = pool[p]
        held += 1
    rules.pooled = held


@rare
def _sort(pool: Ints, items: Rows) -> None:
    """Put the largest sums first (heapsort: it needs no room)."""
    size = len(pool)
    for root in range(size // 2 - 1, -1, -1):
        _sift(pool, items, root, size)
    for end in range(size - 1, 0, -1):
        pool[0], pool[end] = pool[end], pool[0]
        _sift(pool, items, 0, end)


@kernel
def _sift(pool: Ints, items: Rows, root: int, end: int) -> None:
    """Let what stands at the root of a heap sink to where the sums below it are larger."""
    moving = pool[root]
    total = items[moving].old_total
    while 2 * root + 1 < end:
        child = 2 * root + 1
        if child + 1 < end and items[pool[child + 1]].old_total < items[pool[child]].old_total:
            child += 1
        if not items[pool[child]].old_total < total:
            break
        pool[root] = pool[child]
        root = child
    pool[root] = moving

"""The scout: finds an item that is probably about the best, cheaply, and promises nothing.

An item's hope is its mean plus a standard error, with the spread of answers learnt from the answers themselves.
Gains only fall from round to round, so the hope of an earlier round still caps an item that was not asked in this
one. The leader (best mean) and the most hopeful other are asked in turn until no other is hopeful by more than a
share `near` of the leader's mean. A tournament tree over hopes and one over means keep an answer at O(log N).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handful.core.explorers.board import Board, Rows
from handful.core.kernels import kernel, small
from handful.core.objective import Floats, Ints

FIRST = 10.0
LASTING = 1.75  # standard errors that cap later rounds, in those of this one: a bad day should not last

RULES = np.dtype(
    [
        ("near", np.float64),
        ("z", np.float64),  # standard errors of hope
        ("noise", np.float64),  # R: the standard deviation of an answer is at most this
        ("answers", np.int64),
        ("items", np.int64),  # pairs of item and round with an answer
        ("squares", np.float64),  # Σ (X − mean of its item and round)²
        ("lead", np.int64),
        ("first", np.int64),  # items whose first answer of this round is in flight
    ],
    align=True,
)

ITEM = np.dtype(
    [
        ("hope", np.float64),
        ("cap", np.float64),  # what an earlier round left of hope, generously
        ("next", np.float64),  # what this one will leave
        ("mean", np.float64),
        ("score", np.float64),  # a prior's: who is asked first where hopes are equal
    ],
    align=True,
)


class Scout(NamedTuple):
    """Hopes and means of all candidates."""

    rules: Rows
    items: Rows
    hopes: Ints  # tree of winners by hope
    means: Ints  # tree of winners by mean


def new_scout(size: int, near: float, z: float, noise: float, prior: Floats | None = None) -> Scout:
    """Everything is possible; a prior's scores say whom to ask first."""
    r = np.zeros(1, RULES)
    r["near"] = near
    r["z"] = z
    r["noise"] = noise
    r["lead"] = -1
    items = np.zeros(size, ITEM)
    items["hope"] = items["cap"] = items["next"] = np.inf
    items["mean"] = -np.inf
    if prior is not None:
        items["score"] = prior
    leaves = 1 << max(0, (size - 1).bit_length())
    trees = [np.full(2 * leaves, -1, np.int64) for _ in range(2)]
    for tree in trees:
        tree[leaves : leaves + size] = np.arange(size)
    scout = Scout(r, items, *trees)
    rebuild(scout)
    return scout


@small
def hopeful(scout: Scout, i: int, j: int) -> int:
    """The one of more hope; ties to the higher score, then to the lower index."""
    if i < 0 or j < 0:
        return max(i, j)
    a, b = scout.items[i], scout.items[j]
    if a.hope != b.hope:
        return i if a.hope > b.hope else j
    if a.score != b.score:
        return i if a.score > b.score else j
    return min(i, j)


@small
def higher(scout: Scout, i: int, j: int) -> int:
    """The one of the larger mean; ties to the lower index."""
    if i < 0 or j < 0:
        return max(i, j)
    a, b = scout.items[i].mean, scout.items[j].mean
    return i if a > b or (a == b and i < j) else j


@kernel
def rebuild(scout: Scout) -> None:
    """All winners, from the leaves."""
    for node in range(len(scout.hopes) // 2 - 1, 0, -1):
        scout.hopes[node] = hopeful(scout, scout.hopes[2 * node], scout.hopes[2 * node + 1])
        scout.means[node] = higher(scout, scout.means[2 * node], scout.means[2 * node + 1])


@kernel
def climb(scout: Scout, item: int, present: bool) -> None:
    """Let the new hope and mean of `item` be seen, or take it out."""
    node = len(scout.hopes) // 2 + item
    scout.hopes[node] = scout.means[node] = item if present else -1
    node //= 2
    while node > 0:
        scout.hopes[node] = hopeful(scout, scout.hopes[2 * node], scout.hopes[2 * node + 1])
        scout.means[node] = higher(scout, scout.means[2 * node], scout.means[2 * node + 1])
        node //= 2


@kernel
def scout_begin(scout: Scout) -> None:
    """Means start again; hopes stay as caps."""
    for i in range(len(scout.items)):
        scout.items[i].cap = scout.items[i].next
        scout.items[i].hope = scout.items[i].cap
        scout.items[i].mean = -np.inf
    rebuild(scout)
    scout.rules[0].lead = -1
    scout.rules[0].first = 0


@kernel
def scout_forget(scout: Scout, item: int) -> None:
    """`item` is no longer a candidate."""
    climb(scout, item, False)


@small
def error(scout: Scout, T: float) -> float:
    """z standard errors of a mean of T answers; R counts like FIRST answers about their spread."""
    r = scout.rules[0]
    free = float(r.answers - r.items)
    return r.z * math.sqrt((r.squares + FIRST * r.noise * r.noise) / (free + FIRST) / T)


@kernel
def scout_add(scout: Scout, board: Board, item: int, answer: float) -> None:
    """An answer is on the board."""
    r, row, seen = scout.rules[0], scout.items[item], board.items[item]
    T = float(seen.count)
    before = row.mean if seen.count > 1 else 0.0
    row.mean = seen.total / T
    r.answers += 1
    if seen.count == 1:
        r.items += 1
        r.first -= 1
    else:
        r.squares += (answer - before) * (answer - row.mean)
    row.hope = min(row.cap, row.mean + error(scout, T))
    row.next = min(row.cap, row.mean + LASTING * error(scout, T))
    climb(scout, item, True)


@small
def second(scout: Scout, lead: int) -> int:
    """The most hopeful item but the leader: the winners along its path to the root do not contain it."""
    if scout.hopes[1] != lead:
        return scout.hopes[1]
    best = -1
    node = len(scout.hopes) // 2 + lead
    while node > 1:
        best = hopeful(scout, best, scout.hopes[node ^ 1])
        node //= 2
    return best


@small
def scout_lead(scout: Scout) -> int:
    """The best mean of this round, or the most hopeful item before there is one."""
    lead = scout.means[1]
    return scout.hopes[1] if lead < 0 or scout.items[lead].mean == -np.inf else lead


@kernel
def scout_next(scout: Scout, board: Board) -> int:
    """What to ask next: the leader or the most hopeful other, whichever has fewer answers."""
    lead = scout.means[1]
    if lead < 0 or scout.items[lead].mean == -np.inf:
        item = scout.hopes[1]
    else:
        item = second(scout, lead)
        if item < 0 or waited_for(board, lead) < waited_for(board, item):
            item = lead
    if board.items[item].count == 0 and board.items[item].waiting == 0:  # one first answer is enough to wait for
        scout.rules[0].first += 1
        scout.items[item].hope = -np.inf
        climb(scout, item, True)
    return item


@small
def waited_for(board: Board, item: int) -> int:
    """Answers about an item, those in flight included."""
    return board.items[item].count + board.items[item].waiting


@kernel
def scout_void(scout: Scout, board: Board, item: int) -> None:
    """A question came to nothing: an item that it was the first about is as hopeful as before."""
    if board.items[item].count == 0 and board.items[item].waiting == 0 and board.items[item].where >= 0:
        scout.rules[0].first -= 1
        scout.items[item].hope = scout.items[item].cap
        climb(scout, item, True)


@kernel
def scout_spread(scout: Scout, board: Board) -> bool:
    """Whether nobody has hope to beat the leader by much."""
    lead = scout.means[1]
    if lead < 0 or scout.items[lead].mean == -np.inf or scout.rules[0].first > 0:
        return False
    scout.rules[0].lead = lead
    other = second(scout, lead)
    if other < 0:
        return True
    row = scout.items[lead]
    doubt = error(scout, float(board.items[lead].count))
    return scout.items[other].hope - (row.mean - doubt) <= scout.rules[0].near * max(row.mean, 0.0)

"""The scout: finds an item that is probably about the best, cheaply, and promises nothing.

An item's hope is its mean plus z standard errors, with the spread of answers learnt from the answers themselves; z
grows as more answers are needed, for the more often one looks, the likelier an item is to have a bad day. Gains only
fall from round to round, so the hope of an earlier round still caps an item that was not asked in this one. The leader
(best mean) and the most hopeful other are asked in turn until no other is hopeful by more than a share `near` of the
leader's mean, or than `enough`: where all that is left is little, it does not matter who is best. What is in flight
counts as if it left means as they are, so that many in flight are spread over those that matter, no more are asked
than seem needed, and not too many before those before them are answered. A tournament tree over hopes and one over
means keep an answer at O(log N).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handful.core.kernels import kernel, small
from handful.core.objective import Floats, Ints
from handful.core.parts.board import Board, Rows
from handful.core.parts.tree import new_tree, plant, runner_up, seat

_FIRST = 10.0
_FEW = 20.0  # answers per item, over all rounds, from which on z grows
_PLENTY = 2  # how many times what is in flight about an item must have been answered
_LASTING = 1.75  # standard errors that cap later rounds, in those of this one: a bad day should not last

_RULES = np.dtype(
    [
        ("near", np.float64),
        ("enough", np.float64),  # a difference in gain that does not matter
        ("z", np.float64),  # standard errors of hope, at first
        ("noise", np.float64),  # R: the standard deviation of an answer is at most this
        ("answers", np.int64),
        ("items", np.int64),  # pairs of item and round with an answer
        ("squares", np.float64),  # Σ (X − mean of its item and round)²
        ("hopeless", np.int64),  # items without hope because their first answer of this round is in flight
    ],
    align=True,
)

_ITEM = np.dtype(
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
    r = np.zeros(1, _RULES)
    r["near"] = near
    r["z"] = z
    r["noise"] = noise
    items = np.zeros(size, _ITEM)
    items["hope"] = items["cap"] = items["next"] = np.inf
    items["mean"] = -np.inf
    if prior is not None:
        items["score"] = prior
    scout = Scout(r, items, new_tree(size), new_tree(size))
    _rebuild(scout)
    return scout


@kernel
def _rebuild(scout: Scout) -> None:
    """All winners, from the leaves."""
    plant(scout.hopes, scout.items["hope"], scout.items["score"])
    plant(scout.means, scout.items["mean"], scout.items["mean"])


@small
def _show(scout: Scout, item: int, present: bool) -> None:
    """Let the new hope and mean of `item` be seen, or take it out."""
    seat(scout.hopes, scout.items["hope"], scout.items["score"], item, present)
    seat(scout.means, scout.items["mean"], scout.items["mean"], item, present)


@kernel
def scout_begin(scout: Scout) -> None:
    """Means start again; hopes stay as caps."""
    for i in range(len(scout.items)):
        scout.items[i].cap = scout.items[i].next
        scout.items[i].hope = scout.items[i].cap
        scout.items[i].mean = -np.inf
    _rebuild(scout)
    scout.rules[0].hopeless = 0


@kernel
def scout_forget(scout: Scout, item: int) -> None:
    """`item` is no longer a candidate."""
    _set_hope(scout, item, scout.items[item].cap)
    _show(scout, item, False)


@small
def _error(scout: Scout, T: float) -> float:
    """z standard errors of a mean of T answers; R counts like _FIRST answers about their spread."""
    r = scout.rules[0]
    free = float(r.answers - r.items)
    z = math.sqrt(r.z * r.z + math.log(max(1.0, r.answers / (_FEW * len(scout.items)))))
    return z * math.sqrt((r.squares + _FIRST * r.noise * r.noise) / (free + _FIRST) / T)


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
    else:
        r.squares += (answer - before) * (answer - row.mean)
    row.next = min(row.cap, row.mean + _LASTING * _error(scout, T))
    _look_ahead(scout, item, seen.count + seen.waiting)


@small
def _look_ahead(scout: Scout, item: int, answers: int) -> None:
    """The hope of an item once it has so many answers, if those in flight leave its mean as it is."""
    row = scout.items[item]
    _set_hope(scout, item, min(row.cap, row.mean + _error(scout, float(answers))))


@small
def _set_hope(scout: Scout, item: int, hope: float) -> None:
    """Give an item this hope, and know how many have none."""
    row = scout.items[item]
    scout.rules[0].hopeless += (1 if hope == -np.inf else 0) - (1 if row.hope == -np.inf else 0)
    row.hope = hope
    _show(scout, item, True)


@small
def _second(scout: Scout, lead: int) -> int:
    """The most hopeful item but the leader."""
    if scout.hopes[1] != lead:
        return scout.hopes[1]
    return runner_up(scout.hopes, scout.items["hope"], scout.items["score"], lead)


@small
def scout_lead(scout: Scout) -> int:
    """The best mean of this round, or the most hopeful item before there is one."""
    lead = scout.means[1]
    return scout.hopes[1] if lead < 0 or scout.items[lead].mean == -np.inf else lead


@kernel
def scout_next(scout: Scout, board: Board) -> int:
    """What to ask next: the leader or the most hopeful other, whichever has fewer answers; -1 to wait for what is in
    flight, if that seems enough.
    """
    lead = scout.means[1]
    if lead < 0 or scout.items[lead].mean == -np.inf:
        item = scout.hopes[1]
        if scout.items[item].hope == -np.inf:
            return -1
    else:
        item = _second(scout, lead)
        if item < 0 or _waited_for(board, lead) < _waited_for(board, item):
            item = lead
        if board.round[0].asked > board.round[0].counted and (_nobody_near(scout, board, lead) or _plenty(board, item)):
            return -1
    if _waited_for(board, item) == 0:  # one first answer is enough to wait for
        _set_hope(scout, item, -np.inf)
    elif board.items[item].count > 0:
        _look_ahead(scout, item, _waited_for(board, item) + 1)
    return item


@small
def _plenty(board: Board, item: int) -> bool:
    """Whether so much is in flight about an item that it is better to see it first."""
    return _PLENTY * board.items[item].waiting > board.items[item].count


@small
def _waited_for(board: Board, item: int) -> int:
    """Answers about an item, those in flight included."""
    return board.items[item].count + board.items[item].waiting


@kernel
def scout_void(scout: Scout, board: Board, item: int) -> None:
    """A question came to nothing: the item is as hopeful as before."""
    if board.items[item].where < 0:
        return
    if board.items[item].count > 0:
        _look_ahead(scout, item, _waited_for(board, item))
    elif board.items[item].waiting == 0:
        _set_hope(scout, item, scout.items[item].cap)


@kernel
def scout_spread(scout: Scout, board: Board) -> bool:
    """Whether nobody has hope to beat the leader by much, now that nothing is in flight."""
    if scout.rules[0].hopeless > 0:  # one was to be asked about, and then another was
        for i in range(len(scout.items)):
            if board.items[i].where >= 0 and board.items[i].count == 0:
                _set_hope(scout, i, scout.items[i].cap)
    lead = scout.means[1]
    return lead >= 0 and scout.items[lead].mean > -np.inf and _nobody_near(scout, board, lead)


@small
def _nobody_near(scout: Scout, board: Board, lead: int) -> bool:
    """The same, if what is in flight leaves means as they are."""
    other = _second(scout, lead)
    if other < 0:
        return True
    row = scout.items[lead]
    doubt = _error(scout, float(_waited_for(board, lead)))
    return scout.items[other].hope - (row.mean - doubt) <= max(scout.rules[0].near * row.mean, scout.rules[0].enough)

"""Anytime bounds on each item's gain, and the few largest of them, at a cost of O(k + log N) an answer."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from handful.certificates import noise_of
from handful.confidence import FIRST, bernstein, beta_binomial, mixture_width, one_sided_saves
from handful.draws import TIE, uniforms
from handful.explorers.board import Board, Rows, View, means_of
from handful.kernels import kernel
from handful.problem import Floats, Ints, Preferences, Problem


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


_NORMAL, BOUNDED, _COMPARED = range(3)
_POOLED = 0.05  # the share of δ spent on the sequences over all rounds

_RULES = np.dtype(
    [
        ("kind", np.int64),
        ("noise", np.float64),  # R
        ("span", np.float64),  # how far apart two answers may be, for BOUNDED
        ("alpha", np.float64),  # error per item and round, for _COMPARED
        ("lower", np.float64),  # else log(1/error) of a lower bound, per item and round
        ("upper", np.float64),  # of an upper one
        ("pooled", np.float64),  # and of the upper one over all rounds, per item
        ("rho", np.float64),
        ("shrink", np.float64),  # multiplies every radius; 1 but in tests of power
        ("held", np.int64),  # items in `top`
    ],
    align=True,
)

_ITEM = np.dtype(
    [
        ("lower", np.float64),  # in this round
        ("upper", np.float64),  # valid now: in this round, carried or pooled
        ("past", np.int64),  # answers of earlier rounds; -1 once one of them was left out
        ("past_total", np.float64),
        ("past_spread", np.float64),
        ("place", np.int64),  # in `top`, or -1
        ("tie", np.float64),  # decides where bounds are equal
    ],
    align=True,
)


class Bounds(NamedTuple):
    """Bounds for every item; part of the state of an explorer."""

    rules: Rows  # one row
    items: Rows
    top: Ints  # the items of the largest upper bounds, in descending order
    tree: Ints  # of the others


def new_bounds(size: int, k: int, most: float = np.inf, seed: int = 0, **rules: float) -> Bounds:
    """Bounds before the first answer: no gain is larger than `most`. Ties are drawn from the seed."""
    r = np.zeros(1, _RULES)
    for name, value in ({"shrink": 1.0} | rules).items():
        r[name] = value
    items = np.zeros(size, _ITEM)
    items["upper"] = most
    items["place"] = -1
    draw_ties(items, seed)
    bounds = Bounds(r, items, np.zeros(k, np.int64), new_tree(size))
    plant(bounds.tree, items["upper"], items["tie"])
    for _ in range(min(k, size)):
        _promote(bounds)
    return bounds


def item_bounds(problem: Problem, top: int, shrink: float, *, of_optimum: bool = False) -> Bounds:
    """The sharpest valid bounds on single items for what is known of the answers.

    `of_optimum`: upper bounds hold for OPT's items (as many as there are rounds), and not for all at once.
    """
    rules: dict[str, float] = {"shrink": shrink, "noise": noise_of(problem), "rho": 30.0}
    feedback = problem.feedback
    if isinstance(feedback, Preferences):
        rules["alpha"] = problem.delta / (problem.rounds * problem.size)
        return new_bounds(problem.size, top, seed=problem.seed, kind=_COMPARED, **rules)
    bounded = problem.rounds if of_optimum else problem.size
    both = (1.0 if feedback.range is None else 0.5) * problem.delta  # in a known range two sequences share it
    rules["lower"] = -math.log(0.5 * (1.0 - _POOLED) * both / (problem.rounds * problem.size))
    rules["upper"] = -math.log(0.5 * (1.0 - _POOLED) * both / (problem.rounds * bounded))
    rules["pooled"] = -math.log(_POOLED * both / bounded)
    if feedback.range is None:
        return new_bounds(problem.size, top, seed=problem.seed, kind=_NORMAL, **rules)
    return new_bounds(problem.size, top, feedback.most, problem.seed, kind=BOUNDED, span=feedback.span, **rules)


@kernel
def _better(bounds: Bounds, i: int, j: int) -> int:
    """The one of the larger upper bound; a draw decides where they are equal."""
    return winner(bounds.items["upper"], bounds.items["tie"], i, j)


@kernel
def _show(bounds: Bounds, item: int, present: bool) -> None:
    """Put an item into the tree, take it out, or let its new upper bound be seen."""
    seat(bounds.tree, bounds.items["upper"], bounds.items["tie"], item, present)


@kernel
def _promote(bounds: Bounds) -> None:
    """The best of the tree joins the top."""
    r = bounds.rules[0]
    item = bounds.tree[1]
    if item < 0 or r.held == len(bounds.top):
        return
    _show(bounds, item, False)
    _sit(bounds, item, r.held)
    r.held += 1


@kernel
def forget(bounds: Bounds, item: int) -> None:
    """`item` is no longer a candidate."""
    r = bounds.rules[0]
    place = bounds.items[item].place
    if place < 0:
        _show(bounds, item, False)
        return
    r.held -= 1
    for p in range(place, r.held):
        _sit(bounds, bounds.top[p + 1], p)
    bounds.items[item].place = -1
    _promote(bounds)


@kernel
def _sit(bounds: Bounds, item: int, place: int) -> None:
    """`item` stands at `place` of the top."""
    bounds.top[place] = item
    bounds.items[item].place = place


@kernel
def new_round(bounds: Bounds) -> None:
    """Lower bounds start again; upper bounds on gains stay, those on Borda scores do not."""
    for i in range(len(bounds.items)):
        bounds.items[i].lower = 0.0
    if bounds.rules[0].kind == _COMPARED:
        for i in range(len(bounds.items)):
            bounds.items[i].upper = 1.0
        plant(bounds.tree, bounds.items["upper"], bounds.items["tie"])


@kernel
def close_round(bounds: Bounds, board: Board) -> None:
    """What was counted becomes the past, of items with nothing in flight."""
    for i in range(len(bounds.items)):
        if board.items[i].waiting > 0:
            bounds.items[i].past = -1
        if bounds.items[i].past < 0:
            continue
        bounds.items[i].past += board.items[i].count
        bounds.items[i].past_total += board.items[i].total
        if bounds.rules[0].kind == BOUNDED and board.items[i].count > 0:
            bounds.items[i].past_spread += _variation(bounds, board.items[i].spread)


@kernel
def radius(bounds: Bounds, T: float) -> float:
    """How wide the interval of an item with T answers is, about; for choosing what to ask."""
    r = bounds.rules[0]
    return mixture_width(T, r.noise, 2.0 * r.lower, r.rho)


@kernel
def _variation(bounds: Bounds, spread: float) -> float:
    """V of answers with this spread, as `bernstein` wants it."""
    return spread / bounds.rules[0].span ** 2 + FIRST


@kernel
def _width(bounds: Bounds, T: float, V: float, log: float) -> float:
    """Of the interval of T answers, on one side that fails with probability exp(−log)."""
    r = bounds.rules[0]
    wide = mixture_width(T, r.noise, 2.0 * (log - one_sided_saves(log)), r.rho)
    if r.kind == BOUNDED:
        wide = min(wide, r.span * bernstein(T, V, log))
    return r.shrink * wide


@kernel
def narrow(bounds: Bounds, board: Board, item: int) -> None:
    """An answer is on the board: intersect the item's bounds with what it says."""
    r, row, seen = bounds.rules[0], bounds.items[item], board.items[item]
    T = float(seen.count)
    mean = seen.total / T
    if r.kind == _COMPARED:
        low, high = beta_binomial(seen.total, T, r.alpha)
        low, high = mean - r.shrink * (mean - low), mean + r.shrink * (high - mean)
    else:
        V = _variation(bounds, seen.spread) if r.kind == BOUNDED else 0.0
        low, high = mean - _width(bounds, T, V, r.lower), mean + _width(bounds, T, V, r.upper)
        if row.past > 0:
            n = T + row.past
            pooled = (seen.total + row.past_total) / n
            high = min(high, pooled + _width(bounds, n, V + row.past_spread, r.pooled))
    row.lower = max(row.lower, low)
    if high < row.upper:
        row.upper = max(high, 0.0)
        _fell(bounds, item)


@kernel
def _fell(bounds: Bounds, item: int) -> None:
    """The upper bound of `item` is lower than it was."""
    row = bounds.items[item]
    if row.place < 0:
        _show(bounds, item, True)
        return
    place, last = row.place, bounds.rules[0].held - 1
    while place < last and _better(bounds, item, bounds.top[place + 1]) != item:
        _sit(bounds, bounds.top[place + 1], place)
        place += 1
    root = bounds.tree[1]
    if place == last and root >= 0 and _better(bounds, item, root) == root:
        _show(bounds, root, False)
        _sit(bounds, root, place)
        row.place = -1
        _show(bounds, item, True)
    else:
        _sit(bounds, item, place)


@kernel
def sum_of_top(bounds: Bounds) -> float:
    """Σ of the min(k, |C|) largest upper bounds: at least f(OPT) − f(S)."""
    total = 0.0
    for p in range(bounds.rules[0].held):
        total += bounds.items[bounds.top[p]].upper
    return total


@kernel
def uppermost(bounds: Bounds, but: int) -> int:
    """The candidate of the largest upper bound, `but` left out."""
    best = bounds.tree[1]
    if best == but:
        best = -1
    for p in range(bounds.rules[0].held):
        if bounds.top[p] != but:
            best = _better(bounds, best, bounds.top[p])
    return best


def bounds_view(bounds: Bounds, board: Board, scale: str) -> View:
    """The mean of each item in this round, and its bounds."""
    return View(means_of(board), bounds.items["lower"].copy(), bounds.items["upper"].copy(), scale)

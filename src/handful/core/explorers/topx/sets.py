"""TopX's state, and the sets M_t and M̃_t of every size l: lines 4–10 and 12 of Algorithm 2."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handful.core.guarantees import VALUES
from handful.core.kernels import kernel
from handful.core.objective import Ints
from handful.core.parts.board import Board, Rows, new_board

LITERAL, COUNTED = range(2)  # the radius
ADAPTIVE, EVERYBODY, FIXED = range(3)  # which items a step asks
BEST_MEAN, SMALLEST_GAP = range(2)  # what to return when the budget ends a round

_RULES = np.dtype(
    [
        ("size", np.int64),  # N
        ("most", np.int64),  # k′
        ("only", np.int64),  # l fixed to this; 0 for any l = 1..k′
        ("epsilon", np.float64),  # ε′
        ("delta", np.float64),  # δ′
        ("noise", np.float64),  # R
        ("radius", np.int64),
        ("shrink", np.float64),  # multiplies the radius; 1 but in tests of power
        ("asking", np.int64),
        ("repeats", np.int64),  # samples per item of the fixed-sample form
        ("tau", np.int64),
        ("beta", np.float64),  # comparisons: β if known, nan if not; VALUES for values
        ("out_of_budget", np.int64),
        ("step", np.int64),  # t
        ("seen", np.int64),  # candidates with at least one answer
        ("queued", np.int64),  # entries of the list Q
        ("next", np.int64),  # how much of Q has been asked
    ],
    align=True,
)


_ITEM = np.dtype([("mean", np.float64), ("root", np.float64)], align=True)  # v_i (−∞ if never asked) and 1/√T(i)

_PLACE = np.dtype(
    [
        ("leader", np.int64),  # M_t for l = k′, in the order of their means
        ("mean", np.float64),  # their means
        ("lower", np.float64),  # their lower bounds
        ("ranked", np.int64),  # their places, in the order of their upper bounds
        ("ceiling", np.float64),  # those upper bounds
        ("other", np.int64),  # the k′ items of largest upper bound that do not lead, in order
        ("upper", np.float64),  # those upper bounds
        ("inside", np.int64),  # places in M_t, in the order of their lower bounds
    ],
    align=True,
)


class TopXState(NamedTuple):
    """Algorithm 2 in the middle of its work."""

    board: Board
    rules: Rows  # one row
    items: Rows
    places: Rows  # the few that matter at step t
    queue: Ints  # Q


def new_topx(size: int, k: int, seed: int, in_flight: int, **rules: float) -> TopXState:
    """A TopX of N = `size` items; `rules` are the fields of _RULES that the caller sets."""
    r = np.zeros(1, _RULES)
    for name, value in ({"shrink": 1.0, "tau": 1, "beta": VALUES} | rules).items():
        r[name] = value
    r["size"] = size
    most = int(r["most"][0])
    board = new_board(size, k, seed, in_flight)
    return TopXState(board, r, np.zeros(size, _ITEM), np.zeros(most, _PLACE), np.zeros(2 * max(size, most), np.int64))


@kernel
def scale(state: TopXState) -> float:
    """rad_t(i)·√T(i) = R·√(2 log(4N t³/δ′)), by the letter or with the union bound over samples (line 4)."""
    rules = state.rules[0]
    t = float(max(rules.step, 1))
    samples = 1.0
    if state.board.round[0].in_flight > 1:
        t = float(max(state.board.round[0].counted, 1))  # an item was sampled at most t times
    elif rules.radius == COUNTED:
        samples = float(rules.most)  # an item was sampled at most k′·t times
    logs = math.log(4.0 * rules.size * samples / rules.delta) + 3.0 * math.log(t)
    return rules.shrink * rules.noise * math.sqrt(2.0 * logs)


@kernel
def lead(state: TopXState, most: int, c: float) -> int:
    """M_t for every l at once (line 6: a prefix of the leaders), and the largest upper bounds of all others."""
    candidates, open_, board_items = state.board.round[0].candidates, state.board.open, state.board.items
    items, places = state.items, state.places
    held = 0
    for p in range(candidates):
        i = open_[p]
        m = items[i].mean
        if held == most and not m > places[held - 1].mean:
            continue
        q = held if held < most else most - 1
        while q > 0 and m > places[q - 1].mean:
            places[q].leader = places[q - 1].leader
            places[q].mean = places[q - 1].mean
            q -= 1
        places[q].leader = i
        places[q].mean = m
        held = min(held + 1, most)
    far = 0
    bar = places[held - 1].mean
    for p in range(candidates):
        i = open_[p]
        ceiling = items[i].mean + c * items[i].root if board_items[i].count > 0 else np.inf
        if far == most and not ceiling > places[far - 1].upper:
            continue
        if items[i].mean >= bar and _leads(places, held, i):
            continue
        q = far if far < most else most - 1
        while q > 0 and ceiling > places[q - 1].upper:
            places[q].other = places[q - 1].other
            places[q].upper = places[q - 1].upper
            q -= 1
        places[q].other = i
        places[q].upper = ceiling
        far = min(far + 1, most)
    for p in range(held):
        i = places[p].leader
        asked = board_items[i].count > 0
        places[p].lower = items[i].mean - c * items[i].root if asked else -np.inf
        ceiling = items[i].mean + c * items[i].root if asked else np.inf
        q = p
        while q > 0 and ceiling > places[q - 1].ceiling:
            places[q].ranked = places[q - 1].ranked
            places[q].ceiling = places[q - 1].ceiling
            q -= 1
        places[q].ranked = p
        places[q].ceiling = ceiling
    return far


@kernel
def _leads(places: Rows, held: int, item: int) -> bool:
    """Whether `item` is one of the leaders."""
    found = False
    for p in range(held):
        found = found or places[p].leader == item
    return found


@kernel
def swap(state: TopXState, l: int, most: int, others: int) -> tuple[float, int]:
    """Lines 6–10 and 12 for one l: Σ_M̃ ṽ − Σ_M ṽ, and the most uncertain item in which M̃ and M differ.

    M̃ takes the best of M's lower and the others' upper bounds. So it swaps the worst of M for the best outside,
    one by one, as long as that gains: only the swapped items enter the difference.
    """
    places = state.places
    for p in range(l):  # M_t by lower bound, ascending
        q = p
        while q > 0 and places[p].lower < places[places[q - 1].inside].lower:
            places[q].inside = places[q - 1].inside
            q -= 1
        places[q].inside = p
    gap, widest = 0.0, -1
    a = b = 0
    for p in range(l):
        while a < most and places[a].ranked < l:  # in M_t itself
            a += 1
        if a < most and (b == others or not places[b].upper > places[a].ceiling):
            o, ceiling = places[places[a].ranked].leader, places[a].ceiling
            a += 1
        elif b < others:
            o, ceiling = places[b].other, places[b].upper
            b += 1
        else:
            break
        worst = places[places[p].inside]
        gain = ceiling - worst.lower
        if not gain > 0.0:
            break
        gap += gain
        widest = _wider(state, _wider(state, widest, worst.leader), o)
    return gap, widest


@kernel
def _wider(state: TopXState, i: int, j: int) -> int:
    """The one of the larger radius; the first of the candidates where they are equal."""
    if i < 0:
        return j
    a, b, places = state.items[i].root, state.items[j].root, state.board.items
    return j if b > a or (b == a and places[j].where < places[i].where) else i


@kernel
def sizes(state: TopXState) -> tuple[int, int, int]:
    """The first and last l to look at, and the largest there could be: min(k′, |C|)."""
    most = min(state.rules[0].most, state.board.round[0].candidates)
    only = min(state.rules[0].only, most)
    return (1, most, most) if only == 0 else (only, only, most)

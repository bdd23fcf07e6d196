"""TopX with sharper parts: the contract of the paper, condition (2), for a fraction of the answers.

What is different from Algorithm 2: anytime bounds per item (`bounds.py`) instead of the paper's radius; upper
bounds carried from round to round, so that an item whose old bound is too low is not asked again; the larger ε′
that the proof allows (`guarantees.free_share`); and a step asks for the one l that looks closest to being decided,
with the others now and then, instead of for all of them. The test of line 10 is the same, and so is what it proves.
For comparisons the bounds are beta-binomial, on Borda scores, and nothing is carried: scores are relative.

Leaders by mean stand in `leaders`, in order; the others in a tournament tree. An answer moves one item: O(k + log N).
An item not asked in this round keeps its old mean as a guess: it may order the asking, and never enters a bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handful.core.explorers.board import NOW, OPEN, RULE, Board, Rows, end, new_board, rival_of
from handful.core.explorers.bounds import Bounds, close_round, forget, narrow, new_round
from handful.core.explorers.protocol import explores
from handful.core.guarantees import borda_slack, borda_slack_inverse
from handful.core.kernels import kernel, small
from handful.core.objective import Floats, Ints

RULES = np.dtype(
    [
        ("most", np.int64),  # k′
        ("epsilon", np.float64),  # ε′
        ("beta", np.float64),  # comparisons: β if known, nan if not; values: -1
        ("held", np.int64),  # leaders
        ("turns", np.int64),
    ],
    align=True,
)
EVERY = 32  # every so many questions another l than the closest one is helped


class SharpState(NamedTuple):
    """The sharper TopX in the middle of its work."""

    board: Board
    bounds: Bounds
    rules: Rows
    guess: Floats  # the mean of this round, or of the last that asked
    leaders: Ints  # by guess, descending
    tree: Ints  # winners by guess among all others
    inside: Ints
    outside: Ints


def new_sharp(size: int, k: int, seed: int, in_flight: int, bounds: Bounds, **rules: float) -> SharpState:
    """Nothing is known. `bounds` must hold the 2k′ largest upper bounds."""
    r = np.zeros(1, RULES)
    for name, value in ({"beta": -1.0} | rules).items():
        r[name] = value
    most = int(r["most"][0])
    leaves = 1 << max(0, (size - 1).bit_length())
    state = SharpState(
        new_board(size, k, seed, in_flight),
        bounds,
        r,
        np.zeros(size),
        np.zeros(most, np.int64),
        np.full(2 * leaves, -1, np.int64),
        np.zeros(most, np.int64),
        np.zeros(len(bounds.top), np.int64),
    )
    state.tree[leaves : leaves + size] = np.arange(size)
    plant(state)
    fill(state)
    return state


@small
def larger(state: SharpState, i: int, j: int) -> int:
    """The one of the larger guess; ties to the lower index."""
    if i < 0 or j < 0:
        return max(i, j)
    a, b = state.guess[i], state.guess[j]
    return i if a > b or (a == b and i < j) else j


@kernel
def plant(state: SharpState) -> None:
    """All winners of the tree."""
    tree = state.tree
    for node in range(len(tree) // 2 - 1, 0, -1):
        tree[node] = larger(state, tree[2 * node], tree[2 * node + 1])


@kernel
def seat(state: SharpState, item: int, present: bool) -> None:
    """Put an item into the tree, take it out, or let its new guess be seen."""
    tree = state.tree
    node = len(tree) // 2 + item
    tree[node] = item if present else -1
    node //= 2
    while node > 0:
        tree[node] = larger(state, tree[2 * node], tree[2 * node + 1])
        node //= 2


@kernel
def fill(state: SharpState) -> None:
    """Leaders from the tree, until there are k′."""
    r = state.rules[0]
    while r.held < r.most and state.tree[1] >= 0:
        item = state.tree[1]
        seat(state, item, False)
        state.leaders[r.held] = item
        r.held += 1


@small
def place_of(state: SharpState, item: int) -> int:
    """Where an item leads, or -1."""
    for p in range(state.rules[0].held):
        if state.leaders[p] == item:
            return p
    return -1


@small
def rank(state: SharpState, item: int, guess: float) -> None:
    """The guess about `item` has changed: put it where it belongs."""
    leaders, held = state.leaders, state.rules[0].held
    state.guess[item] = guess
    p = place_of(state, item)
    if p < 0:
        last = leaders[held - 1]
        if larger(state, item, last) == last:
            seat(state, item, True)
            return
        seat(state, item, False)
        seat(state, last, True)
        p = held - 1
        leaders[p] = item
    while p > 0 and larger(state, item, leaders[p - 1]) == item:
        leaders[p] = leaders[p - 1]
        p -= 1
        leaders[p] = item
    while p < held - 1 and larger(state, item, leaders[p + 1]) != item:
        leaders[p] = leaders[p + 1]
        p += 1
        leaders[p] = item
    root = state.tree[1]
    if p == held - 1 and root >= 0 and larger(state, item, root) == root:
        seat(state, root, False)
        leaders[p] = root
        seat(state, item, True)


@kernel
def begin(state: SharpState) -> None:
    """A new round: lower bounds start again; upper bounds of values stay."""
    new_round(state.bounds)


@small
def slack(state: SharpState, l: int) -> float:
    """What line 10 allows."""
    rules = state.rules[0]
    if rules.beta == -1.0:
        return l * rules.epsilon
    return borda_slack(rules.beta, l, rules.epsilon, state.board.round[0].candidates)


@small
def reached(state: SharpState, l: int, gap: float) -> float:
    """The ε′ that a gap amounts to."""
    rules = state.rules[0]
    if rules.beta == -1.0:
        return gap / l
    return borda_slack_inverse(rules.beta, l, gap, state.board.round[0].candidates)


@small
def by_upper(state: SharpState) -> int:
    """The largest upper bounds, in order; there are at least k′ outside any set of k′."""
    bounds, outside = state.bounds, state.outside
    for p in range(bounds.rules[0].held):
        i = bounds.top[p]
        q = p
        while q > 0 and bounds.items[i].upper > bounds.items[outside[q - 1]].upper:
            outside[q] = outside[q - 1]
            q -= 1
        outside[q] = i
    return bounds.rules[0].held


@small
def swap(state: SharpState, l: int, far: int) -> tuple[float, int]:
    """Line 10 for one l, and line 12: the gap, and the item with the fewest answers in which M̃ and M differ."""
    items, inside, outside = state.bounds.items, state.inside, state.outside
    p = l - 1  # leaders 0..l-2 stand in `inside` by lower bound already
    i = state.leaders[p]
    while p > 0 and items[i].lower < items[inside[p - 1]].lower:
        inside[p] = inside[p - 1]
        p -= 1
    inside[p] = i
    gap, widest = 0.0, -1
    a = 0
    for p in range(l):
        while a < far and leads(state, outside[a], l):
            a += 1
        if a == far:
            break
        gain = items[outside[a]].upper - items[inside[p]].lower
        if not gain > 0.0:
            break
        gap += gain
        widest = fewer(state, fewer(state, widest, inside[p]), outside[a])
        a += 1
    return gap, widest


@small
def leads(state: SharpState, item: int, l: int) -> bool:
    """Whether `item` is one of the first l leaders."""
    found = False
    for p in range(l):
        found = found or state.leaders[p] == item
    return found


@small
def fewer(state: SharpState, i: int, j: int) -> int:
    """The one with fewer answers, those in flight included; the lower index where they are equal."""
    if i < 0:
        return j
    a = state.board.items[i].count + state.board.items[i].waiting
    b = state.board.items[j].count + state.board.items[j].waiting
    return j if b < a or (a == b and j < i) else i


@kernel
def propose(state: SharpState, n: int) -> tuple[int, int]:
    """Line 12 for the l that is closest to being decided, or for another one in turn."""
    rules, board = state.rules[0], state.board
    far = by_upper(state)
    turn = n // EVERY % rules.held if n % EVERY == EVERY - 1 else -1
    best, ask = np.inf, -1
    for l in range(1, rules.held + 1):
        gap, q = swap(state, l, far)
        if q >= 0 and ((gap - slack(state, l)) / l < best or l - 1 == turn):
            best, ask = (gap - slack(state, l)) / l, q
            if l - 1 == turn:
                break
    if ask < 0:
        ask = state.leaders[0]
    return ask, NOW if rules.beta == -1.0 else rival_of(board, ask, n)


@kernel
def tell(state: SharpState, item: int, rival: int, answer: float) -> None:
    """Narrow the item's bounds; line 10."""
    board = state.board
    if board.round[0].ended != OPEN:
        return
    narrow(state.bounds, board, item, answer)
    rank(state, item, board.items[item].total / board.items[item].count)
    far = by_upper(state)
    for l in range(1, state.rules[0].held + 1):
        gap, _ = swap(state, l, far)
        if gap <= slack(state, l):
            finish(state, l, RULE, reached(state, l, gap))
            return


@small
def finish(state: SharpState, l: int, ended: int, epsilon: float) -> None:
    """A = M_t of size l; the pick is drawn from it."""
    board = state.board
    board.best[:l] = state.leaders[:l]
    board.round[0].size = l
    end(board, ended, epsilon)
    close_round(state.bounds, board)


@kernel
def leave(state: SharpState, item: int) -> None:
    """Neither among the leaders nor among the others."""
    forget(state.bounds, item)
    p = place_of(state, item)
    if p < 0:
        seat(state, item, False)
        return
    r = state.rules[0]
    for q in range(p, r.held - 1):
        state.leaders[q] = state.leaders[q + 1]
    r.held -= 1
    fill(state)


@kernel
def void(state: SharpState, item: int, rival: int) -> None:
    """Nothing was learnt."""


@kernel
def late(state: SharpState, item: int, rival: int, answer: float) -> None:
    """Bounds take no late answers."""


@kernel
def conclude(state: SharpState, ended: int) -> None:
    """The best mean."""
    far = by_upper(state)
    gap, _ = swap(state, 1, far)
    finish(state, 1, ended, reached(state, 1, gap))


explores(SharpState, begin=begin, propose=propose, tell=tell, void=void, late=late, leave=leave, conclude=conclude)

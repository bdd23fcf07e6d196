"""TopX with sharper parts: the contract of the paper, condition (2), for a fraction of the answers.

What is different from Algorithm 2: anytime bounds per item (`bounds.py`) instead of the paper's radius; upper
bounds carried from round to round, so that an item whose old bound is too low is not asked again; the larger ε′
that the proof allows (`guarantees.free_share`); and a step asks for the one l that looks closest to being decided,
with the others now and then, instead of for all of them. The test of line 10 is the same, and so is what it proves.
For comparisons the bounds are beta-binomial, on Borda scores, and nothing is carried: scores are relative.

Leaders by mean stand in `leaders`, in order; the others in a tournament tree. An answer moves one item: O(k² + log N).
An item not asked in this round keeps its old mean as a guess: it may order the asking, and never enters a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from handful.certificates import (
    VALUES,
    Certificate,
    Evidence,
    Guarantee,
    Variant,
    allowed_gap,
    beta_of,
    check_shrink,
    claim_of,
    needs_an_end,
    one_of,
    pairs_only,
    per_round,
    reached_epsilon,
)
from handful.explorers.board import GAIN, NOBODY, NOW, SHARE, Board, Rows, View, end, new_board, rival_of
from handful.explorers.bounds import (
    Bounds,
    bounds_view,
    close_round,
    forget,
    item_bounds,
    narrow,
    new_round,
    new_tree,
    plant,
    seat,
    winner,
)
from handful.explorers.protocol import Explorer, ExplorerState, explores
from handful.explorers.topx import TopX
from handful.kernels import kernel
from handful.problem import OPEN, RULE, Floats, Ints, Problem

_RULES = np.dtype(
    [
        ("most", np.int64),  # k′
        ("epsilon", np.float64),  # ε′
        ("beta", np.float64),  # comparisons: β if known, nan if not; VALUES for values
        ("held", np.int64),  # leaders
        ("ready", np.int64),  # whether `gaps` and `asks` are of now, with nothing in flight
    ],
    align=True,
)
_EVERY = 32  # every so many questions another l than the closest one is helped

_ITEM = np.dtype([("guess", np.float64), ("place", np.int64)], align=True)


class SharpState(NamedTuple):
    """The sharper TopX in the middle of its work."""

    board: Board
    bounds: Bounds
    rules: Rows
    items: Rows  # `guess`: the mean of this round, or of the last that asked; `place` among the leaders, or k′
    leaders: Ints  # by guess, descending
    tree: Ints  # the others by guess
    inside: Ints  # leaders by lower bound, ascending
    gaps: Floats  # for l = 1..k′: line 10,
    asks: Ints  # and line 12


def _new_sharp(size: int, k: int, seed: int, in_flight: int, bounds: Bounds, **rules: float) -> SharpState:
    """The state before the first round. `bounds` must hold the 2k′ largest upper bounds."""
    r = np.zeros(1, _RULES)
    for name, value in ({"beta": VALUES} | rules).items():
        r[name] = value
    most = int(r["most"][0])
    items = np.zeros(size, _ITEM)
    items["place"] = most
    lists = [np.zeros(most, np.int64) for _ in range(3)]
    board = new_board(size, k, seed, in_flight)
    state = SharpState(board, bounds, r, items, lists[0], new_tree(size), lists[1], np.zeros(most), lists[2])
    plant(state.tree, items["guess"], bounds.items["tie"])
    _fill(state)
    return state


@kernel
def _larger(state: SharpState, i: int, j: int) -> int:
    """The one of the larger guess; a draw decides where they are equal."""
    return winner(state.items["guess"], state.bounds.items["tie"], i, j)


@kernel
def _show(state: SharpState, item: int, present: bool) -> None:
    """Put an item among the others, take it out, or let its new guess be seen."""
    seat(state.tree, state.items["guess"], state.bounds.items["tie"], item, present)


@kernel
def _fill(state: SharpState) -> None:
    """Leaders from the tree, until there are k′."""
    r = state.rules[0]
    while r.held < r.most and state.tree[1] >= 0:
        item = state.tree[1]
        _show(state, item, False)
        _stand(state, item, r.held)
        r.held += 1


@kernel
def _stand(state: SharpState, item: int, place: int) -> None:
    """`item` is leader number `place`."""
    state.leaders[place] = item
    state.items[item].place = place


@kernel
def _rank(state: SharpState, item: int, guess: float) -> None:
    """The guess about `item` has changed: put it where it belongs."""
    leaders, held, most = state.leaders, state.rules[0].held, state.rules[0].most
    state.items[item].guess = guess
    p = state.items[item].place
    if p == most:
        last = leaders[held - 1]
        if _larger(state, item, last) == last:
            _show(state, item, True)
            return
        _show(state, item, False)
        state.items[last].place = most
        _show(state, last, True)
        p = held - 1
    while p > 0 and _larger(state, item, leaders[p - 1]) == item:
        _stand(state, leaders[p - 1], p)
        p -= 1
    while p < held - 1 and _larger(state, item, leaders[p + 1]) != item:
        _stand(state, leaders[p + 1], p)
        p += 1
    _stand(state, item, p)
    root = state.tree[1]
    if p == held - 1 and root >= 0 and _larger(state, item, root) == root:
        _show(state, root, False)
        _stand(state, root, p)
        state.items[item].place = most
        _show(state, item, True)


@kernel
def begin(state: SharpState) -> None:
    """A new round: lower bounds start again; upper bounds of values stay."""
    state.rules[0].ready = 0
    new_round(state.bounds)


@kernel
def _weigh(state: SharpState) -> None:
    """Lines 10 and 12 for every l: the gap, and the item with the fewest answers in which M̃ and M differ.

    The bounds hold the 2k′ largest upper bounds, so that there are k′ of them outside any set of k′.
    """
    items, inside, outside = state.bounds.items, state.inside, state.bounds.top
    far = state.bounds.rules[0].held
    for l in range(1, state.rules[0].held + 1):
        p = l - 1  # leaders 0..l-2 stand in `inside` already
        i = state.leaders[p]
        while p > 0 and items[i].lower < items[inside[p - 1]].lower:
            inside[p] = inside[p - 1]
            p -= 1
        inside[p] = i
        gap, widest = 0.0, -1
        a = 0
        for p in range(l):
            while a < far and state.items[outside[a]].place < l:
                a += 1
            if a == far:
                break
            gain = items[outside[a]].upper - items[inside[p]].lower
            if not gain > 0.0:
                break
            gap += gain
            widest = _fewer(state, _fewer(state, widest, inside[p]), outside[a])
            a += 1
        state.gaps[l - 1] = gap
        state.asks[l - 1] = widest


@kernel
def _fewer(state: SharpState, i: int, j: int) -> int:
    """The one with fewer answers, those in flight included; a draw decides where they are equal."""
    if i < 0:
        return j
    a = state.board.items[i].count + state.board.items[i].waiting
    b = state.board.items[j].count + state.board.items[j].waiting
    ties = state.bounds.items
    return j if b < a or (a == b and ties[j].tie > ties[i].tie) else i


@kernel
def propose(state: SharpState, n: int) -> tuple[int, int, int]:
    """Line 12 for the l that is closest to being decided, or for another one in turn."""
    rules, board = state.rules[0], state.board
    if rules.ready == 0 or board.round[0].asked != board.round[0].counted:
        _weigh(state)
        rules.ready = 0
    turn = n // _EVERY % rules.held if n % _EVERY == _EVERY - 1 else -1
    best, ask = np.inf, -1
    for l in range(1, rules.held + 1):
        q = state.asks[l - 1]
        over = (state.gaps[l - 1] - allowed_gap(rules.beta, l, rules.epsilon, board.round[0].candidates)) / l
        if q >= 0 and (ask < 0 or over < best or l - 1 == turn):  # where nothing is known, every `over` is ∞
            best, ask = over, q
            if l - 1 == turn:
                break
    if ask < 0:
        ask = state.leaders[0]
    return ask, NOBODY if rules.beta == VALUES else rival_of(board, ask, n), NOW


@kernel
def tell(state: SharpState, item: int, rival: int, given: int, answer: float) -> None:
    """Narrow the item's bounds; line 10."""
    board, rules = state.board, state.rules[0]
    if board.round[0].ended != OPEN:
        return
    narrow(state.bounds, board, item)
    _rank(state, item, board.items[item].total / board.items[item].count)
    _weigh(state)
    rules.ready = 1 if board.round[0].asked == board.round[0].counted else 0
    candidates = board.round[0].candidates
    for l in range(1, rules.held + 1):
        gap = state.gaps[l - 1]
        if gap <= allowed_gap(rules.beta, l, rules.epsilon, candidates):
            _finish(state, l, RULE, reached_epsilon(rules.beta, l, gap, candidates))
            return


@kernel
def _finish(state: SharpState, l: int, ended: int, epsilon: float) -> None:
    """A = M_t of size l; the pick is drawn from it."""
    board = state.board
    for p in range(l):
        board.best[p] = state.leaders[p]
    board.round[0].size = l
    end(board, ended, epsilon)
    close_round(state.bounds, board)


@kernel
def leave(state: SharpState, item: int) -> None:
    """Neither among the leaders nor among the others."""
    r = state.rules[0]
    r.ready = 0
    forget(state.bounds, item)
    p = state.items[item].place
    if p == r.most:
        _show(state, item, False)
        return
    for q in range(p, r.held - 1):
        _stand(state, state.leaders[q + 1], q)
    state.items[item].place = r.most
    r.held -= 1
    _fill(state)


@kernel
def void(state: SharpState, item: int, rival: int, given: int) -> None:
    """Nothing was learnt; but what is in flight has changed."""
    state.rules[0].ready = 0


@kernel
def conclude(state: SharpState, ended: int) -> None:
    """Pick the best mean."""
    _weigh(state)
    reached = reached_epsilon(state.rules[0].beta, 1, state.gaps[0], state.board.round[0].candidates)
    _finish(state, 1, ended, reached)


explores(SharpState, begin=begin, propose=propose, tell=tell, void=void, leave=leave, conclude=conclude)


@dataclass(frozen=True)
class Sharp(Explorer):
    """TopX with sharper bounds, carried upper bounds, the free ε′, and questions for the l that is closest to
    decided.
    """

    name: ClassVar[str] = "sharp"
    variant: Variant = "full"
    shrink: float = 1.0

    def __post_init__(self) -> None:
        one_of("variant", self.variant, ("full", "O", "G"))
        check_shrink(self.shrink)

    def guarantee(self, problem: Problem) -> Guarantee:
        """Theorem 1 or 2, as for TopX."""
        return TopX(variant=self.variant, shrink=self.shrink).guarantee(problem)

    def build(self, problem: Problem) -> ExplorerState:
        """The state before the first round, for values or for comparisons."""
        pairs_only(self.name, problem)
        needs_an_end(self.name, problem, self.variant == "G")
        k = problem.rounds
        parts = per_round(self.variant, k, problem.epsilon or 0.0, problem.delta, free=True)
        limits = item_bounds(problem, 2 * parts.most, self.shrink)
        return _new_sharp(
            problem.size,
            problem.k,
            problem.seed,
            problem.in_flight,
            limits,
            most=parts.most,
            epsilon=parts.epsilon,
            beta=beta_of(problem),
        )

    def view(self, problem: Problem, state: SharpState) -> View:
        """The mean of each item, and the bounds by which it decides."""
        return bounds_view(state.bounds, state.board, SHARE if problem.feedback.compares else GAIN)

    def claim(self, evidence: Evidence, state: SharpState) -> Certificate:
        """Theorem 1 or 2, and what the answers show."""
        return claim_of(evidence, self.guarantee(evidence.problem), shrink=self.shrink)

"""`certified` with a proof in every round: the plain rule, and the chained one.

Let S_j be the first j picks. In round j, f(OPT) − f(S_{j−1}) is at most the sum of the k largest gains, so at most
U_j, the sum of the k largest upper bounds. L_j is the lower bound of the pick. All bounds hold at once with
probability 1 − δ.

plain   Stop when L_j ≥ s·U_j − ε′. Then f(OPT) − f(S_j) ≤ (1 − s)·(f(OPT) − f(S_{j−1})) + ε′. With s = 1/k, as in
        the paper, k rounds leave (1 − 1/k)^k of f(OPT), which is less than the 1/e that the promise allows; with
        s = 1 − e^(−1/k) they leave just that. It unrolls to f(S) ≥ (1 − 1/e)·f(OPT) − ε for ε′ = s·ε/(1 − 1/e).

chain   What bounded f(OPT) − f(S_{i−1}) in an earlier round still does, less what was gained since: replace U_j by
the least of
        U_i − (L_i + ... + L_{j−1}) over i ≤ j.

Both stop earlier than the paper because they never ask for *the best* items, only for one that is good enough. What
to ask: the leader, or one of those whose upper bounds make up U_j, whichever narrows L_j − s·U_j more.
(`audited.py` proves only the end.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handful.core.explorers.board import NOW, OPEN, RULE, Board, Rows, end, new_board
from handful.core.explorers.bounds import Bounds, close_round, forget, narrow, new_round, radius, sum_of_top, uppermost
from handful.core.explorers.protocol import explores
from handful.core.explorers.scout import Scout, new_scout, scout_add, scout_begin, scout_forget, scout_lead
from handful.core.kernels import kernel, small

RULES = np.dtype(
    [
        ("chained", np.int64),
        ("share", np.float64),  # s
        ("epsilon", np.float64),  # ε′
        ("left", np.float64),  # the least of U_i − (L_i + ... + L_{j−1}) over earlier rounds i
        ("lead", np.int64),  # the largest lower bound
    ],
    align=True,
)


class CertifiedState(NamedTuple):
    """`certified` in the middle of its work."""

    board: Board
    bounds: Bounds
    scout: Scout  # only for who leads by mean
    rules: Rows


def new_certified(size: int, k: int, seed: int, in_flight: int, bounds: Bounds, **rules: float) -> CertifiedState:
    """Nothing is known."""
    r = np.zeros(1, RULES)
    for name, value in rules.items():
        r[name] = value
    r["left"] = np.inf
    r["lead"] = -1
    return CertifiedState(new_board(size, k, seed, in_flight), bounds, new_scout(size, 0.0, 0.0, 0.0), r)


@kernel
def begin(state: CertifiedState) -> None:
    """A new round: lower bounds start again, upper bounds stay."""
    state.rules[0].lead = -1
    new_round(state.bounds)
    scout_begin(state.scout)


@small
def remaining(state: CertifiedState) -> float:
    """The best bound on f(OPT) − f(S)."""
    rules = state.rules[0]
    here = sum_of_top(state.bounds)
    return min(here, rules.left) if rules.chained == 1 else here


@small
def speed(state: CertifiedState, item: int, pooled: bool) -> float:
    """How fast another answer would narrow the item's interval, counting those in flight."""
    T = float(state.board.items[item].count + state.board.items[item].waiting)
    if pooled:
        T += state.bounds.items[item].past
    return np.inf if T == 0.0 else radius(state.bounds, T) / T


@kernel
def propose(state: CertifiedState, n: int) -> tuple[int, int]:
    """The leader, or one of those that make up U_j (those in the way of the leader, where an older U binds)."""
    rules, bounds = state.rules[0], state.bounds
    best, most = -1, -1.0
    if rules.chained == 0 or sum_of_top(bounds) <= rules.left:
        for p in range(bounds.rules[0].held):
            i = bounds.top[p]
            narrows = rules.share * speed(state, i, True)
            if narrows > most:
                best, most = i, narrows
    else:
        best = uppermost(bounds, scout_lead(state.scout))
        most = speed(state, best, False) if best >= 0 else -1.0
    lead = scout_lead(state.scout)
    return (lead, NOW) if best < 0 or speed(state, lead, False) > most else (best, NOW)


@kernel
def tell(state: CertifiedState, item: int, rival: int, answer: float) -> None:
    """Narrow the item's bounds, and see whether the round is decided."""
    board, rules, items = state.board, state.rules[0], state.bounds.items
    if board.round[0].ended != OPEN:
        return
    narrow(state.bounds, board, item)
    scout_add(state.scout, board, item, answer)
    if rules.lead < 0 or items[item].lower > items[rules.lead].lower:  # lower bounds only rise
        rules.lead = item
    if items[rules.lead].lower >= rules.share * remaining(state) - rules.epsilon:
        take(state, rules.lead, RULE)


@small
def take(state: CertifiedState, item: int, ended: int) -> None:
    """The round is over: write down what is left."""
    rules, board, bounds = state.rules[0], state.board, state.bounds
    left, low = remaining(state), bounds.items[item].lower
    rules.left = max(0.0, left - low)
    board.best[0] = item
    board.round[0].size = 1
    end(board, ended, max(0.0, rules.share * left - low))
    close_round(bounds, board)


@kernel
def leave(state: CertifiedState, item: int) -> None:
    """Neither among the bounds nor among the means."""
    forget(state.bounds, item)
    scout_forget(state.scout, item)


@kernel
def void(state: CertifiedState, item: int, rival: int) -> None:
    """Nothing was learnt."""


@kernel
def late(state: CertifiedState, item: int, rival: int, answer: float) -> None:
    """Bounds take no late answers."""


@kernel
def conclude(state: CertifiedState, ended: int) -> None:
    """The best mean; or the best upper bound where nothing was answered."""
    take(state, scout_lead(state.scout), ended)


explores(CertifiedState, begin=begin, propose=propose, tell=tell, void=void, late=late, leave=leave, conclude=conclude)

"""`certified` with a proof in every round: plain, chained, and with a bank.

Let S_j be the first j picks. In round j, f(OPT) − f(S_{j−1}) is at most the sum of the k largest gains, so at most
U_j, the sum of the k largest upper bounds. L_j is the lower bound of the pick. All bounds hold at once with
probability 1 − δ.

plain   Stop when L_j ≥ s·U_j − ε′. Then f(OPT) − f(S_j) ≤ (1 − s)·(f(OPT) − f(S_{j−1})) + ε′. With s = 1/k, as in
        the paper, k rounds leave (1 − 1/k)^k of f(OPT), which is less than the 1/e that the promise allows; with
        s = 1 − e^(−1/k) they leave just that. It unrolls to f(S) ≥ (1 − 1/e)·f(OPT) − ε for ε′ = s·ε/(1 − 1/e).

chain   What bounded f(OPT) − f(S_{i−1}) in an earlier round still does, less what was gained since: replace U_j by
the least of
        U_i − (L_i + ... + L_{j−1}) over i ≤ j.

bank    Chained, and what a round showed beyond its due is spent in later ones. With e_j = s·U_j − L_j the rounds
unroll to f(S) ≥ (1 − 1/e)·f(OPT) − Σ_j (1 − s)^(k−j)·e_j; so round j may stop when L_j ≥ s·U_j − ε′ − (1 − s)·b,
        where b is what the rounds before it left: b ← (1 − s)·b + ε′ − e_j.

All stop earlier than the paper because they never ask for *the best* items, only for one that is good enough. What
to ask: the leader, or one of those whose upper bounds make up U_j, whichever narrows L_j − s·U_j more.
(`audit.py` proves only the end.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handful.explorers.board import NOBODY, NOW, Board, Rows, end, mean, new_board
from handful.explorers.bounds import (
    Bounds,
    close_round,
    forget,
    narrow,
    new_round,
    new_tree,
    plant,
    radius,
    seat,
    sum_of_top,
    uppermost,
)
from handful.explorers.protocol import explores
from handful.kernels import kernel
from handful.problem import OPEN, RULE, Floats, Ints

_INVESTED = 0.2  # a bank goes on in a round until this share of what it could still show is shown beyond its due

_RULES = np.dtype(
    [
        ("chained", np.int64),
        ("banked", np.int64),
        ("share", np.float64),  # s
        ("epsilon", np.float64),  # ε′
        ("left", np.float64),  # the least of U_i − (L_i + ... + L_{j−1}) over earlier rounds i
        ("bank", np.float64),  # b
        ("rounds", np.int64),  # that are left
        ("lead", np.int64),  # the largest lower bound
        ("first", np.int64),  # who leads before anybody is asked
    ],
    align=True,
)


class EveryRoundState(NamedTuple):
    """`certified` in the middle of its work."""

    board: Board
    bounds: Bounds
    rules: Rows
    means: Floats  # of this round, −∞ for an item not asked
    latest: Floats  # of the latest round that asked
    tree: Ints  # who leads by mean


def new_state(size: int, k: int, seed: int, in_flight: int, bounds: Bounds, **rules: float) -> EveryRoundState:
    """The state before the first round, in which nothing is known."""
    r = np.zeros(1, _RULES)
    for name, value in rules.items():
        r[name] = value
    r["left"] = np.inf
    r["lead"] = -1
    board, means = new_board(size, k, seed, in_flight), np.full(size, -np.inf)
    return EveryRoundState(board, bounds, r, means, means.copy(), new_tree(size))


@kernel
def begin(state: EveryRoundState) -> None:
    """A new round: lower bounds start again, upper bounds stay; whoever had the best mean when last asked leads."""
    rules = state.rules[0]
    rules.lead = -1
    new_round(state.bounds)
    plant(state.tree, state.latest, state.bounds.items["tie"])
    rules.first = state.tree[1]
    for i in range(len(state.means)):
        state.means[i] = -np.inf
    plant(state.tree, state.means, state.bounds.items["tie"])


@kernel
def _leader(state: EveryRoundState) -> int:
    """The best mean of this round; before there is one, who had it when last asked."""
    lead = state.tree[1]
    return lead if lead >= 0 and state.means[lead] > -np.inf else state.rules[0].first


@kernel
def _remaining(state: EveryRoundState) -> float:
    """The best bound on f(OPT) − f(S)."""
    rules = state.rules[0]
    here = sum_of_top(state.bounds)
    return min(here, rules.left) if rules.chained == 1 else here


@kernel
def _speed(state: EveryRoundState, item: int, pooled: bool) -> float:
    """How fast another answer would narrow the item's interval, counting those in flight."""
    T = float(state.board.items[item].count + state.board.items[item].waiting)
    if pooled:
        T += max(0, state.bounds.items[item].past)
    return np.inf if T == 0.0 else radius(state.bounds, T) / T


@kernel
def propose(state: EveryRoundState, n: int) -> tuple[int, int, int]:
    """The leader, or one of those that make up U_j (those in the way of the leader, where an older U binds)."""
    rules, bounds = state.rules[0], state.bounds
    best, most = -1, -1.0
    if rules.chained == 0 or sum_of_top(bounds) <= rules.left:
        for p in range(bounds.rules[0].held):
            i = bounds.top[p]
            narrows = rules.share * _speed(state, i, True)
            if narrows > most:
                best, most = i, narrows
    else:
        best = uppermost(bounds, _leader(state))
        most = _speed(state, best, False) if best >= 0 else -1.0
    lead = _leader(state)
    return (lead if best < 0 or _speed(state, lead, False) > most else best), NOBODY, NOW


@kernel
def tell(state: EveryRoundState, item: int, rival: int, given: int, answer: float) -> None:
    """Narrow the item's bounds, and see whether the round is decided."""
    board, rules, items = state.board, state.rules[0], state.bounds.items
    if board.round[0].ended != OPEN:
        return
    narrow(state.bounds, board, item)
    state.means[item] = state.latest[item] = mean(board, item)
    seat(state.tree, state.means, state.bounds.items["tie"], item, True)
    if rules.lead < 0 or items[item].lower > items[rules.lead].lower:  # lower bounds only rise
        rules.lead = item
    low = items[rules.lead].lower
    beyond = low - rules.share * _remaining(state) + rules.epsilon + (1.0 - rules.share) * rules.bank
    if beyond >= 0.0 and (rules.banked == 0 or beyond >= _INVESTED * _doubt(state)):
        _take(state, rules.lead, RULE)


@kernel
def _doubt(state: EveryRoundState) -> float:
    """How much more this round could show, about; of the last one nothing is left to spend it on."""
    rules, board, bounds = state.rules[0], state.board, state.bounds
    if rules.rounds == 1:
        return 0.0
    wide = radius(bounds, float(board.items[rules.lead].count))
    if sum_of_top(bounds) <= rules.left:
        for p in range(bounds.rules[0].held):
            i = bounds.top[p]
            wide += rules.share * radius(bounds, float(board.items[i].count + max(0, bounds.items[i].past)))
    return wide


@kernel
def _take(state: EveryRoundState, item: int, ended: int) -> None:
    """The round is over: write down what is left."""
    rules, board, bounds = state.rules[0], state.board, state.bounds
    left, low = _remaining(state), bounds.items[item].lower
    rules.left = max(0.0, left - low)
    if rules.banked == 1:
        rules.bank = (1.0 - rules.share) * rules.bank + rules.epsilon - (rules.share * left - low)
    rules.rounds -= 1
    board.best[0] = item
    board.round[0].size = 1
    end(board, ended, max(0.0, rules.share * left - low))
    close_round(bounds, board)


@kernel
def leave(state: EveryRoundState, item: int) -> None:
    """Neither among the bounds nor among the means."""
    forget(state.bounds, item)
    seat(state.tree, state.means, state.bounds.items["tie"], item, False)


@kernel
def conclude(state: EveryRoundState, ended: int) -> None:
    """The best mean; or who had it when last asked, where nothing was answered."""
    _take(state, _leader(state), ended)


explores(EveryRoundState, begin=begin, propose=propose, tell=tell, leave=leave, conclude=conclude)

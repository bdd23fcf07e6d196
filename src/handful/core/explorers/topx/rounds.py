"""A round of TopX, Algorithm 2 of the paper, line by line; UNIFORM asks everybody and shares its stopping rule.

Comments give the lines of Algorithm 2. Differences to the letter (docs/paper-map.md has them all):
only candidates C = V∖S are asked, l is capped at |C|, and ties go to the first in an order that is drawn from the seed.

With preference queries the value of an item is its Borda score among the candidates. One query is τ comparisons
with rivals drawn with replacement; as their mean has R = 1/(2√τ), counting single comparisons with R = ½ gives the
same radius, so the board counts comparisons.
"""

from __future__ import annotations

import math

import numpy as np

from handful.core.endings import OPEN, RULE
from handful.core.explorers.protocol import explores
from handful.core.explorers.topx.sets import (
    ADAPTIVE,
    BEST_MEAN,
    EVERYBODY,
    FIXED,
    TopXState,
    lead,
    scale,
    sizes,
    swap,
)
from handful.core.guarantees import VALUES, allowed_gap, reached_epsilon
from handful.core.kernels import kernel
from handful.core.parts.board import NOBODY, NOW, end, rival_of, shuffle


@kernel
def _survey(state: TopXState, may_end: bool) -> None:
    """Lines 4–13: return A (if the round may end now), or make the list Q of items to query."""
    rules, candidates = state.rules[0], state.board.round[0].candidates
    rules.queued = 0
    rules.next = 0
    c = scale(state)  # line 4
    first, final, most = sizes(state)
    others = lead(state, most, c)
    for l in range(first, final + 1):
        gap, q = swap(state, l, most, others)  # lines 6–9
        if may_end and gap <= allowed_gap(rules.beta, l, rules.epsilon, candidates):  # line 10
            _finish(state, l, RULE, reached_epsilon(rules.beta, l, gap, candidates))  # line 11
            return
        if q >= 0:
            state.queue[rules.queued] = q  # lines 12 and 13
            rules.queued += 1


@kernel
def _finish(state: TopXState, l: int, ended: int, reached: float) -> None:
    """A = M_t of size l."""
    for p in range(l):
        state.board.best[p] = state.places[p].leader
    state.board.round[0].size = l
    end(state.board, ended, reached)


@kernel
def _enqueue(state: TopXState, below: int) -> None:
    """Q is every candidate with fewer than `below` answers and questions in flight."""
    board, rules = state.board, state.rules[0]
    rules.queued = 0
    rules.next = 0
    for p in range(board.round[0].candidates):
        i = board.open[p]
        if board.items[i].count + board.items[i].waiting < below:
            state.queue[rules.queued] = i
            rules.queued += 1


@kernel
def _examine(state: TopXState) -> None:
    """One step t: every question of Q is answered, and none is in flight."""
    board, rules = state.board, state.rules[0]
    if rules.asking == FIXED:
        _enqueue(state, rules.repeats * rules.tau)
        if rules.queued == 0:
            lead(state, 1, 0.0)
            _finish(state, 1, RULE, rules.epsilon if rules.beta == VALUES else np.inf)
        return
    _enqueue(state, 1)  # an item whose only question came to nothing is asked again first
    if rules.queued > 0:
        return
    rules.step += 1
    _survey(state, True)
    if rules.asking == EVERYBODY and board.round[0].ended == OPEN:
        _enqueue(state, np.iinfo(np.int64).max)


@kernel
def _refill(state: TopXState) -> None:
    """More questions than one step's Q are wanted in flight: what would Q be if those in flight were answered?"""
    board, rules = state.board, state.rules[0]
    if rules.asking == FIXED:
        _enqueue(state, rules.repeats * rules.tau)
        return
    _enqueue(state, 1)
    if rules.queued > 0:
        return
    if rules.asking == ADAPTIVE and rules.seen == board.round[0].candidates:
        for p in range(board.round[0].candidates):
            i = board.open[p]
            state.items[i].root = 1.0 / math.sqrt(board.items[i].count + board.items[i].waiting)
        _survey(state, False)
        for p in range(board.round[0].candidates):
            i = board.open[p]
            state.items[i].root = 1.0 / math.sqrt(board.items[i].count)
    if rules.queued == 0:
        _enqueue(state, np.iinfo(np.int64).max)


@kernel
def begin(state: TopXState) -> None:
    """Line 3: every candidate is queried once; in random order where the budget does not reach for all."""
    board, rules = state.board, state.rules[0]
    rules.step = 0
    rules.seen = 0
    for i in range(len(state.items)):
        state.items[i].root = np.inf
        state.items[i].mean = -np.inf
    _enqueue(state, 1)
    r = board.round[0]
    if 0 <= r.limit < r.candidates * rules.tau:
        shuffle(board, state.queue, rules.queued)


@kernel
def propose(state: TopXState, n: int) -> tuple[int, int, int]:
    """Line 14: the next query of Q, as τ comparisons with random rivals where queries are comparisons."""
    board, rules = state.board, state.rules[0]
    if rules.next == rules.queued * rules.tau:
        queued, at = rules.queued, rules.next
        if board.round[0].in_flight > 1:
            _refill(state)
        if rules.next == rules.queued * rules.tau:
            rules.queued, rules.next = queued, at  # nothing to ask: as if nobody had asked
            return -1, NOBODY, NOW
    item = state.queue[rules.next // rules.tau]
    rules.next += 1
    return item, NOBODY if rules.beta == VALUES else rival_of(board, item, n), NOW


@kernel
def _proceed(state: TopXState) -> None:
    """An answer has come, or never will: is the next step due, or the round decided?"""
    board, rules = state.board, state.rules[0]
    r = board.round[0]
    if r.ended != OPEN:
        return
    if r.counted == r.asked and rules.next == rules.queued * rules.tau:
        _examine(state)
    elif r.in_flight > 1 and rules.seen == r.candidates and rules.asking != FIXED:
        queued, at = rules.queued, rules.next
        half = len(state.queue) // 2
        for p in range(queued):
            state.queue[half + p] = state.queue[p]
        _survey(state, True)
        for p in range(queued):
            state.queue[p] = state.queue[half + p]
        rules.queued, rules.next = queued, at


@kernel
def tell(state: TopXState, item: int, rival: int, given: int, answer: float) -> None:
    """Lines 15 and 16 are on the board; the next step is due once Q is answered, or after each of many in flight."""
    if state.board.items[item].count == 1:
        state.rules[0].seen += 1
    state.items[item].root = 1.0 / math.sqrt(state.board.items[item].count)
    state.items[item].mean = state.board.items[item].total / state.board.items[item].count
    _proceed(state)


@kernel
def void(state: TopXState, item: int, rival: int, given: int) -> None:
    """A question came to nothing; if it was the last in flight, the next step is due."""
    _proceed(state)


@kernel
def conclude(state: TopXState, ended: int) -> None:
    """The paper does not say what to return when the budget ends a round: the best mean, or the l of smallest gap."""
    rules = state.rules[0]
    c = scale(state)
    first, final, most = sizes(state)
    others = lead(state, most, c)
    if rules.out_of_budget == BEST_MEAN:
        first, final = min(max(rules.only, 1), most), min(max(rules.only, 1), most)
    best, reached = first, np.inf
    for l in range(first, final + 1):
        if state.board.items[state.places[l - 1].leader].count == 0:
            break
        gap, _ = swap(state, l, most, others)
        epsilon = reached_epsilon(rules.beta, l, gap, state.board.round[0].candidates)
        if epsilon < reached:
            best, reached = l, epsilon
    _finish(state, best, ended, reached)


explores(TopXState, begin=begin, propose=propose, tell=tell, void=void, conclude=conclude)

"""`worth`: values under a budget too small for any guarantee.

A Gaussian belief per item about its gain. The noise of answers and the spread of gains are learnt from the answers
(empirical Bayes, renewed after every N answers), so nothing needs to be known. Between rounds an item's gain stays
as it was (the pick has nothing in common with it) or falls by some share; the answers of the new round say which is
the likelier, and how much of the old belief is worth keeping.

A question asks about the item whose answers are worth most each (`belief.py`); questions in flight count as answered.
It proves nothing: what may be claimed is in the certificate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from handful.core.certificates import Certificate
from handful.core.draws import ORDER, below
from handful.core.evidence import Evidence, claim_of
from handful.core.explorers.protocol import Explorer, State, explores
from handful.core.feedback import Values
from handful.core.guarantees import NO_GUARANTEE
from handful.core.kernels import kernel
from handful.core.objective import Floats, Ints
from handful.core.parts.belief import best_of, left_of, new_beliefs, standardised, worth_of_asking
from handful.core.parts.board import NOBODY, NOW, Board, Rows, end, new_board, shuffle
from handful.core.parts.requirements import needs_a_budget, scores
from handful.core.problem import Problem
from handful.core.views import View, belief_view
from handful.errors import UnknownExplorer

_RULES = np.dtype(
    [
        ("noise", np.float64),  # variance of an answer, as far as is known
        ("spread", np.float64),  # variance of gains between items
        ("least", np.float64),  # no variance is taken to be smaller: next to nothing, beside the answers
        ("stay", np.float64),  # the chance that a pick takes nothing from another item's gain
        ("fall", np.float64),  # else what share it takes: about so much, give or take as much
        ("answers", np.int64),
        ("groups", np.int64),  # pairs of item and round with an answer
        ("squares", np.float64),  # Σ (X − mean of its item and round)²
        ("queued", np.int64),
        ("next", np.int64),
        ("first", np.int64),  # whether this is the first round
        ("renewed", np.int64),  # answers of this round when noise and spread were learnt last
    ],
    align=True,
)


class WorthState(NamedTuple):
    """`worth` in the middle of its work: beliefs about gains."""

    board: Board
    rules: Rows
    items: Rows
    base: Rows  # the belief each item entered this round with, if its gain has not fallen
    fallen: Rows  # and if it has
    queue: Ints


def _new_worth(size: int, k: int, seed: int, in_flight: int, prior: Floats | None = None, **rules: float) -> WorthState:
    """Nothing is known, but for the prior's scores: they order the first questions and break ties."""
    r = np.zeros(1, _RULES)
    for name, value in rules.items():
        r[name] = value
    items = new_beliefs(size, 0.0, np.inf)
    queue = np.zeros(size, np.int64)
    state = WorthState(new_board(size, k, seed, in_flight), r, items, items.copy(), items.copy(), queue)
    scores = standardised(prior)
    if scores is not None:
        state.base["mean"] = scores
    return state


@kernel
def begin(state: WorthState) -> None:
    """The first round asks everybody once, most promising first; a later one starts from what is believed, with more
    doubt.
    """
    rules, board, items, base = state.rules[0], state.board, state.items, state.base
    r = board.round[0]
    rules.queued = 0
    rules.next = 0
    rules.renewed = 0
    rules.first = 1 if rules.groups == 0 else 0
    if rules.first == 1:
        rules.queued = r.candidates
        for p in range(r.candidates):
            state.queue[p] = board.open[p]
        shuffle(board, state.queue, rules.queued)
        _favour(state)
        return
    for i in range(len(items)):
        lost = rules.fall * max(items[i].mean, 0.0)
        base[i].mean = items[i].mean
        base[i].variance = items[i].variance
        state.fallen[i].mean = items[i].mean - lost
        state.fallen[i].variance = items[i].variance + lost * lost
        _believe(state, i)


@kernel
def _favour(state: WorthState) -> None:
    """Put the higher scores of a prior first; a shuffled order stays where scores are equal."""
    scores = state.base
    for p in range(1, state.rules[0].queued):
        item = state.queue[p]
        q = p
        while q > 0 and scores[item].mean > scores[state.queue[q - 1]].mean:
            state.queue[q] = state.queue[q - 1]
            q -= 1
        state.queue[q] = item


@kernel
def propose(state: WorthState, n: int) -> tuple[int, int, int]:
    """Everybody once; then whoever is worth it most."""
    rules, board = state.rules[0], state.board
    if rules.next < rules.queued:
        rules.next += 1
        return state.queue[rules.next - 1], NOBODY, NOW
    if rules.spread == 0.0:  # the first answers are still in flight
        r = board.round[0]
        return board.open[below(r.candidates, r.seed, r.round, ORDER, n)], NOBODY, NOW
    return _worthiest(state), NOBODY, NOW


@kernel
def _worthiest(state: WorthState) -> int:
    """The item whose answers are worth most."""
    board, items = state.board, state.items
    lead, left, noise = best_of(items, board), left_of(board), state.rules[0].noise
    best, most, second = lead, 0.0, -np.inf
    for p in range(board.round[0].candidates):
        i = board.open[p]
        if i == lead:
            continue
        second = max(second, items[i].mean)
        hope = worth_of_asking(items[lead].mean - items[i].mean, _doubt(state, i), noise, left, most)
        if hope > most:
            best, most = i, hope
    own = worth_of_asking(items[lead].mean - second, _doubt(state, lead), noise, left, most)
    return lead if own > most else best


@kernel
def _doubt(state: WorthState, item: int) -> float:
    """The variance of a belief once what is in flight has come."""
    v = state.items[item].variance
    return v / (1.0 + v * state.board.items[item].waiting / state.rules[0].noise)


@kernel
def _posterior(base: Any, seen: Any, noise: float) -> tuple[float, float, float]:
    """A Gaussian belief after the answers of this round: mean, variance, and how well it foretold them (a log)."""
    if seen.count == 0:
        return base.mean, base.variance, 0.0
    error = noise / seen.count
    away = seen.total / seen.count - base.mean
    wide = base.variance + error
    share = base.variance / wide
    return base.mean + share * away, share * error, -0.5 * (away * away / wide + math.log(wide))


@kernel
def _believe(state: WorthState, item: int) -> None:
    """The posterior of one item: its gain is as it was, or has fallen, each as likely as the answers make it."""
    rules, seen, belief = state.rules[0], state.board.items[item], state.items[item]
    mean, variance, fit = _posterior(state.base[item], seen, rules.noise)
    if rules.first == 0:
        low, wide, fit_low = _posterior(state.fallen[item], seen, rules.noise)
        share = 1.0 / (1.0 + rules.stay / (1.0 - rules.stay) * math.exp(min(fit - fit_low, 700.0)))
        variance += share * (wide - variance) + share * (1.0 - share) * (low - mean) ** 2
        mean += share * (low - mean)
    belief.mean = mean
    belief.variance = variance


@kernel
def _renew(state: WorthState) -> None:
    """Learn the noise, and in the first round the spread of gains, from the answers so far."""
    rules, board = state.rules[0], state.board
    free = rules.answers - rules.groups
    if free >= 3:
        rules.noise = max(rules.squares / free, rules.least)
    if rules.first == 1:
        _empirical_bayes(state)
    for p in range(board.round[0].candidates):
        _believe(state, board.open[p])
    rules.renewed = board.round[0].counted


@kernel
def _empirical_bayes(state: WorthState) -> None:
    """Level and spread of gains by the method of moments, over the items that were asked."""
    rules, board = state.rules[0], state.board
    asked, level, inverse = 0.0, 0.0, 0.0
    for p in range(board.round[0].candidates):
        row = board.items[board.open[p]]
        if row.count > 0:
            asked += 1.0
            level += row.total / row.count
            inverse += 1.0 / row.count
    level /= asked
    between = 0.0
    for p in range(board.round[0].candidates):
        row = board.items[board.open[p]]
        if row.count > 0:
            between += (row.total / row.count - level) ** 2
    between /= max(asked - 1.0, 1.0)
    noise = rules.noise if rules.noise > 0.0 else 0.5 * between
    rules.least = max(1e-12 * (level * level + between), 1e-290)
    rules.noise = max(noise, rules.least)
    chance = noise * inverse / asked  # what noise alone makes of `between`, and a spread that it could still hide:
    hidden = 2.0 * chance * math.sqrt(2.0 / max(asked - 1.0, 1.0))
    rules.spread = max(between - chance, hidden, (0.1 * level) ** 2, rules.least)
    for i in range(len(state.items)):
        state.base[i].mean = level
        state.base[i].variance = rules.spread


@kernel
def asked(state: WorthState, n: int) -> None:
    """The queue moves on, while there is one."""
    if state.rules[0].next < state.rules[0].queued:
        state.rules[0].next += 1


@kernel
def tell(state: WorthState, item: int, rival: int, given: int, answer: float) -> None:
    """One belief moves; now and then all of them, when noise and spread are learnt anew."""
    rules, board = state.rules[0], state.board
    seen = board.items[item]
    rules.answers += 1
    if seen.count == 1:
        rules.groups += 1
    else:
        before = (seen.total - answer) / (seen.count - 1)
        rules.squares += (answer - before) * (answer - seen.total / seen.count)
    counted = board.round[0].counted
    if counted - rules.renewed >= board.round[0].candidates or (rules.spread == 0.0 and counted >= rules.queued):
        _renew(state)
    elif rules.spread > 0.0:
        _believe(state, item)


@kernel
def conclude(state: WorthState, ended: int) -> None:
    """Pick the item of the best belief."""
    board = state.board
    if state.rules[0].spread == 0.0 and board.round[0].counted > 0:
        _renew(state)
    board.best[0] = best_of(state.items, board)
    if board.round[0].counted == 0 and state.rules[0].groups == 0:
        board.best[0] = state.queue[0]
    board.round[0].size = 1
    end(board, ended, np.inf)


explores(WorthState, begin=begin, propose=propose, asked=asked, tell=tell, conclude=conclude)


@dataclass(frozen=True)
class Worth(Explorer):
    """Values under a budget too small for any guarantee: ask what promises most, by a belief about gains."""

    name: ClassVar[str] = "worth"

    def build(self, problem: Problem) -> State:
        """The state before the first round; comparisons, or no budget, are refused. The noise need not be known."""
        if not isinstance(problem.feedback, Values):
            raise UnknownExplorer("worth asks for values; for comparisons use duels")
        needs_a_budget(self.name, problem)
        return _new_worth(problem.size, problem.k, problem.seed, problem.in_flight, scores(problem), stay=0.5, fall=0.3)

    def view(self, problem: Problem, state: WorthState) -> View:
        """The belief about gains, and two standard deviations."""
        return belief_view(state.items["mean"], state.items["variance"])

    def claim(self, evidence: Evidence, state: WorthState) -> Certificate:
        """What the answers show, if the noise is known."""
        return claim_of(evidence, NO_GUARANTEE)

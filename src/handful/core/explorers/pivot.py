"""`pivot`: the best candidate by comparisons alone, proved without a model of who wins how often.

One candidate, the pivot, is compared with every other until each is out. A rival is out when the pivot's chance
against it is shown to be at least ½ − γ; a rival shown to beat the pivot (chance above ½) becomes the pivot, and
those still in start again against it. Under the paper's assumption (i) alone the new pivot is at least as good as
the old one, so nothing is lost by the change; and if the crowd is at least as sharp as Bradley-Terry-Luce with β₀,
"at least ½ − γ" means that a rival is better by at most ε′ = (2/β₀)·atanh(2γ). So the last pivot is within ε′ of
the best. (Borda scores would need (|C| − 1)/2 times the precision.)

Every test is a beta-binomial confidence sequence. Those against the e-th pivot of a round have error δ′/(|C|·e·(e +
1)) each, which sums to at most δ′. A belief (`pair_strengths.py`) chooses the first pivot and whom to ask about
next; it enters no bound, and neither does what was asked before the first pivot was named.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from handful.core.certificates import Certificate
from handful.core.confidence import beta_binomial
from handful.core.draws import BELIEF, normals
from handful.core.endings import OPEN, RULE
from handful.core.evidence import Evidence, claim_of
from handful.core.explorers.protocol import Explorer, State, explores
from handful.core.feedback import Preferences
from handful.core.guarantees import NO_GUARANTEE, Guarantee, free_share, promise
from handful.core.kernels import kernel
from handful.core.objective import Floats, Ints
from handful.core.parts import pair_strengths
from handful.core.parts.belief import best_of
from handful.core.parts.board import NOW, Board, Rows, pick_one
from handful.core.parts.pair_strengths import PairStrengths, contest, learn, learn_late, new_pair_strengths
from handful.core.parts.requirements import (
    assumptions_of,
    check_shrink,
    comparisons_only,
    needs_an_end,
    pairs_only,
    scores,
)
from handful.core.problem import Problem
from handful.core.views import STRENGTH, View, belief_view
from handful.errors import InvalidProblem

_RULES = np.dtype(
    [
        ("gamma", np.float64),  # γ
        ("epsilon", np.float64),  # ε′, what γ amounts to in f
        ("delta", np.float64),  # δ′
        ("shrink", np.float64),
        ("warm", np.int64),  # duels per candidate before the first pivot is named
        ("pivot", np.int64),  # -1 before that
        ("epoch", np.int64),  # e
        ("left", np.int64),  # rivals still in
        ("latest", np.int64),  # question of this round
        ("since", np.int64),  # the first question asked after the first pivot was named
    ],
    align=True,
)

_ITEM = np.dtype([("out", np.int64), ("duels", np.int64), ("losses", np.float64)], align=True)  # losses to the pivot


class PivotState(NamedTuple):
    """Who is still in, and how each does against the pivot."""

    board: Board
    belief: PairStrengths
    rules: Rows
    items: Rows
    number: Ints  # of the question that is told


def _new_pivot(size: int, k: int, seed: int, in_flight: int, prior: Floats | None = None, **rules: float) -> PivotState:
    """The state before the first round: nobody is out."""
    r = np.zeros(1, _RULES)
    for name, value in ({"shrink": 1.0, "warm": 1} | rules).items():
        r[name] = value
    belief = new_pair_strengths(size, k, seed, in_flight, prior)
    return PivotState(belief.board, belief, r, np.zeros(size, _ITEM), np.full(1, -1, np.int64))


@kernel
def begin(state: PivotState) -> None:
    """A round begins: everybody is in again."""
    rules = state.rules[0]
    pair_strengths.begin(state.belief)
    rules.pivot = -1
    rules.epoch = 0
    rules.latest = -1
    for i in range(len(state.items)):
        state.items[i].out = 0
    rules.left = state.board.round[0].candidates - 1


@kernel
def _change_pivot(state: PivotState, item: int) -> None:
    """A new pivot: those still in start again against it."""
    rules = state.rules[0]
    if rules.pivot >= 0:
        state.items[rules.pivot].out = 1
    else:
        rules.since = rules.latest + 1
    rules.pivot = item
    rules.epoch += 1
    for i in range(len(state.items)):
        state.items[i].duels = 0
        state.items[i].losses = 0.0


@kernel
def propose(state: PivotState, n: int) -> tuple[int, int, int]:
    """A few duels to find a likely pivot; then the pivot against the most promising rival that is still in."""
    rules, board = state.rules[0], state.board
    r = board.round[0]
    rules.latest = n
    if rules.pivot < 0:
        item, rival = contest(state.belief, n)
        return item, rival, NOW
    best, most = -1, -np.inf
    for p in range(r.candidates):
        i = board.open[p]
        if i == rules.pivot or state.items[i].out == 1:
            continue
        z, _ = normals(r.seed, r.round, BELIEF, n * len(state.items) + i)
        x = state.belief.items[i].mean + math.sqrt(state.belief.items[i].variance) * z
        if x > most:
            best, most = i, x
    return rules.pivot, best, NOW


@kernel
def asked(state: PivotState, n: int) -> None:
    """Note which question is the latest: to propose changes nothing else."""
    state.rules[0].latest = n


@kernel
def tell(state: PivotState, item: int, rival: int, given: int, answer: float) -> None:
    """Is the rival out, or the pivot beaten?"""
    rules, board = state.rules[0], state.board
    r = board.round[0]
    learn(state.belief, item, rival, answer)
    if r.ended != OPEN:
        return
    if rules.pivot < 0:
        if r.counted >= rules.warm * r.candidates:
            _change_pivot(state, best_of(state.belief.items, board))
        return
    if item != rules.pivot or state.items[rival].out == 1 or state.number[0] < rules.since:
        return  # an answer that was in flight when the pivot was named would be one of the slow ones
    row = state.items[rival]
    row.duels += 1
    row.losses += answer
    alpha = rules.delta / (r.candidates * rules.epoch * (rules.epoch + 1.0))
    mean = row.losses / row.duels
    low, high = beta_binomial(row.losses, float(row.duels), alpha)
    low, high = mean - rules.shrink * (mean - low), mean + rules.shrink * (high - mean)
    if low >= 0.5 - rules.gamma:
        row.out = 1
        rules.left -= 1
    elif high < 0.5:
        _change_pivot(state, rival)
        rules.left -= 1
    if rules.left == 0:
        _finish(state, RULE, rules.epsilon)


@kernel
def _finish(state: PivotState, ended: int, reached: float) -> None:
    """The pivot is the pick, within `reached` of the best."""
    board, rules = state.board, state.rules[0]
    best = rules.pivot if rules.pivot >= 0 else best_of(state.belief.items, board)
    pick_one(board, best, ended, reached)


@kernel
def late(state: PivotState, item: int, rival: int, given: int, answer: float) -> None:
    """The belief may still learn."""
    learn_late(state.belief, item, rival, answer)


@kernel
def conclude(state: PivotState, ended: int) -> None:
    """The pivot, or the strongest as far as is known: nothing is shown of rivals that are still in."""
    _finish(state, ended, np.inf)


explores(PivotState, begin=begin, propose=propose, asked=asked, tell=tell, late=late, conclude=conclude)


@dataclass(frozen=True)
class Pivot(Explorer):
    """Comparisons with a proof and no model: each pick is shown to be within ε′ of the best, for a crowd of sharpness
    β or more.
    """

    name: ClassVar[str] = "pivot"
    shrink: float = 1.0

    @property
    def edition(self) -> int:
        """2: what was asked before the first pivot was named counts for nothing, and ties are drawn."""
        return 2

    def __post_init__(self) -> None:
        check_shrink(self.shrink)

    def guarantee(self, problem: Problem) -> Guarantee:
        """Theorem 1 for k′ = 1."""
        if self.shrink < 1 or problem.epsilon is None:
            return NO_GUARANTEE
        return promise("O", problem.epsilon, problem.delta, assumptions_of(problem))

    def build(self, problem: Problem) -> State:
        """The state before the first round, with γ = ½·tanh(β₀ε′/2)."""
        comparisons_only(self.name, problem)
        pairs_only(self.name, problem)
        needs_an_end(self.name, problem, False)
        assert isinstance(problem.feedback, Preferences)
        gamma, share = 0.0, 0.0
        if problem.epsilon is not None:
            if problem.feedback.beta is None:
                raise InvalidProblem("pivot needs to know how sharp the crowd is at least: give Preferences(beta=...)")
            share = free_share(problem.rounds) * problem.epsilon
            gamma = 0.5 * math.tanh(0.5 * problem.feedback.beta * share)
        return _new_pivot(
            problem.size,
            problem.k,
            problem.seed,
            problem.in_flight,
            scores(problem),
            gamma=gamma,
            epsilon=share,
            delta=problem.delta / problem.rounds,
            shrink=self.shrink,
        )

    def view(self, problem: Problem, state: PivotState) -> View:
        """The belief about strengths, by which it chooses whom to ask about."""
        return belief_view(state.belief.items["mean"], state.belief.items["variance"], STRENGTH)

    def claim(self, evidence: Evidence, state: PivotState) -> Certificate:
        """Theorem 1, or what the rounds that were decided add up to."""
        return claim_of(evidence, self.guarantee(evidence.problem), shrink=self.shrink)

"""`pivot`: the best candidate by comparisons alone, proved without a model of who wins how often."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from handful.certificates import (
    NO_GUARANTEE,
    Certificate,
    Evidence,
    Guarantee,
    assumptions_of,
    check_shrink,
    claim_of,
    comparisons_only,
    free_share,
    needs_an_end,
    pairs_only,
    promise,
    scores,
)
from handful.confidence import beta_binomial
from handful.draws import BELIEF, normals
from handful.errors import InvalidProblem
from handful.explorers.belief import (
    best_of,
    centre_and_widen,
    drawn,
    left_of,
    new_beliefs,
    reckon,
    reckon_all,
    standardised,
    worth_of_asking,
)
from handful.explorers.board import NOW, STRENGTH, Board, Rows, View, belief_view, new_board, pick_one
from handful.explorers.protocol import Explorer, ExplorerState, explores
from handful.kernels import kernel
from handful.problem import OPEN, RULE, Floats, Ints, Preferences, Problem

_STRENGTH_RULES = np.dtype(
    [
        ("variance", np.float64),  # of a strength, before anything is known
        ("widen", np.float64),  # variance added for the next round
        ("careless", np.float64),  # share of answers taken for coin flips
        ("rounds", np.int64),  # whether a round has begun before
        ("trust", np.float64),  # how much strength a prior's score is worth, as far as is known
        ("doubt", np.float64),  # and the variance of that; 0 without a prior
    ],
    align=True,
)
_EVERY = 3  # one question in so many is between the winners of two draws
_AGAIN = 2**31  # the second draw of question n is the draw of question n + _AGAIN
_TRUST, _DOUBT = 0.3, 0.25  # what a score of one standard deviation is worth at first, and the variance of that


class PairStrengths(NamedTuple):
    """Strengths, as far as they are known."""

    board: Board
    rules: Rows
    items: Rows  # strengths
    own: Rows  # what of them a prior's score does not explain
    scores: Floats  # a prior's, standardised; else 0


def new_pair_strengths(size: int, k: int, seed: int, in_flight: int, prior: Floats | None = None) -> PairStrengths:
    """The state before the first round: all strengths alike, or as the prior's scores say."""
    r = np.zeros(1, _STRENGTH_RULES)
    r["variance"], r["widen"], r["careless"] = 1.5, 0.1, 0.1
    items = new_beliefs(size, 0.0, 1.5)
    scores = np.zeros(size)
    standard = standardised(prior)
    if standard is not None:
        scores = standard
        r["trust"], r["doubt"] = _TRUST, _DOUBT
    state = PairStrengths(new_board(size, k, seed, in_flight), r, items, items.copy(), scores)
    _add_up(state)
    return state


@kernel
def _add_up(state: PairStrengths) -> None:
    """Strengths: their own parts, and what a prior's scores are worth."""
    reckon_all(state.items, state.own, state.scores, state.rules[0].trust, state.rules[0].doubt)


@kernel
def strengths_begin(state: PairStrengths) -> None:
    """A later round starts from what is believed, with more doubt."""
    rules = state.rules[0]
    if rules.rounds == 0:
        rules.rounds = 1
        return
    centre_and_widen(state.own, state.board, rules.variance, rules.widen)
    _add_up(state)


@kernel
def contest(state: PairStrengths, n: int) -> tuple[int, int]:
    """Two items to compare: the winner of a posterior draw, and the rival who is worth comparing with it most."""
    board, items = state.board, state.items
    lead, left = drawn(items, board, n, 1.0), left_of(board)
    if n % _EVERY == _EVERY - 1:
        second = drawn(items, board, n + _AGAIN, 1.0)
        if second != lead:
            return second, lead
    best, most = -1, 0.0
    for p in range(board.round[0].candidates):
        i = board.open[p]
        if i == lead:
            continue
        away, v = abs(items[lead].mean - items[i].mean), _doubt(state, i)
        blur = 1.0 + math.pi * v / 8.0
        z2 = away * away / blur
        noise = blur * (4.0 + z2 + z2 * z2 / 12.0)  # 1/(p(1 − p)) = 2 + 2 cosh z, as far as it matters
        hope = worth_of_asking(away, v, noise, left, most)
        if hope > most or best < 0:
            best, most = i, hope
    return best, lead


@kernel
def _doubt(state: PairStrengths, item: int) -> float:
    """The variance of a strength once what is in flight has come, about."""
    v = state.items[item].variance
    return v / (1.0 + 0.25 * v * state.board.items[item].waiting)


@kernel
def learn(state: PairStrengths, item: int, rival: int, answer: float) -> None:
    """One step of assumed-density filtering."""
    rules = state.rules[0]
    a, b, apart = state.own[item], state.own[rival], state.scores[item] - state.scores[rival]
    kappa = 1.0 / math.sqrt(1.0 + math.pi * (a.variance + b.variance + rules.doubt * apart * apart) / 8.0)
    p = 1.0 / (1.0 + math.exp(-kappa * (state.items[item].mean - state.items[rival].mean)))
    meant = 1.0
    if rules.careless > 0.0:  # how likely the answer was meant, given that it came out so
        likely = p if answer > 0.5 else 1.0 - p
        meant = (1.0 - rules.careless) * likely / ((1.0 - rules.careless) * likely + 0.5 * rules.careless)
    step = meant * kappa * (answer - p)
    bend = meant * kappa * kappa * p * (1.0 - p)
    a.mean += a.variance * step
    b.mean -= b.variance * step
    a.variance = max(a.variance * (1.0 - a.variance * bend), 1e-9)
    b.variance = max(b.variance * (1.0 - b.variance * bend), 1e-9)
    if rules.doubt == 0.0:
        reckon(state.items, state.own, state.scores, item, rules.trust, rules.doubt)
        reckon(state.items, state.own, state.scores, rival, rules.trust, rules.doubt)
        return
    rules.trust += rules.doubt * apart * step
    rules.doubt = max(rules.doubt * (1.0 - rules.doubt * apart * apart * bend), 1e-9)
    _add_up(state)


@kernel
def learn_late(state: PairStrengths, item: int, rival: int, answer: float) -> None:
    """An answer about candidates that are still there teaches as before."""
    where = state.board.items
    if where[item].where >= 0 and where[rival].where >= 0:
        learn(state, item, rival, answer)


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
    strengths_begin(state.belief)
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

    def __post_init__(self) -> None:
        check_shrink(self.shrink)

    def guarantee(self, problem: Problem) -> Guarantee:
        """Theorem 1 for k′ = 1."""
        if self.shrink < 1 or problem.epsilon is None:
            return NO_GUARANTEE
        return promise("O", problem.epsilon, problem.delta, assumptions_of(problem))

    def build(self, problem: Problem) -> ExplorerState:
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

"""`duels`: direct comparisons between contenders, by a belief about how strong each item is.

The belief is a Gaussian per item over its strength θ, with P(a is preferred to b) = 1/(1 + exp(θ_b − θ_a)) as the
likelihood; the sharpness β of the crowd is part of θ and need not be known. A question pits the winner of a posterior
draw (Thompson sampling: many questions can be out at once, each with a draw of its own) against the rival for whom an
answer is worth most (`belief.py`; an answer about a difference of strengths that is decided with chance p has a
variance of 1/(p(1 − p))). Every third question pits the winners of two draws: the belief may be too sure,
and draws go on looking where it sees no worth. An answer moves the two beliefs by one step of
assumed-density filtering: with v = s_a + s_b, κ = 1/√(1 + πv/8) and p = 1/(1 + exp(−κ(m_a − m_b))),
    m_a += s_a·κ·(y − p),     s_a −= s_a²·κ²·p(1 − p),     and m_b, s_b with the opposite sign.
A prior's scores enter as one more unknown: a strength is its own part plus τ times the item's score, and every
comparison teaches τ too, so that a good prior is soon trusted and a wrong one not (or the other way round).
Between rounds the belief is kept and widened: gains fall, some more than others. A late answer still teaches.
Questions with more than two options are in `choices.py`.

The belief chooses *what to ask*, and the pick. It proves nothing: what may be claimed is in the certificate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from handful.core.certificates import Certificate
from handful.core.checks import is_finite
from handful.core.evidence import Evidence, claim_by_comparisons
from handful.core.explorers.choices import ChoicesState, new_choices
from handful.core.explorers.protocol import Explorer, State, explores
from handful.core.guarantees import NO_GUARANTEE
from handful.core.kernels import kernel
from handful.core.objective import Floats
from handful.core.parts.belief import best_of, drawn, left_of, new_beliefs, standardised, worth_of_asking
from handful.core.parts.board import NOW, Board, Rows, new_board, pick_one
from handful.core.parts.requirements import comparisons_only, needs_a_budget, scores
from handful.core.problem import Problem
from handful.core.views import STRENGTH, View, belief_view
from handful.errors import InvalidProblem

_RULES = np.dtype(
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


class DuelsState(NamedTuple):
    """Strengths, as far as they are known."""

    board: Board
    rules: Rows
    items: Rows  # strengths
    own: Rows  # what of them a prior's score does not explain
    scores: Floats  # a prior's, standardised; else 0


def new_duels(size: int, k: int, seed: int, in_flight: int, prior: Floats | None = None, **rules: float) -> DuelsState:
    """The state before the first round: all strengths alike, or as the prior's scores say."""
    r = np.zeros(1, _RULES)
    for name, value in rules.items():
        r[name] = value
    items = new_beliefs(size, 0.0, float(r["variance"][0]))
    scores = np.zeros(size)
    standard = standardised(prior)
    if standard is not None:
        scores = standard
        r["trust"], r["doubt"] = _TRUST, _DOUBT
    state = DuelsState(new_board(size, k, seed, in_flight), r, items, items.copy(), scores)
    _add_up(state)
    return state


@kernel
def _add_up(state: DuelsState) -> None:
    """Strengths: their own parts, and what a prior's scores are worth."""
    for i in range(len(state.items)):
        _reckon(state, i)


@kernel
def _reckon(state: DuelsState, i: int) -> None:
    """The strength of item i: its own part, and what its score is worth."""
    rules, own, score = state.rules[0], state.own[i], state.scores[i]
    state.items[i].mean = own.mean + rules.trust * score
    state.items[i].variance = own.variance + rules.doubt * score * score


@kernel
def begin(state: DuelsState) -> None:
    """A later round starts from what is believed, with more doubt."""
    rules, board, own = state.rules[0], state.board, state.own
    if rules.rounds == 0:
        rules.rounds = 1
        return
    centre = 0.0
    for p in range(board.round[0].candidates):
        centre += own[board.open[p]].mean
    centre /= board.round[0].candidates
    for i in range(len(own)):
        own[i].mean -= centre
        own[i].variance = min(rules.variance, own[i].variance + rules.widen)
    _add_up(state)


@kernel
def propose(state: DuelsState, n: int) -> tuple[int, int, int]:
    """The winner of a posterior draw, and the rival who is worth comparing with it most."""
    board, items = state.board, state.items
    lead, left = drawn(items, board, n), left_of(board)
    if n % _EVERY == _EVERY - 1:
        second = drawn(items, board, n + _AGAIN)
        if second != lead:
            return second, lead, NOW
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
    return best, lead, NOW


@kernel
def _doubt(state: DuelsState, item: int) -> float:
    """The variance of a strength once what is in flight has come, about."""
    v = state.items[item].variance
    return v / (1.0 + 0.25 * v * state.board.items[item].waiting)


@kernel
def learn(state: DuelsState, item: int, rival: int, answer: float) -> None:
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
        _reckon(state, item)
        _reckon(state, rival)
        return
    rules.trust += rules.doubt * apart * step
    rules.doubt = max(rules.doubt * (1.0 - rules.doubt * apart * apart * bend), 1e-9)
    _add_up(state)


@kernel
def asked(state: DuelsState, n: int) -> None:
    """To propose changes nothing."""


@kernel
def tell(state: DuelsState, item: int, rival: int, given: int, answer: float) -> None:
    """Move the beliefs about both items."""
    learn(state, item, rival, answer)


@kernel
def late(state: DuelsState, item: int, rival: int, given: int, answer: float) -> None:
    """An answer about candidates that are still there teaches as before."""
    where = state.board.items
    if where[item].where >= 0 and where[rival].where >= 0:
        learn(state, item, rival, answer)


@kernel
def conclude(state: DuelsState, ended: int) -> None:
    """The strongest, as far as is known."""
    pick_one(state.board, best_of(state.items, state.board), ended, np.inf)


explores(DuelsState, begin=begin, propose=propose, asked=asked, tell=tell, late=late, conclude=conclude)


@dataclass(frozen=True)
class Duels(Explorer):
    """Choices between contenders, by a belief about strengths. Needs no knowledge of β; any budget will do.

    With more than two options a question, `variance` and `widen` are where the belief starts from: it learns how far
    strengths lie apart.
    """

    name: ClassVar[str] = "duels"
    order: ClassVar[Literal["item", "none"]] = "none"
    variance: float = 1.5
    widen: float = 0.1
    careless: float = 0.1

    def __post_init__(self) -> None:
        if not (is_finite(self.variance) and self.variance > 0):
            raise InvalidProblem(f"variance of strengths must be a positive number, got {self.variance!r}")
        if not (is_finite(self.widen) and self.widen >= 0):
            raise InvalidProblem(f"widen is a variance added between rounds, 0 or more, got {self.widen!r}")
        if not (is_finite(self.careless) and 0 <= self.careless < 1):
            raise InvalidProblem(f"careless is a share of answers, from 0 to less than 1, got {self.careless!r}")

    def build(self, problem: Problem) -> State:
        """The state before the first round; values, or no budget, are refused."""
        comparisons_only(self.name, problem)
        needs_a_budget(self.name, problem)
        if problem.feedback.options > 2:
            return new_choices(
                problem.size,
                problem.k,
                problem.seed,
                problem.in_flight,
                problem.feedback.options,
                scores(problem),
                self.variance,
                self.widen,
                self.careless,
            )
        return new_duels(
            problem.size,
            problem.k,
            problem.seed,
            problem.in_flight,
            scores(problem),
            variance=self.variance,
            widen=self.widen,
            careless=self.careless,
        )

    def view(self, problem: Problem, state: DuelsState | ChoicesState) -> View:
        """Its belief about strengths."""
        return belief_view(state.items["mean"], state.items["variance"], STRENGTH)

    def claim(self, evidence: Evidence, state: DuelsState | ChoicesState) -> Certificate:
        """What the comparisons show of rivals; nothing of how close a pick is to the best."""
        return claim_by_comparisons(evidence, NO_GUARANTEE, by_rounds=False)

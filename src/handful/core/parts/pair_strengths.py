"""The belief by which `pivot` chooses whom to ask about: one Gaussian per item over its strength.

P(a is preferred to b) = 1/(1 + exp(θ_b − θ_a)). A question pits the winner of a posterior draw against the rival for
whom an answer is worth most (`belief.py`), and every third the winners of two draws. An answer moves the two beliefs by
one step of assumed-density filtering: with v = s_a + s_b, κ = 1/√(1 + πv/8) and p = 1/(1 + exp(−κ(m_a − m_b))),
    m_a += s_a·κ·(y − p),     s_a −= s_a²·κ²·p(1 − p),     and m_b, s_b with the opposite sign.
A prior's scores enter as one more unknown, as in `strengths.py`, by which `duels` goes. `pivot` proves what it says by
bounds, and keeps to this simpler belief: its journals are decided by it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handful.core.kernels import kernel
from handful.core.objective import Floats
from handful.core.parts.belief import (
    centre_and_widen,
    drawn,
    left_of,
    new_beliefs,
    reckon,
    reckon_all,
    standardised,
    worth_of_asking,
)
from handful.core.parts.board import Board, Rows, new_board

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


class PairStrengths(NamedTuple):
    """Strengths, as far as they are known."""

    board: Board
    rules: Rows
    items: Rows  # strengths
    own: Rows  # what of them a prior's score does not explain
    scores: Floats  # a prior's, standardised; else 0


def new_pair_strengths(size: int, k: int, seed: int, in_flight: int, prior: Floats | None = None) -> PairStrengths:
    """The state before the first round: all strengths alike, or as the prior's scores say."""
    r = np.zeros(1, _RULES)
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
def begin(state: PairStrengths) -> None:
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

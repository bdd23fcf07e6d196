"""`duels`: direct comparisons between contenders, by a belief about how strong each item is.

The belief is a Gaussian per item over its strength θ, with P(a is preferred to b) = 1/(1 + exp(θ_b − θ_a)) as the
likelihood; the sharpness β of the crowd is part of θ and need not be known. A question pits the winners of two
posterior draws against each other (top-two Thompson sampling), so that many questions can be out at once, each with
draws of its own. An answer moves the two beliefs by one step of assumed-density filtering: with v = s_a + s_b, κ =
1/√(1 + πv/8) and p = 1/(1 + exp(−κ(m_a − m_b))),
    m_a += s_a·κ·(y − p),     s_a −= s_a²·κ²·p(1 − p),     and m_b, s_b with the opposite sign.
Between rounds the belief is kept, shrunk a little and widened: gains fall, some more than others. A late answer
still teaches.

The belief chooses *what to ask*, and the pick. It proves nothing: what may be claimed is in the certificate.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from handful.core.explorers.belief import best_of, new_beliefs, two_draws
from handful.core.explorers.board import Board, Rows, end, new_board
from handful.core.explorers.protocol import explores
from handful.core.kernels import kernel, small
from handful.core.objective import Floats

RULES = np.dtype(
    [
        ("variance", np.float64),  # of a strength, before anything is known
        ("keep", np.float64),  # how much of a mean is kept for the next round
        ("widen", np.float64),  # variance added for the next round
        ("careless", np.float64),  # share of answers taken for coin flips
        ("rounds", np.int64),  # whether a round has begun before
    ],
    align=True,
)


class DuelsState(NamedTuple):
    """Strengths, as far as they are known."""

    board: Board
    rules: Rows
    items: Rows


def new_duels(size: int, k: int, seed: int, in_flight: int, prior: Floats | None = None, **rules: float) -> DuelsState:
    """All alike, or as the prior's scores say: a fifth of a standard deviation of belief for one of scores. (Half of
    one helps no more where the prior is right, and costs a tenth of f where it is wrong.)
    """
    r = np.zeros(1, RULES)
    for name, value in rules.items():
        r[name] = value
    items = new_beliefs(size, 0.0, float(r["variance"][0]))
    if prior is not None and prior.std() > 0:
        items["mean"] = 0.2 * math.sqrt(float(r["variance"][0])) * (prior - prior.mean()) / prior.std()
    return DuelsState(new_board(size, k, seed, in_flight), r, items)


@kernel
def begin(state: DuelsState) -> None:
    """A later round starts from what is believed, with more doubt."""
    rules, board, items = state.rules[0], state.board, state.items
    if rules.rounds == 0:
        rules.rounds = 1
        return
    centre = 0.0
    for p in range(board.round[0].candidates):
        centre += items[board.open[p]].mean
    centre /= board.round[0].candidates
    for i in range(len(items)):
        items[i].mean = rules.keep * (items[i].mean - centre)
        items[i].variance = min(rules.variance, items[i].variance + rules.widen)


@kernel
def propose(state: DuelsState, n: int) -> tuple[int, int]:
    """The winners of two posterior draws."""
    return two_draws(state.items, state.board, n)


@small
def learn(state: DuelsState, item: int, rival: int, answer: float) -> None:
    """One step of assumed-density filtering."""
    items, rules = state.items, state.rules[0]
    a, b = items[item], items[rival]
    kappa = 1.0 / math.sqrt(1.0 + math.pi * (a.variance + b.variance) / 8.0)
    p = 1.0 / (1.0 + math.exp(-kappa * (a.mean - b.mean)))
    trust = 1.0
    if rules.careless > 0.0:  # how likely the answer was meant, given that it came out so
        likely = p if answer > 0.5 else 1.0 - p
        trust = (1.0 - rules.careless) * likely / ((1.0 - rules.careless) * likely + 0.5 * rules.careless)
    step = trust * kappa * (answer - p)
    bend = trust * kappa * kappa * p * (1.0 - p)
    a.mean += a.variance * step
    b.mean -= b.variance * step
    a.variance = max(a.variance * (1.0 - a.variance * bend), 1e-9)
    b.variance = max(b.variance * (1.0 - b.variance * bend), 1e-9)


@kernel
def tell(state: DuelsState, item: int, rival: int, answer: float) -> None:
    """An answer moves both."""
    learn(state, item, rival, answer)


@kernel
def void(state: DuelsState, item: int, rival: int) -> None:
    """Nothing was learnt."""


@kernel
def late(state: DuelsState, item: int, rival: int, answer: float) -> None:
    """An answer about candidates that are still there teaches as before."""
    where = state.board.items
    if where[item].where >= 0 and where[rival].where >= 0:
        learn(state, item, rival, answer)


@kernel
def leave(state: DuelsState, item: int) -> None:
    """The board knows."""


@kernel
def conclude(state: DuelsState, ended: int) -> None:
    """The strongest, as far as is known."""
    state.board.best[0] = best_of(state.items, state.board)
    state.board.round[0].size = 1
    end(state.board, ended, np.inf)


explores(DuelsState, begin=begin, propose=propose, tell=tell, void=void, late=late, leave=leave, conclude=conclude)

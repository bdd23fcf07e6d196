"""What `duels` keeps where questions have more than two options: beliefs about strengths, on several scales at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handful.core.kernels import kernel
from handful.core.objective import Floats, Ints
from handful.core.parts.belief import new_beliefs, reckon_all, standardised
from handful.core.parts.board import Board, Rows, new_board
from handful.core.parts.seen import new_seen

_SCALE = np.dtype(
    [
        ("variance", np.float64),  # of a strength, before anything is known
        ("widen", np.float64),  # variance added for the next round
        ("evidence", np.float64),  # the logarithm of how likely it held the answers that came
        ("trust", np.float64),  # how much strength a prior's score is worth, as far as is known
        ("doubt", np.float64),  # and the variance of that; 0 without a prior
    ],
    align=True,
)
_RULES = np.dtype(
    [
        ("careless", np.float64),  # share of answers taken for random ones
        ("rounds", np.int64),  # whether a round has begun before
        ("scale", np.int64),  # the one that chooses
        ("sure", np.float64),  # how sure the belief must be of the best to end a round before its budget; 0: never
    ],
    align=True,
)

_SCALES = (1.0, 0.5, 1.0 / 6.0, 8.0 / 3.0)  # of the prior variance and of what widens it; ties go to the first
_TRUST, _DOUBT = 0.3, 0.25  # what a score of one standard deviation is worth at first, and the variance of that


class ChoicesState(NamedTuple):
    """Strengths, as far as they are known."""

    board: Board
    options: Ints  # of the question at hand; -1 where there are fewer
    rules: Rows
    scales: Rows
    items: Rows  # strengths, on the scale that chooses
    own: Rows  # a row per scale: what of strengths a prior's score does not explain
    scores: Floats  # a prior's, standardised; else 0
    chances: Floats  # room for one number per option
    seen: Ints  # what whoever asks has been asked (`seen.py`)


def new_choices(
    size: int,
    k: int,
    seed: int,
    in_flight: int,
    options: int,
    prior: Floats | None,
    variance: float,
    widen: float,
    careless: float,
    sure: float,
) -> ChoicesState:
    """The state before the first round: all strengths alike, or as the prior's scores say."""
    rules, scales = np.zeros(1, _RULES), np.zeros(len(_SCALES), _SCALE)
    rules["careless"], rules["sure"] = careless, sure
    scales["variance"], scales["widen"] = variance * np.array(_SCALES), widen * np.array(_SCALES)
    standard = standardised(prior)
    if standard is not None:
        scales["trust"], scales["doubt"] = _TRUST, _DOUBT
    own = np.stack([new_beliefs(size, 0.0, v) for v in scales["variance"]])
    state = ChoicesState(
        new_board(size, k, seed, in_flight),
        np.full(options, -1, np.int64),
        rules,
        scales,
        new_beliefs(size, 0.0, variance),
        own,
        np.zeros(size) if standard is None else standard,
        np.zeros(options),
        new_seen(options),
    )
    add_up(state)
    return state


@kernel
def add_up(state: ChoicesState) -> None:
    """Strengths on the scale that chooses."""
    g = state.rules[0].scale
    reckon_all(state.items, state.own[g], state.scores, state.scales[g].trust, state.scales[g].doubt)

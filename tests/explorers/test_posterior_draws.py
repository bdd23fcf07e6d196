"""Who wins a posterior draw, and who is worth comparing with them: what is left out to save time changes neither."""

from __future__ import annotations

import math

import numpy as np

from handful.draws import BELIEF, normals
from handful.explorers.belief import drawn, left_of
from handful.explorers.board import Board, Rows
from handful.explorers.choices import ChoicesState
from handful.explorers.protocol import open_round, propose, tell
from handful.explorers.registry import Duels
from handful.explorers.strengths import hope_of
from handful.problem import Preferences, Problem


def state_of(size: int, answers: int) -> ChoicesState:
    """After so many answers, of which the largest number is always named."""
    state = Duels().build(Problem(size, 1, Preferences(options=4), budget=10_000, seed=5))
    assert isinstance(state, ChoicesState)
    open_round(state, 1, 10_000, 1)
    for n in range(answers):
        _, rival, given = propose(state, n)
        tell(state, int(state.options.max()), rival, given, 1.0)
    return state


def plainly_drawn(items: Rows, board: Board, n: int, reach: float) -> int:
    """The best of all candidates' draws."""
    r, candidates = board.round[0], board.open[: board.round["candidates"][0]]
    pairs, strengths = (len(candidates) + 1) // 2, []
    for p, i in enumerate(candidates):
        z = normals(r["seed"], r["round"], BELIEF, n * pairs + p // 2)[p % 2]
        strengths.append(items["mean"][i] + reach * math.sqrt(items["variance"][i]) * z)
    return int(candidates[np.argmax(strengths)])


def test_the_winner_of_a_draw_is_the_best_of_all_draws() -> None:
    for size, answers in ((41, 0), (41, 60), (300, 100)):
        state = state_of(size, answers)
        for n in range(200):
            found = drawn(state.belief.items, state.board, n, 0.7)
            assert found == plainly_drawn(state.belief.items, state.board, n, 0.7)


def test_those_who_are_shown_beside_the_lead_are_the_worthiest_of_all() -> None:
    for answers in (0, 1, 13, 61):
        state = state_of(40, answers)
        n = 3 * (answers + 1)  # no draws but the lead's, and no random rivals: it is before or off their turn
        n += 3 * (n % 6 == 4)
        lead, left = drawn(state.belief.items, state.board, n, 0.7), left_of(state.board)
        others = [int(i) for i in state.board.open if i != lead]
        worth = {i: hope_of(state.belief, state.board, lead, i, 4, left, 0.0) for i in others}
        propose(state, n)
        assert set(state.options) == {lead, *sorted(others, key=lambda i: -worth[i])[:3]}

"""Which rules a study goes by: those of today, or, where its journal is of another edition, those that it records.

A journal of another edition is followed, and nothing is decided (`explorers.recorded`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from handful.explorers.board import GAIN, SHARE, Board, View, mean_view
from handful.explorers.protocol import Explorer, State, drop, open_round, view_of
from handful.explorers.recorded import new_state
from handful.problem import Problem, ending_named
from handful.study.events import RoundClosed


def state_of(explorer: Explorer, problem: Problem, edition: int) -> State:
    """The explorer's state before the first round, without the items chosen at the start."""
    state = explorer.build(problem) if edition == explorer.edition else new_state(problem)
    for item in problem.chosen:
        drop(state, item)
    return state


def state_after(
    explorer: Explorer, problem: Problem, edition: int, closings: Iterable[RoundClosed], withdrawn: Iterable[int]
) -> State:
    """A state that knows the picks of these rounds and nothing else."""
    state = state_of(explorer, problem, edition)
    for closing in closings:
        open_round(state, closing.round, -1, 1)
        record(state.board, closing)
        drop(state, closing.pick)
    for item in withdrawn:
        drop(state, item)
    return state


def record(board: Board, event: RoundClosed) -> None:
    """Write onto the board how a round ended, as the journal records it."""
    board.best[: len(event.best)] = event.best
    board.round["size"] = len(event.best)
    board.round["pick"] = event.pick
    board.round["ended"] = ending_named(event.ended).code
    board.round["reached"] = np.inf if event.reached is None else event.reached


def view_by(explorer: Explorer, problem: Problem, edition: int, state: State) -> View:
    """What is known of each candidate in the open round: the explorer's view, or the mean answers."""
    if edition == explorer.edition:
        return view_of(explorer, problem, state)
    scale = SHARE if problem.feedback.compares else GAIN
    return mean_view(state.board, scale).without(state.board.items["where"] < 0)

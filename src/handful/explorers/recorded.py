"""An explorer that follows a journal and decides nothing: for what was recorded by rules that are no more.

It counts answers on the board as any explorer does. What is asked, when a round ends and what is picked, the journal
says.
"""

from __future__ import annotations

from typing import NamedTuple

from handful.explorers.board import NOBODY, NOW, Board, new_board
from handful.explorers.protocol import explores
from handful.kernels import kernel
from handful.problem import Problem


class RecordedState(NamedTuple):
    """The state: a board, and nothing else."""

    board: Board


def new_state(problem: Problem) -> RecordedState:
    """The state before the first round."""
    return RecordedState(new_board(problem.size, problem.k, problem.seed, problem.in_flight))


@kernel
def propose(state: RecordedState, n: int) -> tuple[int, int, int]:
    """Propose nothing: what was asked stands in the journal."""
    return -1, NOBODY, NOW


@kernel
def share(state: RecordedState) -> int:
    """The journal says when a round has spent enough."""
    return -1


explores(RecordedState, propose=propose, share=share)

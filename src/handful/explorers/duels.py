"""`duels`: direct comparisons between contenders, by a belief about how strong each item is.

The belief (`strengths.py`) is a Gaussian per item, by the model of Bradley, Terry, Plackett and Luce; the sharpness β
of the crowd is part of it and need not be known. A question pits the winner of a posterior draw (Thompson sampling:
many questions can be out at once, each with a draw of its own, taken nearer to the mean than it fell unless `sure` is
asked for) against the rival for whom an answer is worth most (`belief.py`; an answer about a difference of strengths
that is decided with chance p has a variance of 1/(p(1 − p))).
Every third question pits the winners of two draws: the belief may be too sure, and draws go on looking where it sees no
worth.
Where tastes differ, close contests alone may mislead: as the contest narrows, one question in six, then one in three,
then every other is against a random rival, and tells how often a contender beats all others. Nobody compares the same
two items twice in a round while they can be asked something else (`seen.py`). With `sure`, a round ends when the belief
is as sure as that of its best. Between rounds the belief is kept and widened: gains fall, some more than others. A late
answer still teaches.
Questions with more than two options are in `choices.py`.

The belief chooses *what to ask*, and the pick. It proves nothing: what may be claimed is in the certificate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from handful.certificates import (
    NO_GUARANTEE,
    Certificate,
    Evidence,
    claim_by_comparisons,
    comparisons_only,
    needs_a_budget,
    scores,
)
from handful.errors import InvalidProblem
from handful.explorers.belief import drawn, left_of, next_best
from handful.explorers.board import (
    NOW,
    STRENGTH,
    Board,
    Marks,
    View,
    belief_view,
    mark_compared,
    new_board,
    new_rival,
    no_marks,
    nothing_seen,
    pick_one,
    unmark_all,
)
from handful.explorers.choices import ChoicesState
from handful.explorers.protocol import Explorer, ExplorerState, explores
from handful.explorers.strengths import (
    NOBODY_LEADS,
    Strengths,
    averaged,
    hope_of,
    is_decided,
    learn,
    new_strengths,
    pick_of,
    reach_of,
    widen,
)
from handful.kernels import kernel
from handful.numbers import is_finite
from handful.problem import RULE, Ints, Problem

_EVERY = 3  # one question in so many is between the winners of two draws
_RANDOM = 6  # of so many questions,
_FROM = ((4, 1), (1, 6), (3, 15))  # these are against a random rival, each after so many questions per candidate
_AGAIN = 2**31  # the second draw of question n is the draw of question n + _AGAIN


class DuelsState(NamedTuple):
    """Strengths, as far as they are known."""

    board: Board
    belief: Strengths
    pair: Ints  # room for two items
    seen: Ints  # what whoever asks has been asked (`seen.py`)
    compared: Marks  # whom they have compared with the item at hand
    number: Ints  # of the question that is told


@kernel
def begin(state: DuelsState) -> None:
    """A later round starts from what is believed, with more doubt."""
    widen(state.belief, state.board)


@kernel
def propose(state: DuelsState, n: int) -> tuple[int, int, int]:
    """The winner of a posterior draw, and the rival who is worth comparing with it most; not what was asked before."""
    item, rival = _contest(state, n)
    unmark_all(state.seen, state.compared)
    return item, rival, NOW


@kernel
def _contest(state: DuelsState, n: int) -> tuple[int, int]:
    """The two items of question n."""
    board, belief, compared = state.board, state.belief, state.compared
    reach = (
        reach_of(belief, board) if belief.rules[0].sure == 0.0 else 1.0
    )  # to be sure of the best one must have looked far
    lead = drawn(belief.items, board, n, reach)
    mark_compared(state.seen, lead, compared)
    if _is_random(board, n):
        rival = new_rival(board, compared, lead, n)
        if rival >= 0:
            return rival, lead
    if n % _EVERY == _EVERY - 1:
        second = drawn(belief.items, board, n + _AGAIN, reach)
        if second != lead and not compared[second]:
            return second, lead
    rival = _worthiest(state, lead, False)
    if rival >= 0:
        return rival, lead
    again, other = _worthiest(state, lead, True), -1
    for _ in range(board.round[0].candidates):  # the lead was compared with everybody: is there one who was not?
        other = next_best(belief.items, board, other)
        unmark_all(state.seen, compared)
        mark_compared(state.seen, other, compared)
        rival = _worthiest(state, other, False)
        if rival >= 0:
            return rival, other
    return again, lead


@kernel
def _worthiest(state: DuelsState, lead: int, again: bool) -> int:
    """The rival whose comparison with `lead` is worth most, among those who were compared with it or not; else -1."""
    board, left = state.board, left_of(state.board)
    best, most = -1, 0.0
    for p in range(board.round[0].candidates):
        i = board.open[p]
        if i == lead or state.compared[i] != again:
            continue
        hope = hope_of(state.belief, board, lead, i, 2, left, most)
        if hope > most or best < 0:
            best, most = i, hope
    return best


@kernel
def _is_random(board: Board, n: int) -> bool:
    """Whether question n of the round is against a random rival."""
    random = False
    for at, after in _FROM:
        random |= n % _RANDOM == at and n >= after * board.round[0].candidates
    return random


@kernel
def _learn(state: DuelsState, item: int, rival: int, answer: float) -> None:
    """The item was preferred to the rival, or not."""
    state.pair[0], state.pair[1] = item, rival
    lead = rival if _is_random(state.board, state.number[0]) else NOBODY_LEADS
    learn(state.belief, state.board, state.pair, item if answer > 0.5 else rival, lead)
    state.pair[0], state.pair[1] = -1, -1
    state.number[0] = -1


@kernel
def asked(state: DuelsState, n: int) -> None:
    """To propose changes nothing."""


@kernel
def tell(state: DuelsState, item: int, rival: int, given: int, answer: float) -> None:
    """Move the beliefs about both items; the round is over when it is sure of the best."""
    _learn(state, item, rival, answer)
    if is_decided(state.belief, state.board):
        conclude(state, RULE)


@kernel
def late(state: DuelsState, item: int, rival: int, given: int, answer: float) -> None:
    """An answer about candidates that are still there teaches as before."""
    where = state.board.items
    if where[item].where >= 0 and where[rival].where >= 0:
        _learn(state, item, rival, answer)


@kernel
def conclude(state: DuelsState, ended: int) -> None:
    """The strongest, as far as is known."""
    pick_one(state.board, pick_of(state.belief, state.board), ended, np.inf)


explores(DuelsState, begin=begin, propose=propose, asked=asked, tell=tell, late=late, conclude=conclude)


@dataclass(frozen=True)
class Duels(Explorer):
    """Choices between contenders, by a belief about strengths. Needs no knowledge of β; any budget will do.

    `variance` and `widen` are where the belief starts from: it learns how far strengths lie apart. With `sure`, a round
    ends as soon as the belief holds its best for the best with that probability; the budget is then an upper limit.
    """

    name: ClassVar[str] = "duels"
    order: ClassVar[Literal["item", "none"]] = "none"
    variance: float = 1.5
    widen: float = 0.1
    careless: float = 0.1
    sure: float | None = None

    def __post_init__(self) -> None:
        if not (is_finite(self.variance) and self.variance > 0):
            raise InvalidProblem(f"variance of strengths must be a positive number, got {self.variance!r}")
        if not (is_finite(self.widen) and self.widen >= 0):
            raise InvalidProblem(f"widen is a variance added between rounds, 0 or more, got {self.widen!r}")
        if not (is_finite(self.careless) and 0 <= self.careless < 1):
            raise InvalidProblem(f"careless is a share of answers, from 0 to less than 1, got {self.careless!r}")
        if self.sure is not None and not (is_finite(self.sure) and 0.5 <= self.sure < 1):
            raise InvalidProblem(f"sure is a probability, from 0.5 to less than 1, or None, got {self.sure!r}")

    def build(self, problem: Problem) -> ExplorerState:
        """The state before the first round; values, or no budget, are refused."""
        comparisons_only(self.name, problem)
        needs_a_budget(self.name, problem)
        options = problem.feedback.options
        board = new_board(problem.size, problem.k, problem.seed, problem.in_flight)
        belief = new_strengths(
            problem.size, options, scores(problem), self.variance, self.widen, self.careless, self.sure or 0.0
        )
        place, number = np.full(options, -1, np.int64), np.full(1, -1, np.int64)
        seen, marks = nothing_seen(options), no_marks(problem.size)
        if options > 2:
            return ChoicesState(board, place, belief, seen, marks, number)
        return DuelsState(board, belief, place, seen, marks, number)

    def view(self, problem: Problem, state: DuelsState | ChoicesState) -> View:
        """Its belief about strengths."""
        mean, variance = averaged(state.belief)
        return belief_view(mean, variance, STRENGTH)

    def claim(self, evidence: Evidence, state: DuelsState | ChoicesState) -> Certificate:
        """What the comparisons show of rivals; nothing of how close a pick is to the best."""
        return claim_by_comparisons(evidence, NO_GUARANTEE, by_rounds=False)

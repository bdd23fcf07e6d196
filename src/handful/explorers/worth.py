"""`worth`: values under a budget too small for any guarantee.

It has a belief about gains (`parts/gains.py`) that is learnt from answers alone: nothing needs to be known, and neither
the unit of answers nor where their zero is makes a difference. What is learnt before the first pick serves all rounds.

First it looks around (`parts/looking.py`): items are asked about once, and the better of them again. Then each round
gets an even share of what is left, and a question asks about the item whose answers are worth most each
(`parts/belief.py`); questions in flight count as answered. So that it goes on looking where the belief sees no worth,
what is not asked about yet is believed to vary more than what is. How often a pick leaves other gains as they were is
learnt from round to round.

It proves nothing: what may be claimed is in the certificate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from handful.certificates import NO_GUARANTEE, Certificate, Evidence, claim_of, needs_a_budget, scores
from handful.errors import UnknownExplorer
from handful.explorers.belief import left_of
from handful.explorers.board import NOBODY, NOW, Board, Rows, View, belief_view, even_share, new_board, pick_one
from handful.explorers.gains import (
    Gains,
    Looking,
    add_answer,
    begin_round,
    forget,
    leader,
    look,
    new_gains,
    new_looking,
    renew,
    start_looking,
    worthiest,
)
from handful.explorers.protocol import Explorer, ExplorerState, explores
from handful.kernels import kernel
from handful.problem import Floats, Problem, Values

_BOLD = 2.0
_NEVER = 2**62

_RULES = np.dtype(
    [
        ("looked", np.int64),  # questions of this round that were for looking around
    ],
    align=True,
)
MUCH = 0.9  # of the best possible one: nobody would ask for more proof
NOT_FOR_PROOF = (
    "these answers went into finding good items, not into proving how good they are: with a ratio or an epsilon asked "
    "for, and a budget that is large enough for a proof, more would be proved"
)


class WorthState(NamedTuple):
    """`worth` in the middle of its work."""

    board: Board
    rules: Rows
    gains: Gains
    looking: Looking


def _new_worth(size: int, k: int, seed: int, in_flight: int, prior: Floats | None = None) -> WorthState:
    """Nothing is known; a prior's scores say whom to ask about first."""
    board = new_board(size, k, seed, in_flight)
    gains = new_gains(size, seed, 0.0, _BOLD, learns=True)
    return WorthState(board, np.zeros(1, _RULES), gains, new_looking(size, seed, prior))


@kernel
def begin(state: WorthState) -> None:
    """Look around while nothing is believed; else start from what is believed, with more doubt."""
    begin_round(state.gains)
    state.rules[0].looked = 0
    state.looking.rules[0].looking = 0
    if state.gains.rules[0].spread == 0.0:
        start_looking(state.looking, state.board)


@kernel
def share(state: WorthState) -> int:
    """While it looks around, all that is left; then an even share of what that left, and one question at least."""
    r, looked = state.board.round[0], state.rules[0].looked
    if state.looking.rules[0].looking == 1:
        return r.left
    rest = r.left - looked
    return looked + max(min(rest, 1), even_share(rest, r.rounds))


@kernel
def _look(state: WorthState) -> int:
    """Whom to ask about while looking around; less than 0 to wait, or when that is over."""
    r = state.board.round[0]
    before = share(state)
    item = look(state.looking, state.gains, state.board)
    if state.looking.rules[0].looking == 0:
        state.rules[0].looked = r.asked
        if r.limit >= 0:
            r.limit += share(state) - before
    return item


@kernel
def propose(state: WorthState, n: int) -> tuple[int, int, int]:
    """Whoever is next in looking around; then whoever is worth it most."""
    if state.looking.rules[0].looking == 1:
        item = _look(state)
        if state.looking.rules[0].looking == 1:
            return item, NOBODY, NOW
    item, _ = worthiest(state.gains, state.board, left_of(state.board))
    return item, NOBODY, NOW


@kernel
def asked(state: WorthState, n: int) -> None:
    """To look around is to go through a queue; else to propose changes nothing."""
    if state.looking.rules[0].looking == 1:
        _look(state)


@kernel
def tell(state: WorthState, item: int, rival: int, given: int, answer: float) -> None:
    """One belief moves; now and then all of them, when noise and spread are learnt anew."""
    add_answer(state.gains, item, answer, _NEVER)


@kernel
def leave(state: WorthState, item: int) -> None:
    """Nothing more is believed of an item that is no candidate."""
    forget(state.gains, item)


@kernel
def conclude(state: WorthState, ended: int) -> None:
    """Pick the item of the best belief; where nothing is believed, the first in order."""
    board, gains = state.board, state.gains
    if gains.rules[0].spread == 0.0 and gains.rules[0].counted > 0:
        renew(gains)
    best = leader(gains)
    if gains.rules[0].spread == 0.0:
        for p in range(len(state.looking.queue) - 1, -1, -1):
            item = state.looking.queue[p]
            best = item if board.items[item].where >= 0 else best
    pick_one(board, best, ended, np.inf)


explores(
    WorthState,
    begin=begin,
    share=share,
    propose=propose,
    asked=asked,
    tell=tell,
    leave=leave,
    conclude=conclude,
)


@dataclass(frozen=True)
class Worth(Explorer):
    """Values under a budget too small for any guarantee: ask what promises most, by a belief about gains."""

    name: ClassVar[str] = "worth"

    def build(self, problem: Problem) -> ExplorerState:
        """The state before the first round; comparisons, or no budget, are refused. The noise need not be known."""
        if not isinstance(problem.feedback, Values):
            raise UnknownExplorer("worth asks for values; for comparisons use duels")
        needs_a_budget(self.name, problem)
        return _new_worth(problem.size, problem.k, problem.seed, problem.in_flight, scores(problem))

    def view(self, problem: Problem, state: WorthState) -> View:
        """The belief about gains, and two standard deviations; nothing before the first answers were read."""
        if state.gains.rules["spread"][0] == 0.0:
            nothing = np.full(len(state.gains.items), np.nan)
            return belief_view(nothing, np.full(len(nothing), np.inf))
        items, origin = state.gains.items, state.gains.rules["origin"][0]
        return belief_view(items["mean"] + origin, items["variance"])

    def claim(self, evidence: Evidence, state: WorthState) -> Certificate:
        """What the answers show, if the noise is known, and how more could be shown."""
        shown = claim_of(evidence, NO_GUARANTEE)
        asked = evidence.problem.epsilon is not None or evidence.problem.ratio is not None
        if asked or shown.ratio is None or shown.ratio >= MUCH:
            return shown
        return replace(shown, reasons=(*shown.reasons, NOT_FOR_PROOF))

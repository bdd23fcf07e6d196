"""`duels` with more than two options a question: which of m is the best addition, by Plackett and Luce.

A question shows the winner of a posterior draw and the rivals for whom an answer is worth most against it; every third
question shows the winners of m draws, as far as they differ. The options are in random order, which says nothing.

As the contest narrows, one question in six shows a contender among random rivals, and tells how often it is named among
all others. Which option that is, the number of the question tells: its place among them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handful.core.draws import PLACES, below
from handful.core.endings import RULE
from handful.core.explorers.protocol import explores
from handful.core.kernels import kernel
from handful.core.objective import Ints
from handful.core.parts.belief import best_of, drawn, left_of
from handful.core.parts.board import NOW, Board, pick_one, rival_of, surprise
from handful.core.parts.seen import has_compared
from handful.core.parts.strengths import NOBODY_LEADS, REACH, Strengths, hope_of, learn, widen
from handful.core.parts.sureness import is_decided

_EVERY = 3  # one question in so many shows the winners of draws alone
_RANDOM, _AT = 6, 4  # one question in so many, and which, shows a contender among random rivals,
_NARROW = 1.0  # after so many questions per candidate
_LATER, _MORE_AT = 3, 1  # after so many, this one does, too
_TRIES = 8  # to find a rival who is new to whoever asks
_AGAIN = 2**31  # the q-th draw of question n is the draw of question n + q·_AGAIN


class ChoicesState(NamedTuple):
    """Strengths, as far as they are known."""

    board: Board
    options: Ints  # of the question at hand; -1 where there are fewer
    belief: Strengths
    seen: Ints  # what whoever asks has been asked (`seen.py`)
    number: Ints  # of the question that is told


@kernel
def begin(state: ChoicesState) -> None:
    """A later round starts from what is believed, with more doubt."""
    widen(state.belief, state.board)


@kernel
def _is_in(state: ChoicesState, item: int, size: int) -> bool:
    """Whether `item` is among the first `size` options."""
    found = False
    for q in range(size):
        found |= state.options[q] == item
    return found


@kernel
def _add_worthiest(state: ChoicesState, lead: int, start: int, size: int) -> None:
    """Fill the options from `start` on with those whose comparison with `lead` is worth most."""
    board, options, hopes = state.board, state.options, state.belief.chances
    left, kept = left_of(board), start
    for p in range(board.round[0].candidates):
        i = board.open[p]
        if _is_in(state, i, start):
            continue
        full = kept == size
        hope = _hope(state, lead, i, left, hopes[size - 1] if full else 0.0)
        if full and hope <= hopes[size - 1]:
            continue
        at = kept - 1 if full else kept
        while at > start and hopes[at - 1] < hope:
            options[at], hopes[at] = options[at - 1], hopes[at - 1]
            at -= 1
        options[at], hopes[at] = i, hope
        kept = min(kept + 1, size)


@kernel
def _hope(state: ChoicesState, lead: int, i: int, left: float, most: float) -> float:
    """What it is worth to compare item i with `lead`; 0 if that is less than `most`."""
    return hope_of(state.belief, state.board, lead, i, len(state.options), left, most)


@kernel
def _is_new(state: ChoicesState, item: int, size: int) -> bool:
    """Whether whoever asks has compared `item` with none of the first `size` options."""
    found = False
    for q in range(size):
        found |= has_compared(state.seen, state.options[q], item)
    return not found


@kernel
def _add_new(state: ChoicesState, lead: int, start: int, size: int) -> None:
    """As `_add_worthiest`, of those whom this person has not compared with any option yet; then of all."""
    board, left = state.board, left_of(state.board)
    for at in range(start, size):
        best, most, new = -1, 0.0, False
        for p in range(board.round[0].candidates):
            i = board.open[p]
            if _is_in(state, i, at):
                continue
            is_new = _is_new(state, i, at)
            if new and not is_new:
                continue
            floor = most if new == is_new else 0.0
            hope = _hope(state, lead, i, left, floor)
            if best < 0 or hope > floor or is_new != new:
                best, most, new = i, hope, is_new
        state.options[at] = best


@kernel
def propose(state: ChoicesState, n: int) -> tuple[int, int, int]:
    """The winner of a posterior draw, and those who are worth comparing with it most; or a random rival."""
    board, options = state.board, state.options
    lead = drawn(state.belief.items, board, n, REACH)
    for q in range(len(options)):
        options[q] = -1
    if not _against_random(state, lead, n):
        _choose(state, lead, n)
    for q in range(1, len(options)):
        if options[q] >= 0:
            board.items[options[q]].waiting += 1
    return options[0], options[1], NOW


@kernel
def _is_random(board: Board, n: int) -> bool:
    """Whether question n of the round shows a contender among random rivals."""
    at, candidates = n % _RANDOM, board.round[0].candidates
    return (at == _AT and n >= _NARROW * candidates) or (at == _MORE_AT and n >= _LATER * candidates)


@kernel
def _against_random(state: ChoicesState, lead: int, n: int) -> bool:
    """Show the lead among random rivals, if that is question n's part and such rivals can be had."""
    options, size = state.options, min(len(state.options), state.board.round[0].candidates)
    if not _is_random(state.board, n):
        return False
    options[0] = lead
    for q in range(1, size):
        for t in range(_TRIES):
            rival = rival_of(state.board, lead, n + (q * _TRIES + t) * _AGAIN)
            if not _is_in(state, rival, q) and _is_new(state, rival, q):
                options[q] = rival
                break
        if options[q] < 0:
            return False
    at = n // _RANDOM % size
    options[0], options[at] = options[at], options[0]
    return True


@kernel
def _choose(state: ChoicesState, lead: int, n: int) -> None:
    """Show the lead and those who are worth comparing with it most, or the winners of draws; in random order."""
    board, options, items = state.board, state.options, state.belief.items
    size, kept = min(len(options), board.round[0].candidates), 1
    options[0] = lead
    if n % _EVERY == _EVERY - 1:
        for q in range(1, size):
            other = drawn(items, board, n + q * _AGAIN, REACH)
            if not _is_in(state, other, kept) and _is_new(state, other, kept):
                options[kept] = other
                kept += 1
    if state.seen[0, 0] < 0:
        _add_worthiest(state, lead, kept, size)
    else:
        _add_new(state, lead, kept, size)
    r = board.round[0]
    for p in range(size - 1, 0, -1):
        q = below(p + 1, r.seed, r.round, PLACES, n * len(options) + p)
        options[p], options[q] = options[q], options[p]
    for q in range(len(state.belief.chances)):  # leave no trace of a reckoning: states are compared to the bit
        state.belief.chances[q] = 0.0


@kernel
def asked(state: ChoicesState, n: int) -> None:
    """To propose changes nothing but what any explorer's board notes."""


@kernel
def _learn(state: ChoicesState, named: int) -> None:
    """Who was named among the options teaches."""
    shown, lead, n = 0, NOBODY_LEADS, state.number[0]
    for q in range(len(state.options)):
        shown += 1 if state.options[q] >= 0 else 0
    if _is_random(state.board, n):
        lead = state.options[n // _RANDOM % shown]
    learn(state.belief, state.board, state.options, named, lead)
    state.number[0] = -1


@kernel
def tell(state: ChoicesState, item: int, rival: int, given: int, answer: float) -> None:
    """`item` was named among the options: the others were not, and the beliefs about all of them move."""
    for q in range(len(state.options)):
        i = state.options[q]
        if i >= 0 and i != item:
            row = state.board.items[i]
            row.waiting -= 1
            row.spread += surprise(row.count, row.total, 0.0)
            row.count += 1
    _learn(state, item)
    if is_decided(state.belief, state.board):
        conclude(state, RULE)


@kernel
def void(state: ChoicesState, item: int, rival: int, given: int) -> None:
    """Nobody named any of the options, and nobody will."""
    for q in range(len(state.options)):
        i = state.options[q]
        if i >= 0 and i != item:
            state.board.items[i].waiting -= 1


@kernel
def late(state: ChoicesState, item: int, rival: int, given: int, answer: float) -> None:
    """An answer that names a candidate teaches as one among the options that are candidates still."""
    where, there = state.board.items, 0
    for q in range(len(state.options)):
        i = state.options[q]
        if i >= 0 and where[i].where >= 0:
            there += 1
    if there > 1 and where[item].where >= 0:
        _learn(state, item)


@kernel
def conclude(state: ChoicesState, ended: int) -> None:
    """The strongest, as far as is known."""
    pick_one(state.board, best_of(state.belief.items, state.board), ended, np.inf)


explores(
    ChoicesState,
    begin=begin,
    propose=propose,
    asked=asked,
    tell=tell,
    void=void,
    late=late,
    conclude=conclude,
)

"""`duels` with more than two options a question: which of m is the best addition, by Plackett and Luce.

A question shows the winner of a posterior draw and the rivals for whom an answer is worth most against it; every third
question shows the winners of m draws, as far as they differ. The options are in random order, which says nothing.

As the contest narrows, one question in six shows a contender among random rivals, and tells how often it is named among
all others. Which option that is, the number of the question tells: its place among them.

Nobody is shown two options that they have compared in this round while there are as many others of which they have
compared no two: where the winner of the draw has too few such rivals, the next best by belief leads. They are looked
for one after the other, and not in every combination.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handful.draws import PLACES, below
from handful.explorers.belief import drawn, left_of, next_best
from handful.explorers.board import NOW, Board, Marks, mark_compared, pick_one, rival_of, surprise, unmark_all
from handful.explorers.protocol import explores
from handful.explorers.strengths import NOBODY_LEADS, Strengths, hope_of, is_decided, learn, pick_of, reach_of, widen
from handful.kernels import kernel
from handful.problem import RULE, Ints

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
    compared: Marks  # whom they have compared with the options at hand
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
def _add_worthiest(state: ChoicesState, lead: int, start: int, size: int, compared: bool) -> None:
    """Fill the options from `start` on with those whose comparison with `lead` is worth most, by whether marked."""
    board, options, hopes = state.board, state.options, state.belief.chances
    left, kept = left_of(board), start
    like, hope = -1, 0.0  # who was reckoned with last
    for q in range(start, size):
        options[q] = -1
    for p in range(board.round[0].candidates):
        i = board.open[p]
        if state.compared[i] != compared or _is_in(state, i, start):
            continue
        full = kept == size
        if like < 0 or not _are_alike(state, i, like):  # many are: those who were never shown
            hope = _hope(state, lead, i, left, hopes[size - 1] if full else 0.0)
            like = i
        if full and hope <= hopes[size - 1]:
            continue
        at = kept - 1 if full else kept
        while at > start and hopes[at - 1] < hope:
            options[at], hopes[at] = options[at - 1], hopes[at - 1]
            at -= 1
        options[at], hopes[at] = i, hope
        kept = min(kept + 1, size)


@kernel
def _are_alike(state: ChoicesState, i: int, j: int) -> bool:
    """Whether nothing that `_hope` looks at tells two items apart."""
    g, belief, items = state.belief.rules[0].best, state.belief, state.board.items
    alike = belief.items[i].mean == belief.items[j].mean and belief.scores[i] == belief.scores[j]
    return alike and belief.own[g, i].variance == belief.own[g, j].variance and items[i].waiting == items[j].waiting


@kernel
def _hope(state: ChoicesState, lead: int, i: int, left: float, most: float) -> float:
    """What it is worth to compare item i with `lead`; 0 if that is less than `most`."""
    return hope_of(state.belief, state.board, lead, i, len(state.options), left, most)


@kernel
def _show(state: ChoicesState, at: int, item: int) -> None:
    """Make `item` an option, and mark whom whoever asks has compared with it."""
    state.options[at] = item
    mark_compared(state.seen, item, state.compared)


@kernel
def _show_first(state: ChoicesState, lead: int) -> None:
    """Make `lead` the only option."""
    for q in range(len(state.options)):
        state.options[q] = -1
    unmark_all(state.seen, state.compared)
    _show(state, 0, lead)


@kernel
def _add_new(state: ChoicesState, lead: int, start: int, size: int, again: bool) -> bool:
    """Fill the options from `start` on with the worthiest whom this person has compared with no other option.

    Where there are none any more, with the worthiest of the others, if `again`. Says whether all places were filled.
    """
    at = start
    while at < size:
        _add_worthiest(state, lead, at, size, False)
        if state.options[at] < 0:
            if again:
                _add_worthiest(state, lead, at, size, True)
            return again
        while at < size and state.options[at] >= 0 and not state.compared[state.options[at]]:
            _show(state, at, state.options[at])
            at += 1
    return True


@kernel
def _find_new(state: ChoicesState, size: int) -> bool:
    """Show options of which this person has compared no two: the best lead by belief that has such rivals."""
    lead = -1
    for _ in range(state.board.round[0].candidates):
        lead = next_best(state.belief.items, state.board, lead)
        _show_first(state, lead)
        if _add_new(state, lead, 1, size, False):
            return True
    return False


@kernel
def propose(state: ChoicesState, n: int) -> tuple[int, int, int]:
    """The winner of a posterior draw, and those who are worth comparing with it most; or a random rival."""
    board, options = state.board, state.options
    lead = drawn(state.belief.items, board, n, reach_of(state.belief, board))
    _show_first(state, lead)
    if not _against_random(state, lead, n):
        _choose(state, lead, n)
    unmark_all(state.seen, state.compared)
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
    for q in range(1, size):
        for t in range(_TRIES):
            rival = rival_of(state.board, lead, n + (q * _TRIES + t) * _AGAIN)
            if not state.compared[rival] and not _is_in(state, rival, q):
                _show(state, q, rival)
                break
        if options[q] < 0:
            return False
    at = n // _RANDOM % size
    options[0], options[at] = options[at], options[0]
    return True


@kernel
def _begin_with(state: ChoicesState, lead: int, n: int, size: int) -> int:
    """Show the lead, and every third time the winners of other draws, as far as they are new; how many that are."""
    _show_first(state, lead)
    kept = 1
    if n % _EVERY == _EVERY - 1:
        reach = reach_of(state.belief, state.board)
        for q in range(1, size):
            other = drawn(state.belief.items, state.board, n + q * _AGAIN, reach)
            if not state.compared[other] and not _is_in(state, other, kept):
                _show(state, kept, other)
                kept += 1
    return kept


@kernel
def _choose(state: ChoicesState, lead: int, n: int) -> None:
    """Show the lead and those who are worth comparing with it most, or the winners of draws; in random order."""
    board, options = state.board, state.options
    size = min(len(options), board.round[0].candidates)
    kept = _begin_with(state, lead, n, size)
    if state.seen[0, 0] < 0:  # where the draws have filled all places, the worthiest takes the last of them
        _add_worthiest(state, lead, kept, size, False)
    elif not _add_new(state, lead, kept, size, False) and not _find_new(state, size):
        _add_new(state, lead, _begin_with(state, lead, n, size), size, True)
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
    pick_one(state.board, pick_of(state.belief, state.board), ended, np.inf)


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

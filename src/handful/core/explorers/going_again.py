"""Going through an open round again from its start, in compiled code: other answers count now than did before."""

from __future__ import annotations

from handful.core.endings import BUDGET, OPEN
from handful.core.explorers.protocol import State, conclude, late, propose, tell, void
from handful.core.kernels import kernel
from handful.core.objective import Floats, Ints
from handful.core.parts.board import NOW, Board
from handful.core.parts.options import put_number, put_options, take_options

ASKED, DONE, LATE_TOLD = range(3)
"""What happened to a question in the round; the log of a round has 4·question and one of these."""
GONE, VOIDED, LEFT_OUT = 1, 2, 4
"""What is to be known of a question: an item of it was withdrawn, it was voided, its answer does not count."""


@kernel
def go_again(
    state: State, log: Ints, asks: Ints, tells: Ints, answers: Floats, options: Ints, flags: Ints, first: int, row: Ints
) -> None:
    """Go through the log of a round that has just been opened; `first` is the round's first question.

    The log counts questions as the columns do, which may begin with one of an earlier round. `asks` and `tells` have
    the item, the rival and what is given, as asked and as told. `row` is as long as a row of `options`, which has no
    length where there are two at most.
    """
    board = state.board
    r = board.round[0]
    for at in range(len(log)):
        q = log[at] >> 2
        step, flag = log[at] & 3, flags[q]
        if step == ASKED:
            if r.ended == OPEN and flag & GONE == 0:
                _ask_again(state, asks[q], options[q], q - first, row)
        elif step == LATE_TOLD or r.ended != OPEN:
            if flag & (VOIDED | LEFT_OUT) == 0:
                put_number(state, -1)
                put_options(state, options[q])
                late(state, tells[q, 0], tells[q, 1], tells[q, 2], answers[q])
        elif flag & (VOIDED | LEFT_OUT) == 0:
            put_number(state, q - first)
            put_options(state, options[q])
            tell(state, tells[q, 0], tells[q, 1], tells[q, 2], answers[q])
        else:
            if flag & GONE == 0:
                put_number(state, q - first)
                put_options(state, options[q])
                void(state, asks[q, 0], asks[q, 1], asks[q, 2])
            if flag & VOIDED == 0 and r.limit >= 0:  # it was paid for all the same, and leaves less for the others
                r.limit -= 1
                if r.limit <= r.counted:
                    conclude(state, BUDGET)


@kernel
def _ask_again(state: State, asked: Ints, options: Ints, number: int, row: Ints) -> None:
    """Change what choosing question `number` changes, and note on the board what was asked in its place."""
    item, rival, given = propose(state, number)
    same = item == asked[0] and rival == asked[1] and given == asked[2]
    if item >= 0:
        take_options(state, row)
        for o in range(2, len(row)):
            same = same and row[o] == options[o]
    if not same:
        if item >= 0:
            _note(state.board, item, given, row, -1)
        _note(state.board, asked[0], asked[2], options, 1)


@kernel
def _note(board: Board, item: int, given: int, options: Ints, change: int) -> None:
    """One question more or fewer is in flight, about an item or all options."""
    board.round[0].asked += change
    if given == NOW:
        board.items[item].waiting += change
        for o in range(1, len(options)):
            if options[o] >= 0:
                board.items[options[o]].waiting += change

"""The options of a question with more than two, and its number: where a state has them, and how they get there.

A state of such an explorer has an array `options`, or `number`; for all others, these functions do nothing.
"""

from __future__ import annotations

from typing import Any

from handful.core.kernels import kernel, overload
from handful.core.objective import Ints
from handful.core.parts.board import Board


def _take(state: Any, row: Ints) -> None: ...


def _put(state: Any, row: Ints) -> None: ...


def _wait(state: Any) -> None: ...


def _number(state: Any, n: int) -> None: ...


@kernel
def _copy(source: Ints, target: Ints) -> None:
    for q in range(len(source)):
        target[q] = source[q]


@kernel
def _note_others(board: Board, options: Ints) -> None:
    for q in range(1, len(options)):
        if options[q] >= 0:
            board.items[options[q]].waiting += 1


@overload(_take)
def _take_of(state: Any, row: Any) -> Any:
    if "options" not in state.fields:
        return lambda state, row: None
    return lambda state, row: _copy(state.options, row)


@overload(_put)
def _put_of(state: Any, row: Any) -> Any:
    if "options" not in state.fields:
        return lambda state, row: None
    return lambda state, row: _copy(row, state.options)


@overload(_wait)
def _wait_of(state: Any) -> Any:
    if "options" not in state.fields:
        return lambda state: None
    return lambda state: _note_others(state.board, state.options)


@overload(_number)
def _number_of(state: Any, n: Any) -> Any:
    if "number" not in state.fields:
        return lambda state, n: None

    def number(state, n):  # type: ignore[no-untyped-def]
        state.number[0] = n

    return number


@kernel
def put_number(state: Any, n: int) -> None:
    """The question that is told is number `n` of this round; -1 for one of a round that is over."""
    _number(state, n)


@kernel
def take_options(state: Any, row: Ints) -> None:
    """Copy the options of the question just proposed to `row`."""
    _take(state, row)


@kernel
def put_options(state: Any, row: Ints) -> None:
    """Copy the options of the question that is told, void or late from `row`."""
    _put(state, row)


@kernel
def wait_for_others(state: Any) -> None:
    """A question about all options is in flight; of the first it is noted on the board already."""
    _wait(state)

"""The one small protocol of all explorers, compiled.

An explorer is a state (a NamedTuple of arrays with a `board` in it) and seven kernels, registered with `explores`:

    begin(state)                          a round begins; the board is cleared already
    propose(state, n) -> (item, rival)    what question n of this round asks; rival is -1 for a value (-2 - i: given
                                          the first i picks alone, which does not enter the board),
                                          item is -1 when there is nothing to ask until an answer comes;
                                          then the state is as it was, for nothing records that somebody asked
    tell(state, item, rival, answer)      an answer counts, and is on the board already; per item in the order asked
    void(state, item, rival)              a question will never be answered
    late(state, item, rival, answer)      an answer came after its round: it may teach a belief, never a bound
    leave(state, item)                    the item is a candidate no more: picked, withdrawn or chosen at the start
    conclude(state, ended)                the round must end now (its budget is spent, or somebody says so): fill A

The functions below are what everybody else calls, from compiled code and from Python alike: they see to the board,
to the limits of the round and to a single candidate, and then call the explorer's own kernel. Whether a round is
decided stands on the board (`board.round["ended"]`). They never look at a clock and draw by counter, so that
the same questions and answers lead to the same state, to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Protocol

from handful.core.guarantees import Guarantee
from handful.core.kernels import contains, kernel, overload
from handful.core.parts.board import (
    ALONE,
    BUDGET,
    OPEN,
    Board,
    clear,
    end,
    note_asked,
    note_counted,
    note_void,
    remove,
    room,
)
from handful.core.problem import Problem


class State(Protocol):
    """What any explorer keeps: a board, and its own arrays beside it."""

    @property
    def board(self) -> Board:
        """The part all explorers share."""


class Explorer(Protocol):
    """What all settings share.

    order: "item" if answers about an item must be told in the order they were asked, because they enter bounds;
    "none" if they only teach a belief and may be told as they come.
    """

    name: ClassVar[str]
    order: ClassVar[Literal["item", "none"]]

    def guarantee(self, problem: Problem) -> Guarantee:
        """What is promised if every round is decided by its rule."""

    def build(self, problem: Problem) -> State:
        """The compiled state, ready for the first round."""


_KERNELS: dict[type, dict[str, Callable[..., Any]]] = {}


def explores(state: type, **kernels: Callable[..., Any]) -> None:
    """Register an explorer's kernels for its type of state."""
    missing = {"begin", "propose", "tell", "void", "late", "leave", "conclude"} - kernels.keys()
    assert not missing, f"{state.__name__} lacks {missing}"
    _KERNELS[state] = kernels
    contains(state, kernels)


def _begin(state: State) -> None: ...


def _propose(state: State, n: int) -> tuple[int, int]: ...  # type: ignore[empty-body]


def _tell(state: State, item: int, rival: int, answer: float) -> None: ...


def _void(state: State, item: int, rival: int) -> None: ...


def _late(state: State, item: int, rival: int, answer: float) -> None: ...


def _leave(state: State, item: int) -> None: ...


def _conclude(state: State, ended: int) -> None: ...


@overload(_begin)
def _begin_of(state: Any) -> Any:
    own = _KERNELS[state.instance_class]["begin"]
    return lambda state: own(state)


@overload(_propose)
def _propose_of(state: Any, n: Any) -> Any:
    own = _KERNELS[state.instance_class]["propose"]
    return lambda state, n: own(state, n)


@overload(_tell)
def _tell_of(state: Any, item: Any, rival: Any, answer: Any) -> Any:
    own = _KERNELS[state.instance_class]["tell"]
    return lambda state, item, rival, answer: own(state, item, rival, answer)


@overload(_void)
def _void_of(state: Any, item: Any, rival: Any) -> Any:
    own = _KERNELS[state.instance_class]["void"]
    return lambda state, item, rival: own(state, item, rival)


@overload(_late)
def _late_of(state: Any, item: Any, rival: Any, answer: Any) -> Any:
    own = _KERNELS[state.instance_class]["late"]
    return lambda state, item, rival, answer: own(state, item, rival, answer)


@overload(_leave)
def _leave_of(state: Any, item: Any) -> Any:
    own = _KERNELS[state.instance_class]["leave"]
    return lambda state, item: own(state, item)


@overload(_conclude)
def _conclude_of(state: Any, ended: Any) -> Any:
    own = _KERNELS[state.instance_class]["conclude"]
    return lambda state, ended: own(state, ended)


@kernel
def open_round(state: State, round_: int, limit: int) -> None:
    """Begin round `round_`, which may cost `limit` answers (-1: any number). A single candidate is picked unasked."""
    clear(state.board, round_, limit)
    r = state.board.round[0]
    if r.candidates == 1:
        state.board.best[0] = state.board.open[0]
        r.size = 1
        end(state.board, ALONE, 0.0)
        return
    _begin(state)
    if limit == 0 and r.ended == OPEN:
        _conclude(state, BUDGET)


@kernel
def propose(state: State, number: int) -> tuple[int, int]:
    """What question `number` of this round asks: (item, rival); (-1, -1) if nothing may be asked now."""
    if not room(state.board):
        return -1, -1
    item, rival = _propose(state, number)
    if item >= 0:
        note_asked(state.board, item, rival)
    return item, rival


@kernel
def tell(state: State, item: int, rival: int, answer: float) -> None:
    """An answer counts; the round may be decided by it, or be out of budget after it."""
    note_counted(state.board, item, rival, answer)
    r = state.board.round[0]
    _tell(state, item, rival, answer)
    if r.ended == OPEN and 0 <= r.limit <= r.counted:
        _conclude(state, BUDGET)


@kernel
def void(state: State, item: int, rival: int) -> None:
    """A question of this round will never be answered, and costs nothing."""
    note_void(state.board, item, rival)
    _void(state, item, rival)


@kernel
def late(state: State, item: int, rival: int, answer: float) -> None:
    """An answer to a question of a round that is over."""
    _late(state, item, rival, answer)


@kernel
def drop(state: State, item: int) -> None:
    """`item` is a candidate no more: between rounds, or before an open round is gone through again."""
    remove(state.board, item)
    _leave(state, item)


@kernel
def conclude(state: State, ended: int) -> None:
    """End the round now, with what is known."""
    if state.board.round[0].ended == OPEN:
        _conclude(state, ended)

"""What all explorers share: the settings' base class, and the one small protocol of their kernels.

An explorer is settings (a frozen dataclass derived from `Explorer`), a state (a NamedTuple of arrays with a `board` in
it) and kernels, registered with `explores`. It must have the first; a kernel that it does not need is left out:

    propose(state, n) -> (item, rival, given)
                                    what question n of this round asks: a value where rival is NOBODY; given NOW (all
                                    picks so far) or the first `given` picks alone, which does not enter the board.
                                    item is -1 when there is nothing to ask until an answer comes;
                                    then the state is as it was, for nothing records that somebody asked
    asked(state, n)                 change what `propose(state, n)` changes, and choose nothing: for explorers that
                                    search long, so that a journal is read again quickly. If it is left out, `propose`
    begin(state)                    a round begins; the board is cleared already
    share(state) -> int             how many answers this round may cost of the `left` on the board, which are for
                                    all `rounds` left: an even share if it is left out. An explorer that ends its rounds
                                    itself, when it knows enough, gives `left`. Asked after `begin`, and before and
                                    after the budget grows
    tell(state, item, rival, given, answer)
                                    an answer counts, and is on the board already; per item in the order asked
    void(state, item, rival, given) a question will never be answered
    late(state, item, rival, given, answer)
                                    an answer came after its round: it may teach a belief, never a bound
    leave(state, item)              the item is a candidate no more: picked, withdrawn or chosen at the start
    conclude(state, ended)          the round must end now (its budget is spent, or somebody says so): fill A.
                                    If it is left out, A is the item of the best mean

An explorer whose questions may have more than two options has an array `options` in its state: those of the question
at hand, -1 where there are fewer. `propose` fills it (item and rival are the first two) and notes on the board that the
others wait too; whoever calls `tell`, `void` or `late` puts them there first. In `tell` and `late`, `item` is then the
option that was named, and the answer is 1.
One that must know which question of the round is told has an array `number`, which is put there likewise; and one that
asks nobody the same twice has an array `seen` (`parts/seen.py`), which is put there before `propose`.

The functions below are what everybody else calls, from compiled code and from Python alike: they see to the board,
to the limits of the round and to a single candidate, and then call the explorer's own kernel. Whether a round is
decided stands on the board (`board.round["ended"]`). They never look at a clock and draw by counter, so that
the same questions and answers lead to the same state, to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from handful.certificates import NO_GUARANTEE, Certificate, Evidence, Guarantee
from handful.explorers.board import (
    GAIN,
    NOBODY,
    NOW,
    SHARE,
    Board,
    View,
    clear,
    even_share,
    mean,
    mean_view,
    note_asked,
    note_counted,
    note_void,
    pick_one,
    remove,
    room,
)
from handful.kernels import contains, kernel, overload
from handful.problem import ALONE, BUDGET, OPEN, Floats, Ints, Problem

NOTHING_CLAIMED = "this explorer claims nothing about its picks"


class ExplorerState(Protocol):
    """What any explorer keeps: a board, and its own arrays beside it."""

    @property
    def board(self) -> Board:
        """The part all explorers share."""


class Explorer:
    """The settings of an explorer, by which it is chosen, and all that is said of it.

    order: "item" if answers about an item must be told in the order they were asked, because they enter bounds;
    "none" if they only teach a belief and may be told as they come.
    rules: the number of the rules by which it asks, stops and picks, raised whenever they change. A journal records it;
    one of other rules is read as it was recorded, and not gone on with.
    """

    name: ClassVar[str]
    order: ClassVar[Literal["item", "none"]] = "item"
    rules: ClassVar[int] = 1

    def build(self, problem: Problem) -> ExplorerState:
        """The compiled state, ready for the first round; a problem that it cannot work on is refused."""
        raise NotImplementedError

    def guarantee(self, problem: Problem) -> Guarantee:
        """What is promised if every round is decided by its rule."""
        return NO_GUARANTEE

    def view(self, problem: Problem, state: Any) -> View:
        """What it knows of each item in the open round: its mean answer, if it says nothing else."""
        return mean_view(state.board, SHARE if problem.feedback.compares else GAIN)

    def claim(self, evidence: Evidence, state: Any) -> Certificate:
        """What may be claimed about the picks after these rounds: nothing, if it says nothing else."""
        return Certificate(reasons=(NOTHING_CLAIMED,))


def view_of(explorer: Explorer, problem: Problem, state: ExplorerState) -> View:
    """The explorer's own view of every candidate, and nothing of items that are picked or withdrawn."""
    return explorer.view(problem, state).without(state.board.items["where"] < 0)


_KERNELS: dict[type, dict[str, Callable[..., Any]]] = {}
_NAMES = {"begin", "share", "propose", "asked", "tell", "void", "late", "leave", "conclude"}


def explores(state: type, *, propose: Callable[..., Any], **kernels: Callable[..., Any]) -> None:
    """Register an explorer's kernels for its type of state; those left out do nothing, or pick the best mean."""
    unknown = kernels.keys() - _NAMES
    assert not unknown, f"{state.__name__} has kernels that nothing calls: {unknown}"
    _KERNELS[state] = {"propose": propose, **kernels}
    contains(state, _KERNELS[state])


def _begin(state: ExplorerState) -> None: ...


def _share(state: ExplorerState) -> int: ...  # type: ignore[empty-body]


def _propose(state: ExplorerState, n: int) -> tuple[int, int, int]: ...  # type: ignore[empty-body]


def _asked(state: ExplorerState, n: int) -> None: ...


def _tell(state: ExplorerState, item: int, rival: int, given: int, answer: float) -> None: ...


def _void(state: ExplorerState, item: int, rival: int, given: int) -> None: ...


def _late(state: ExplorerState, item: int, rival: int, given: int, answer: float) -> None: ...


def _leave(state: ExplorerState, item: int) -> None: ...


def _conclude(state: ExplorerState, ended: int) -> None: ...


@overload(_begin)
def _begin_of(state: Any) -> Any:
    own = _KERNELS[state.instance_class].get("begin")
    return (lambda state: own(state)) if own else lambda state: None


@overload(_share)
def _share_of(state: Any) -> Any:
    own = _KERNELS[state.instance_class].get("share", _even_share)
    return lambda state: own(state)


@kernel
def _even_share(state: ExplorerState) -> int:
    return even_share(state.board.round[0].left, state.board.round[0].rounds)


@overload(_propose)
def _propose_of(state: Any, n: Any) -> Any:
    own = _KERNELS[state.instance_class]["propose"]
    return lambda state, n: own(state, n)


@overload(_asked)
def _asked_of(state: Any, n: Any) -> Any:
    kernels = _KERNELS[state.instance_class]
    own = kernels.get("asked", kernels["propose"])

    def asked(state, n):  # type: ignore[no-untyped-def]
        own(state, n)

    return asked


@overload(_tell)
def _tell_of(state: Any, item: Any, rival: Any, given: Any, answer: Any) -> Any:
    own = _KERNELS[state.instance_class].get("tell")
    if own is None:
        return lambda state, item, rival, given, answer: None
    return lambda state, item, rival, given, answer: own(state, item, rival, given, answer)


@overload(_void)
def _void_of(state: Any, item: Any, rival: Any, given: Any) -> Any:
    own = _KERNELS[state.instance_class].get("void")
    if own is None:
        return lambda state, item, rival, given: None
    return lambda state, item, rival, given: own(state, item, rival, given)


@overload(_late)
def _late_of(state: Any, item: Any, rival: Any, given: Any, answer: Any) -> Any:
    own = _KERNELS[state.instance_class].get("late")
    if own is None:
        return lambda state, item, rival, given, answer: None
    return lambda state, item, rival, given, answer: own(state, item, rival, given, answer)


@overload(_leave)
def _leave_of(state: Any, item: Any) -> Any:
    own = _KERNELS[state.instance_class].get("leave")
    return (lambda state, item: own(state, item)) if own else lambda state, item: None


@overload(_conclude)
def _conclude_of(state: Any, ended: Any) -> Any:
    own = _KERNELS[state.instance_class].get("conclude", _conclude_with_best_mean)
    return lambda state, ended: own(state, ended)


@kernel
def _conclude_with_best_mean(state: ExplorerState, ended: int) -> None:
    """Pick the best mean of the round; ties, and a round without answers, go to the first candidate."""
    board = state.board
    best = board.open[0]
    for p in range(board.round[0].candidates):
        i = board.open[p]
        if mean(board, i) > mean(board, best):
            best = i
    pick_one(board, best, ended, np.inf)


@kernel
def open_round(state: ExplorerState, round_: int, left: int, rounds: int) -> None:
    """Begin round `round_`. It is one of `rounds` left, which may cost `left` answers in all (-1: any number).

    Where every candidate will be picked, nothing needs to be asked.
    """
    clear(state.board, round_, left, rounds)
    r = state.board.round[0]
    if r.candidates <= rounds:
        pick_one(state.board, state.board.open[0], ALONE, 0.0)
        return
    _begin(state)
    if left >= 0:
        r.limit = _share(state)
    if r.limit == 0 and r.ended == OPEN:
        _conclude(state, BUDGET)


@kernel
def extend(state: ExplorerState, answers: int) -> int:
    """So many answers more may be spent; give how many of them in this round."""
    r = state.board.round[0]
    before = _share(state)
    r.left += answers
    more = _share(state) - before
    r.limit += more
    return more


@kernel
def propose(state: ExplorerState, number: int) -> tuple[int, int, int]:
    """What question `number` of this round asks: (item, rival, given); item is -1 if nothing may be asked now."""
    if not room(state.board):
        return -1, NOBODY, NOW
    item, rival, given = _propose(state, number)
    if item >= 0:
        note_asked(state.board, item, given)
    return item, rival, given


@kernel
def tell(state: ExplorerState, item: int, rival: int, given: int, answer: float) -> None:
    """An answer counts; the round may be decided by it, or be out of budget after it."""
    note_counted(state.board, item, given, answer)
    r = state.board.round[0]
    _tell(state, item, rival, given, answer)
    if r.ended == OPEN and 0 <= r.limit <= r.counted:
        _conclude(state, BUDGET)


@kernel
def asked(state: ExplorerState, number: int, item: int, given: int, options: Ints) -> None:
    """Question `number` of this round was asked as a journal records it; `options` has no length where there are two
    at most.
    """
    if room(state.board):
        _asked(state, number)
    note_asked(state.board, item, given)
    put_options(state, options)
    wait_for_others(state)


@kernel
def void(state: ExplorerState, item: int, rival: int, given: int) -> None:
    """A question of this round will never be answered, and costs nothing."""
    note_void(state.board, item, given)
    _void(state, item, rival, given)


@kernel
def late(state: ExplorerState, item: int, rival: int, given: int, answer: float) -> None:
    """An answer to a question of a round that is over."""
    _late(state, item, rival, given, answer)


@kernel
def drop(state: ExplorerState, item: int) -> None:
    """`item` is a candidate no more: between rounds, or before an open round is gone through again."""
    remove(state.board, item)
    _leave(state, item)


@kernel
def conclude(state: ExplorerState, ended: int) -> None:
    """End the round now, with what is known."""
    if state.board.round[0].ended == OPEN:
        _conclude(state, ended)


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


ASKED, DONE, LATE_TOLD = range(3)
"""What happened to a question in the round; the log of a round has 4·question and one of these."""
GONE, VOIDED, LEFT_OUT = 1, 2, 4
"""What is to be known of a question: an item of it was withdrawn, it was voided, its answer does not count."""


@kernel
def go_again(
    state: ExplorerState,
    log: Ints,
    asks: Ints,
    tells: Ints,
    answers: Floats,
    options: Ints,
    flags: Ints,
    first: int,
    row: Ints,
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
def _ask_again(state: ExplorerState, asked: Ints, options: Ints, number: int, row: Ints) -> None:
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

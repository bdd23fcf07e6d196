"""Columns of numbers as arrays, and the arrays that a state is made of."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np

from handful import events
from handful.events import RoundClosed
from handful.explorers.board import ALL, FIRST, GAIN, NOW, SHARE, Board, Marks, Mask, View, first_order, means_of
from handful.explorers.protocol import (
    ASKED,
    DONE,
    GONE,
    LATE_TOLD,
    LEFT_OUT,
    VOIDED,
    asked,
    conclude,
    drop,
    extend,
    go_again,
    late,
    open_round,
    propose,
    tell,
    view_of,
    void,
)
from handful.problem import BUDGET, CLOSED, Budget, Floats, Ints, Problem, Total, Unlimited, ending_named, ending_of
from handful.problem import OPEN as UNDECIDED
from handful.questions import ANSWERED, LATE, PROVISIONAL, UNANSWERED, VOID, Lines, Questions
from handful.setup import Setup
from handful.workers import Workers


def array_of_column(column: array[Any]) -> np.ndarray[Any, Any]:
    """A copy of a column: nothing can be appended to a column while somebody, such as compiled code, holds a view."""
    return np.array(column, dtype=column.typecode)


def arrays_of(state: Any) -> Iterator[np.ndarray[Any, Any]]:
    """All arrays of a state, in order."""
    for part in state:
        if isinstance(part, np.ndarray):
            yield part
        else:
            yield from arrays_of(part)


def copied(state: Any) -> Any:
    """A state with arrays of its own."""
    return type(state)(*(part.copy() if isinstance(part, np.ndarray) else copied(part) for part in state))


class PackedNumbers:
    """An array of numbers that does not change. Where most of them are the same one, only the others are kept."""

    __slots__ = ("_fill", "_size", "_values", "_where")

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        bits = np.ascontiguousarray(values).view(np.int64)
        middle = len(bits) // 2
        self._size = len(values)
        most = np.partition(bits, middle)[middle : middle + 1].copy()  # what most are, if most are the same
        self._fill = most.view(values.dtype)
        others = np.flatnonzero(bits != self._fill.view(np.int64))
        few = 2 * len(others) < len(bits)
        self._where: np.ndarray[Any, Any] | None = others.astype(np.int32) if few else None
        self._values = values[others] if few else values.copy()

    def unpacked(self) -> np.ndarray[Any, Any]:
        """The whole array, a new one each time."""
        if self._where is None:
            return self._values.copy()
        whole = np.repeat(self._fill, self._size)
        whole[self._where] = self._values
        return whole


@dataclass(frozen=True)
class _PackedView:
    mean: PackedNumbers
    lower: PackedNumbers
    upper: PackedNumbers
    scale: str
    believed: bool


class ClosedRound:
    """A round that is over."""

    __slots__ = ("_answers", "_means", "_spreads", "_view", "closing", "excluded_by_hand", "questions")

    def __init__(
        self,
        closing: events.RoundClosed,
        questions: range,
        answers: Ints,
        means: Floats,
        spreads: Floats,
        view: View,
        excluded_by_hand: bool,
    ) -> None:
        self.closing, self.questions = closing, questions
        self.excluded_by_hand = excluded_by_hand  # whether answers were left out that no rule fixed before excludes
        self._answers, self._means, self._spreads = (PackedNumbers(a) for a in (answers, means, spreads))
        mean, lower, upper = (PackedNumbers(a) for a in (view.mean, view.lower, view.upper))
        self._view = _PackedView(mean, lower, upper, view.scale, view.believed)

    @property
    def answers(self) -> Ints:
        """How many were counted, per item."""
        return self._answers.unpacked()

    @property
    def means(self) -> Floats:
        """Of the answers counted; nan where there are none."""
        return self._means.unpacked()

    @property
    def spreads(self) -> Floats:
        """Σ (answer − mean of those before it)², as on the board."""
        return self._spreads.unpacked()

    @property
    def view(self) -> View:
        """Of the explorer, when the round closed."""
        of = self._view
        return View(of.mean.unpacked(), of.lower.unpacked(), of.upper.unpacked(), of.scale, of.believed)


_NO_ROOM = np.zeros(0, np.int64)
Proposal = tuple[int, ...]  # item, rival, given, and the options after item and rival


class Options:
    """Between the columns of questions and the place that an explorer's state may have for the options of one."""

    def __init__(self, state: Any, questions: Questions) -> None:
        self._place: Ints | None = getattr(state, "options", None)
        self._number: Ints | None = getattr(state, "number", None)
        self.asks_by_person = hasattr(state, "seen")  # whether the explorer asks nobody the same twice
        self._questions = questions
        self._board: Board = state.board

    def proposed(self) -> tuple[int, ...]:
        """The options after the second of the question that was just proposed."""
        return () if self._place is None else tuple(int(i) for i in self._place[2:] if i >= 0)

    def waited_for(self, asked: Proposal) -> list[int]:
        """The items of which the board notes that a question is in flight: the first, or all options."""
        return [asked[0]] if self._place is None else [asked[0], asked[1], *asked[3:]]

    def row(self, question: int) -> Ints:
        """The options as the explorer's state has room for them: of no length where it has none."""
        if self._place is None:
            return _NO_ROOM
        options = self._questions.options(question)
        row = np.full(len(self._place), -1, np.int64)
        row[: len(options)] = options
        return row

    def show(self, question: int) -> None:
        """Let the explorer see the options of a question."""
        if self._place is not None:
            self._place[:] = self.row(question)

    def rows(self, numbers: range) -> Ints:
        """The options of many questions, a row for each."""
        rows = np.full((len(numbers), 0 if self._place is None else len(self._place)), -1, np.int64)
        if self._place is not None:
            questions, here = self._questions, slice(numbers.start, numbers.stop)
            two = np.column_stack([questions.item[here], questions.rival[here]])
            given = np.hstack([two, questions.others(here)]) if questions.names_one else two
            rows[:, : given.shape[1]] = given
        return rows

    def about(self, question: int, number: int) -> tuple[int, int, int]:
        """The item, the rival and what is given; the explorer is shown the options, and the number in its round."""
        questions = self._questions
        if self._number is not None:
            self._number[0] = number
        self.show(question)
        return questions.item[question], questions.rival[question], questions.given[question]

    def swap(self, proposed: Proposal | None, recorded: Proposal | None) -> None:
        """Note on the board the question that was recorded instead of the one that is proposed."""
        for question, change in ((proposed, -1), (recorded, 1)):
            if question is not None:
                self._board.round["asked"] += change
                if question[2] == NOW:
                    self._board.items["waiting"][self.waited_for(question)] += change

    def answered(self, question: int, number: int) -> tuple[int, int, int, float]:
        """What the explorer is told of a question: that the item was named, or how it was compared or valued."""
        item, rival, given = self.about(question, number)
        answer = self._questions.answer[question]
        if not self._questions.names_one:
            return item, rival, given, answer
        named = int(answer)
        return named, rival if named != rival else item, given, 1.0


_SHIFT = 32  # a pair of items is kept as one number, which takes the least room
_STANDS = (ANSWERED, LATE)  # while an answer may still be revised, any option may be named


class SeenQuestions:
    """The questions of the open round by the person who was shown them; only people with a name."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._shown: dict[str, array[int]] = {}
        # By the pairs of items in them, as many as were needed; most are never.
        self._with: dict[str, dict[int, list[int]]] = {}
        self._sorted: dict[str, int] = {}  # how many of those shown are there

    def begin(self) -> None:
        """A round begins, in which nobody was shown anything yet."""
        self._shown = {}
        self._with.clear()
        self._sorted.clear()

    def show(self, question: int, worker: str) -> None:
        """Note that a worker is shown a question that compares items."""
        shown = self._shown.get(worker)
        if shown is None:
            self._shown[worker] = array("i", [question])
        else:
            shown.append(question)

    def rows_for(self, worker: str | None) -> Ints | None:
        """What the worker has compared, for the explorer; None where there is nothing."""
        shown = self._shown.get(worker or "")
        if shown is None:
            return None
        questions, numbers = self._questions, np.array(shown)
        more = len(questions.more) // len(questions)  # options after the second, as many for each question
        rows = np.empty((len(shown), 3 + more), np.int64)
        rows[:, 0] = ALL
        rows[:, 1] = _view(questions.item, np.int32)[numbers]
        rows[:, 2] = _view(questions.rival, np.int32)[numbers]
        if questions.names_one:
            rows[:, 3:] = _view(questions.more, np.int32).reshape(-1, more)[numbers]
            answered = np.isin(_view(questions.standing, np.int8)[numbers], _STANDS)
            _put_first(rows, answered, _view(questions.answer, np.float64)[numbers].astype(np.int64))
        return rows

    def would_repeat(self, question: int, worker: str | None) -> bool:
        """Whether the worker was asked to compare two of its items in this round."""
        by_pair = self._by_pair(worker or "")
        return any(
            pair in self._compared(earlier)
            for pair in self._pairs(question)
            for earlier in by_pair.get(pair, ())
            if earlier != question
        )

    def _by_pair(self, worker: str) -> dict[int, list[int]]:
        """What a worker was shown, by the pairs of items in it."""
        shown, by_pair = self._shown.get(worker, ()), self._with.setdefault(worker, {})
        for question in shown[self._sorted.get(worker, 0) :]:
            for pair in self._pairs(question):
                by_pair.setdefault(pair, []).append(question)
        self._sorted[worker] = len(shown)
        return by_pair

    def _pairs(self, question: int) -> list[int]:
        """The pairs of items that a question asks to compare."""
        options = sorted(self._questions.options(question))
        return [low << _SHIFT | high for low, high in combinations(options, 2)]

    def _compared(self, question: int) -> list[int]:
        """The pairs of items that a question compared, or that it asks to compare."""
        named = self._named(question)
        if named is None:
            return self._pairs(question)
        others = (other for other in self._questions.options(question) if other != named)
        return [min(named, other) << _SHIFT | max(named, other) for other in others]

    def _named(self, question: int) -> int | None:
        """The option that was named, of more than two; None where nothing says yet, and of two, where any says all."""
        questions = self._questions
        if not questions.names_one or questions.standing[question] not in _STANDS:
            return None
        return int(questions.answer[question])


def _put_first(rows: Ints, answered: Marks, named: Ints) -> None:
    """Of the questions that are answered, let the option that was named be the first, in the place of that one."""
    here, place = np.nonzero((rows[:, 1:] == named[:, None]) & answered[:, None])
    rows[here, 1 + place] = rows[here, 1]
    rows[here, 1] = named[here]
    rows[here, 0] = FIRST


def _view(column: array[Any], kind: type[np.generic]) -> np.ndarray[Any, Any]:
    """A column without a copy; to be used at once, as it cannot grow meanwhile."""
    return np.frombuffer(column, dtype=kind)


class Rounds:
    """The explorer's arrays, and the log of the open round that they can be made again from.

    Where a journal is by another handful or by other rules (`follows`), the explorer is asked and told nothing: what
    was asked and picked, the journal says.
    """

    def __init__(self, setup: Setup, questions: Questions, workers: Workers) -> None:
        self.follows = not setup.is_current
        self._problem, self._explorer = setup.problem, setup.explorer
        self._questions, self._workers = questions, workers
        self._in_order = getattr(setup.explorer, "order", "item") == "item"
        self._stale = False  # whether who counts has changed since the open round was gone through
        self._proposal: Proposal | None = None
        self._proposed_to: str | None = None
        self.budget: Budget = setup.problem.total or Unlimited()
        self.withdrawn: set[int] = set()
        self.closed: list[ClosedRound] = []
        self.seen, self._lines = SeenQuestions(questions), Lines(questions)
        self._begin(setup.problem)

    def _begin(self, problem: Problem) -> None:
        """Have this problem from the start, before anything was asked."""
        self._problem = problem
        self._state: Any = self._explorer.build(problem)
        self._look()
        for item in (*problem.chosen, *self.withdrawn):
            drop(self._state, item)
        self.round = len(problem.chosen)
        self._open_next(0)

    begin_anew = _begin

    def _look(self) -> None:
        """Views of the board's fields: cheaper than looking them up."""
        self._ended = self._state.board.round["ended"].data
        self._limit = self._state.board.round["limit"]
        self._counted = self._state.board.round["counted"]
        self.options = Options(self._state, self._questions)

    # ---- What there is to see ----

    @property
    def state(self) -> Any:
        """The explorer's arrays, with all that has happened so far."""
        if self._stale:
            self.catch_up()
        return self._state

    @property
    def decided(self) -> bool:
        """Whether the open round has its pick, and waits to be closed."""
        if self._stale:
            self.catch_up()
        return bool(self._ended[0] != UNDECIDED) and not self.follows

    @property
    def counted(self) -> int:
        """Answers counted in the open round."""
        return int(self._counting().sum()) if self.follows else int(self.state.board.round["counted"][0])

    @property
    def counts(self) -> Ints:
        """For each item, how many answers of the open round are about it."""
        if self.follows:
            return self._tally()[0]
        if not self._in_order:
            return self.answers_about(range(self.first, len(self._questions)))
        count: Ints = self.state.board.items["count"].copy()
        return count

    @property
    def waiting(self) -> Ints:
        """For each item, how many questions about it are asked in the open round and not counted yet."""
        if self.follows:
            return self._about(range(self.first, len(self._questions)), UNANSWERED, PROVISIONAL)
        waiting: Ints = self.state.board.items["waiting"].copy()
        return waiting

    @property
    def all_picked(self) -> bool:
        """Whether every round is closed."""
        return self.round > self._problem.k

    @property
    def candidates(self) -> int:
        """How many items may still be picked."""
        return int(self.state.board.round["candidates"][0])

    @property
    def all_out(self) -> bool:
        """Whether as many questions are unanswered as may be, and the round could still pay for one more."""
        r = self.state.board.round[0]
        full = r["asked"] - r["counted"] >= r["in_flight"] and (r["limit"] < 0 or r["asked"] < r["limit"])
        return bool(full) and not self.decided and not self.all_picked

    def view(self) -> View:
        """What is known of each candidate in the open round: the explorer's view, or the mean answers."""
        return self._view_of_answers() if self.follows else view_of(self._explorer, self._problem, self.state)

    def snapshot(self, questions: Questions, workers: Workers) -> Self:
        """A copy to look at, with copies of the questions and workers: it is asked and told nothing."""
        self.catch_up()
        seen = copy(self)
        seen._questions, seen._workers = questions, workers
        seen._state, seen.withdrawn, seen.closed = copied(self._state), set(self.withdrawn), list(self.closed)
        seen._look()
        return seen

    def arrays(self) -> list[np.ndarray[Any, Any]]:
        """All arrays of the explorer's state."""
        return list(arrays_of(self.state))

    # ---- Questions ----

    def proposal(self, worker: str | None = None) -> Proposal | None:
        """The next question for a worker, or None; asking twice changes nothing until `asked` is called."""
        if self._stale:
            self.catch_up()
        by_person = self.options.asks_by_person
        if by_person and self._proposal and self._proposed_to != worker:
            self.options.swap(self._proposal, None)  # what was proposed to somebody else is not asked
            self._proposal = None
        if self._proposal is None and not self.all_picked and not self.follows:
            self._proposed_to = worker
            rows = self.seen.rows_for(worker) if by_person else None
            state = self._state if rows is None else self._state._replace(seen=rows)
            proposed = propose(state, len(self._questions) - self.first)
            if proposed[0] >= 0:
                self._proposal = proposed + self.options.proposed()
        return self._proposal

    def would_repeat(self, question: int, worker: str | None) -> bool:
        """Whether the worker was asked to compare two of its items in this round, where the explorer avoids that."""
        return self.options.asks_by_person and self.seen.would_repeat(question, worker)

    def asked(self, item: int, rival: int, given: int, more: tuple[int, ...]) -> None:
        """The next question was asked, whether or not it is the one that was proposed."""
        if self._stale:
            self.catch_up()
        question = len(self._questions)
        self._questions.add(self.round, item, rival, given, more)
        if self._in_order:
            self._lines.of(question).append(question)
        if self.follows:
            return
        proposed, self._proposal = self._proposal, None
        if proposed is None:
            asked(self._state, question - self.first, item, given, self.options.row(question))
        elif proposed != (item, rival, given, *more):
            self.options.swap(proposed, (item, rival, given, *more))
            self.options.show(question)
        self._log.append(4 * question + ASKED)

    # ---- Answers ----

    def done(self, question: int) -> None:
        """The question has its answer or never will: tell the explorer whatever is due now."""
        if self._stale:
            self.catch_up()
        if question < self.first:
            self._tell_late(question)
        elif self.follows:
            return
        elif self._in_order:
            line = self._lines.of(question)
            self._count_along(line)
            if not line:
                self._lines.forget(question)
        elif self.decided:
            self._too_late.append(question)
        else:
            self._count(question)

    def _count_along(self, line: deque[int]) -> None:
        """Count what is due at the head of a line."""
        standing = self._questions.standing
        while line and standing[line[0]] in (ANSWERED, VOID) and self._ended[0] == UNDECIDED:
            self._count(line.popleft())

    def _count(self, question: int) -> None:
        """Tell the explorer. An answer that may not count was paid for all the same, and leaves less for the others."""
        self._log.append(4 * question + DONE)
        questions = self._questions
        answered = questions.standing[question] != VOID
        if answered and self._counts(question):
            tell(self._state, *self.options.answered(question, question - self.first))
            return
        if self.withdrawn.isdisjoint(questions.options(question)):
            void(self._state, *self.options.about(question, question - self.first))
        if answered and self._limit[0] >= 0:
            self._limit[0] -= 1
            if self._limit[0] <= self._counted[0] and self._ended[0] == UNDECIDED:
                conclude(self._state, BUDGET)

    def _counts(self, question: int) -> bool:
        """Whether the answer to the question may be counted."""
        if self.withdrawn and not self.withdrawn.isdisjoint(self._questions.options(question)):
            return False
        return not self._workers.is_excluded(self._questions.worker[question])

    def _tell_late(self, question: int) -> None:
        if self._questions.standing[question] == ANSWERED:
            self._questions.standing[question] = LATE
            if self.follows:
                return
            self._log.append(4 * question + LATE_TOLD)
            if self._counts(question):
                late(self._state, *self.options.answered(question, -1))

    # ---- The end of a round ----

    def closing(self) -> RoundClosed:
        """The event that closes the decided round."""
        r = self.state.board.round[0]
        best = tuple(int(i) for i in self.state.board.best[: int(r["size"])])
        reached = float(r["reached"]) if np.isfinite(r["reached"]) else None
        return RoundClosed(self.round, ending_of(r["ended"]).name, best, int(r["pick"]), reached)

    def conclude_early(self) -> None:
        """Decide the open round with what is known."""
        if not self.follows:
            conclude(self.state, CLOSED)

    def fill(self) -> None:
        """Decide the open round for the candidate of which the best mean is known, without another question."""
        best = self._best_known()
        pick = next(int(i) for i in first_order(self._problem.size, self._problem.seed) if best[i])
        self._decide(RoundClosed(self.round, "filled", (pick,), pick))

    def _best_known(self) -> Mask:
        """Those of the best mean in the latest round that knows of any, and of these those of the best prior."""
        candidates: Mask = self.state.board.items["where"] >= 0
        for view in (self.view(), *(closed.view for closed in reversed(self.closed))):
            known = candidates & np.isfinite(view.mean)
            if known.any():
                candidates = known & (view.mean == view.mean[known].max())
                break
        prior = self._problem.prior
        if prior is None:
            return candidates
        scores = np.where(candidates, np.array(prior), -np.inf)
        best: Mask = candidates & (scores == scores.max())
        return best

    def _decide(self, event: RoundClosed) -> None:
        """Write onto the board how the round ended, as the journal records it."""
        board = self._state.board
        board.best[: len(event.best)] = event.best
        board.round["size"] = len(event.best)
        board.round["pick"] = event.pick
        board.round["ended"] = ending_named(event.ended).code
        board.round["reached"] = np.inf if event.reached is None else event.reached

    def close(self, event: RoundClosed, spent: int) -> None:
        """Close the round as the journal says, and open the next; `spent` is what all answers so far cost.

        What was answered but never counted is late, and the pick is a candidate no more.
        """
        if event.ended == "closed":
            self.conclude_early()
        if self.follows or not self.decided or self.closing() != event:
            self.catch_up()
            self._decide(event)
        self.closed.append(self._closed_round(event))
        for question in sorted([*self._too_late, *(q for line in self._lines for q in line)]):
            if self._questions.standing[question] == ANSWERED and not self.follows:
                self._tell_late(question)
        drop(self._state, event.pick)
        self._open_next(spent)

    def _closed_round(self, event: RoundClosed) -> ClosedRound:
        questions = range(self.first, len(self._questions))
        by_hand = self._workers.any_excluded_by_hand
        items, means = self._state.board.items, means_of(self._state.board)
        if self.follows:
            means = self._tally()[1]
        return ClosedRound(event, questions, self.counts, means, items["spread"].copy(), self.view(), by_hand)

    def answers_about(self, numbers: range) -> Ints:
        """For each item, how many of these questions' answers are about it, as any of the options."""
        return self._about(numbers, ANSWERED)

    def _about(self, numbers: range, *standings: int) -> Ints:
        """For each item, how many of these questions that stand so show it, as any of the options."""
        questions, here = self._questions, slice(numbers.start, numbers.stop)
        answered = np.isin(np.asarray(questions.standing[here]), standings)
        item, rival = (np.asarray(side[here], dtype=np.int64)[answered] for side in (questions.item, questions.rival))
        size = self._problem.size
        counts: Ints = np.bincount(item, minlength=size) + np.bincount(rival[rival >= 0], minlength=size)
        if questions.names_one:
            more = questions.others(here)[answered].ravel()
            counts += np.bincount(more[more >= 0], minlength=size)
        return counts

    def extend(self, answers: int) -> None:
        """The budget grows, and the open round's share of it."""
        assert isinstance(self.budget, Total)
        self.catch_up()  # by the budget that there was
        self.budget = Total(self.budget.answers + answers)
        if not self.all_picked:
            self.limit += extend(self.state, answers)

    def _open_next(self, spent: int) -> None:
        self.round += 1
        self.first = len(self._questions)
        self._proposal = None
        self.seen.begin()
        self._log = array("q")
        self._lines.clear()
        self._too_late: list[int] = []  # answered after the round was decided and before it was closed
        self._spent_before = spent
        self._before = [] if self.all_picked else [array_.copy() for array_ in arrays_of(self.state)]
        self.limit = 0
        if not self.all_picked:
            self._open_board()
            self.limit = int(self._limit[0])

    def _open_board(self) -> None:
        left = self.budget.left(self._spent_before)
        open_round(self._state, self.round, left, self._problem.k - self.round + 1)

    # ---- Counting a round again ----

    def withdraw(self, item: int) -> None:
        """An item is a candidate no more, and what was answered about it does not count."""
        self.withdrawn.add(item)
        self.count_again()

    def count_again(self) -> None:
        """Go through the open round again, before anything else happens in it: the answers that count are others now.

        That is done once, however many say so one after another: nothing is counted for the first time between them.
        """
        self._stale = not self.all_picked
        if self._stale and self._any_waits_to_count():
            self.catch_up()

    def _any_waits_to_count(self) -> bool:
        """Whether there are answers that were not counted only because the round was decided."""
        standing = self._questions.standing
        return bool(self._too_late) or any(line and standing[line[0]] in (ANSWERED, VOID) for line in self._lines)

    def catch_up(self) -> None:
        """Count the open round again, if that is due."""
        if not self._stale:
            return
        self._stale = False
        for array_, before in zip(arrays_of(self._state), self._before, strict=True):
            array_[...] = before
        for item in self.withdrawn:
            drop(self._state, item)
        self._proposal = None
        self._open_board()
        if self.follows:
            return
        self._go_again()
        for line in self._lines:
            self._count_along(line)
        while self._too_late and self._ended[0] == UNDECIDED:
            self._count(self._too_late.pop(0))

    def _go_again(self) -> None:
        """Go through the log of the round that has just been opened, without the answers that count no more."""
        if not self._log:
            return
        questions, entries = self._questions, array_of_column(self._log)
        base = int(entries.min()) >> 2  # of an earlier round, where an answer came late
        here = slice(base, len(questions))
        asks: Ints = np.column_stack([questions.item[here], questions.rival[here], questions.given[here]]).astype(
            np.int64
        )
        tells, answers = asks, array_of_column(questions.answer[here])
        if questions.names_one:
            named = answers.astype(np.int64)
            tells = np.column_stack([named, np.where(named == asks[:, 1], asks[:, 0], asks[:, 1]), asks[:, 2]])
            answers = np.ones(len(answers))
        options = self.options.rows(range(base, len(questions)))
        gone = np.isin(np.hstack([asks[:, :2], options]), list(self.withdrawn)).any(axis=1)
        left_out = gone | np.isin(array_of_column(questions.worker[here]), self._workers.excluded)
        voided = array_of_column(questions.standing[here]) == VOID
        flags: Ints = gone * GONE + voided * VOIDED + left_out * LEFT_OUT
        row = np.full(options.shape[1], -1, np.int64)
        go_again(self._state, entries - 4 * base, asks, tells, answers, options, flags, self.first - base, row)

    # ---- A journal that is only followed ----

    def _counting(self) -> Mask:
        """For each question of the open round, whether its answer counts; which came too late for it nobody says."""
        questions, here = self._questions, slice(self.first, len(self._questions))
        counts: Mask = np.asarray(questions.standing[here]) == ANSWERED
        counts &= ~np.isin(np.asarray(questions.worker[here], dtype=np.int64), self._workers.excluded)
        counts &= ~np.isin(self._options_shown(), list(self.withdrawn)).any(axis=1)
        return counts

    def _options_shown(self) -> Ints:
        """The options of each question of the open round, -1 where there are fewer."""
        questions, here = self._questions, slice(self.first, len(self._questions))
        return np.column_stack([questions.item[here], questions.rival[here], questions.others(here)])

    def _tally(self) -> tuple[Ints, Floats]:
        """For each item, how many answers of the open round are about it, and their mean; of comparisons, those won.

        Answers about an item given fewer picks are not among them.
        """
        questions, here = self._questions, slice(self.first, len(self._questions))
        counts = self._counting() & (np.asarray(questions.given[here]) == NOW)
        answers, size = np.asarray(questions.answer[here])[counts], self._problem.size
        options = self._options_shown()[counts]
        won = np.where(options == answers[:, None], 1.0, 0.0)
        if not questions.names_one:
            won = np.column_stack([answers, 1.0 - answers])
        shown = options >= 0
        count: Ints = np.bincount(options[shown], minlength=size)
        total = np.bincount(options[shown], weights=won[shown], minlength=size)
        return count, np.divide(total, count, out=np.full(size, np.nan), where=count > 0)

    def _view_of_answers(self) -> View:
        mean, unknown = self._tally()[1], np.full(self._problem.size, np.inf)
        scale = SHARE if self._problem.feedback.compares else GAIN
        return View(mean, -unknown, unknown, scale).without(self._state.board.items["where"] < 0)

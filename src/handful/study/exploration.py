"""The explorer of a study through its rounds: what it is told, in which order, and how to go through a round again.

An item's answers are told in the order they were asked (for explorers whose bounds need it): answer n once answers
1…n−1 are in or void. Counting answers as they happen to arrive would favour quick ones.
"""

from __future__ import annotations

from array import array
from collections import deque
from copy import copy
from typing import Any, Self

import numpy as np

from handful.explorers.board import View
from handful.explorers.protocol import (
    ASKED,
    DONE,
    LATE_TOLD,
    conclude,
    drop,
    extend,
    go_through,
    late,
    open_round,
    propose,
    tell,
    void,
)
from handful.problem import BUDGET, CLOSED, Budget, Total, Unlimited, ending_of
from handful.problem import OPEN as UNDECIDED
from handful.study.columns import array_of_column, arrays_of, copied
from handful.study.editions import record, state_of, view_by
from handful.study.events import RoundClosed
from handful.study.lines import Lines
from handful.study.mismatches import Mismatches
from handful.study.question_options import Options, Proposal
from handful.study.questions import ANSWERED, LATE, VOID, Questions
from handful.study.refolding import go_through_again
from handful.study.seen_questions import SeenQuestions
from handful.study.setup import Setup
from handful.study.workers import Workers


class Exploration:
    """The explorer's arrays, and the log of the open round that they can be made again from.

    Where the journal is by another edition of the explorer's rules than today's, it is followed and nothing is decided
    (`recorded`), until today's edition is adopted.
    """

    def __init__(self, setup: Setup, questions: Questions, workers: Workers) -> None:
        self._problem = setup.problem
        self._explorer, self._questions = setup.explorer, questions
        self._workers, self._stale = workers, False  # stale: who counts has changed since the round was gone through
        self._in_order = getattr(setup.explorer, "order", "item") == "item"
        self.edition = setup.edition
        self.adopted = False
        self.started = 0  # the first question of the open round; `first` is the first of this edition
        self._state = state_of(setup.explorer, setup.problem, setup.edition)
        self.budget: Budget = setup.problem.total or Unlimited()
        self.withdrawn: set[int] = set()
        self._proposal: Proposal | None = None
        self._proposed_to: str | None = None
        self.seen, self._lines = SeenQuestions(questions), Lines(questions)
        self.mismatches = Mismatches()
        self._believing = False
        self._steps = array("q")  # believed, and not gone through yet
        self.round = len(setup.problem.chosen)
        self._look()
        self._open_next(0)

    def _look(self) -> None:
        """Views of the board's fields: cheaper than looking them up."""
        self._ended = self.state.board.round["ended"].data
        self._limit = self.state.board.round["limit"]
        self._counted = self.state.board.round["counted"]
        self.options = Options(self.state, self._questions)

    @property
    def state(self) -> Any:
        """The explorer's arrays, with all that has happened so far."""
        if self._stale:
            self.catch_up()
        return self._state

    @property
    def recorded(self) -> bool:
        """Whether the journal is only followed: its edition of the rules is not today's."""
        return self.edition != self._explorer.edition

    @property
    def of_old_rules(self) -> bool:
        """Whether some of the journal was decided by another edition of the rules than today's."""
        return self.recorded or self.adopted

    def view(self) -> View:
        """What is known of each candidate in the open round: the explorer's view, or the mean answers."""
        return view_by(self._explorer, self._problem, self.edition, self.state)

    @property
    def decided(self) -> bool:
        """Whether the open round has its pick, and waits to be closed."""
        if self._stale:
            self.catch_up()
        return bool(self._ended[0] != UNDECIDED)

    @property
    def counted(self) -> int:
        """Answers counted in the open round."""
        self.catch_up()
        return int(self._counted[0])

    @property
    def all_picked(self) -> bool:
        """Whether every round is closed."""
        return self.round > self._problem.k

    def snapshot(self) -> Self:
        """A copy to look at: it is asked and told nothing."""
        self.catch_up()
        seen = copy(self)
        seen._state, seen.withdrawn = copied(self._state), set(self.withdrawn)
        seen._look()
        return seen

    def arrays(self) -> list[np.ndarray[Any, Any]]:
        """All arrays of the explorer's state."""
        return list(arrays_of(self.state))

    def proposal(self, worker: str | None = None) -> Proposal | None:
        """The next question for a worker, or None; asking twice changes nothing until `add_question` is called."""
        if self._stale:
            self.catch_up()
        by_person = self.options.asks_by_person
        if by_person and self._proposal and self._proposed_to != worker:
            self.options.swap(self._proposal, None)  # what was proposed to somebody else is not asked
            self._proposal = None
        if self._proposal is None and not self.all_picked:
            self._proposed_to = worker
            rows = self.seen.rows_for(worker) if by_person else None
            state = self.state if rows is None else self.state._replace(seen=rows)
            proposed = propose(state, len(self._questions) - self.first)
            if proposed[0] >= 0:
                self._proposal = proposed + self.options.proposed()
        return self._proposal

    def would_repeat(self, question: int, worker: str | None) -> bool:
        """Whether the worker was asked to compare two of its items in this round, where the explorer avoids that."""
        return self.options.asks_by_person and self.seen.would_repeat(question, worker)

    def believe(self, wanted: bool) -> None:
        """Take recorded questions as they are, without choosing them again: while a journal is read."""
        self.catch_up()
        self._believing = wanted

    def add_question(
        self, item: int, rival: int, given: int, more: tuple[int, ...], worker: str | None, *, copied: bool = False
    ) -> None:
        """The next question was asked, as recorded; `copied`: it asks what another asks that is held for long."""
        if self._stale:
            self.catch_up()
        question = len(self._questions)
        if not self._believing:
            proposed, recorded = self.proposal(worker), (item, rival, given, *more)
            if proposed != recorded:
                if not self.recorded and not copied:
                    self.mismatches.add(f"question q{question} asked {recorded}, now it would be {proposed}")
                self.options.swap(proposed, recorded)
            self._proposal = None
            self._log.append(4 * question + ASKED)
        else:
            self._steps.append(2 * question)
        self._questions.add(self.round, item, rival, given, more)
        if self._in_order:
            self._lines.of(question).append(question)

    def done(self, question: int) -> None:
        """The question has its answer or never will: tell the explorer whatever is due now."""
        if self._stale:
            self.catch_up()
        if self._believing and self._believe_done(question):
            return
        if question < self.first:
            self._tell_late(question)
        elif self._in_order:
            line = self._lines.of(question)
            self._count_along(line)
            if not line:
                self._lines.forget(question)
        elif self.decided:
            self._too_late.append(question)
        else:
            self._count(question)

    def closing(self) -> RoundClosed:
        """The event that closes the decided round."""
        r = self.state.board.round[0]
        best = tuple(int(i) for i in self.state.board.best[: int(r["size"])])
        reached = float(r["reached"]) if np.isfinite(r["reached"]) else None
        return RoundClosed(self.round, ending_of(r["ended"]).name, best, int(r["pick"]), reached)

    def check_closing(self, event: RoundClosed) -> None:
        """Close the round as the journal says; if it would be decided otherwise today, note that as a mismatch."""
        self.catch_up()
        found = self.closing() if self.decided else None
        if found == event:
            return
        if not self.recorded:
            self.mismatches.add(f"round {event.round} was closed by {event}, now it would be by {found}")
        record(self.state.board, event)

    def open_next(self, pick: int, spent: int) -> None:
        """Leave the decided round: what was answered but never counted is late, and `pick` is a candidate no more."""
        for question in sorted([*self._too_late, *(q for line in self._lines for q in line)]):
            if self._questions.standing[question] == ANSWERED:
                self._tell_late(question)
        drop(self.state, pick)
        self._open_next(spent)

    def conclude_early(self) -> None:
        """Decide the open round with what is known."""
        self.catch_up()
        conclude(self.state, CLOSED)

    def extend(self, answers: int) -> None:
        """The budget grows, and the open round's share of it."""
        self.catch_up()
        assert isinstance(self.budget, Total)
        self.budget = Total(self.budget.answers + answers)
        if not self.all_picked:
            self.limit += extend(self.state, answers)

    def _go_through_again(self) -> None:
        for array_, before in zip(arrays_of(self._state), self._before, strict=True):
            array_[...] = before
        for item in self.withdrawn:
            drop(self._state, item)
        self._open_board()
        self._proposal = None
        excluded = self._workers.excluded
        go_through_again(self._state, self._log, self._questions, self.first, self.withdrawn, excluded)
        for line in self._lines:
            self._count_along(line)
        while self._too_late and not self.decided:
            self._count(self._too_late.pop(0))

    def catch_up(self) -> None:
        """Go through what was believed, in compiled code; the state is then what it was when it happened."""
        if self._stale:
            self._stale = False
            self._go_through_again()
        if not self._steps:
            return
        steps = self._steps[:]
        del self._steps[:]  # in place: whoever is leading along a stretch holds on to this array
        gone, of = 0, self._questions
        if not self.decided:
            options = of.rows_of_options(range(self.first, len(of)))
            item, rival, given = (array_of_column(column[self.first :]) for column in (of.item, of.rival, of.given))
            answer = array_of_column(of.answer[self.first :])
            gone = go_through(self.state, array_of_column(steps), item, rival, given, answer, options, self.first)
        taken = array_of_column(steps)[:gone]
        self._log.frombytes((2 * taken - taken % 2).tobytes())
        back = []
        for step in steps[gone:]:  # the round is decided: nothing counts any more
            question = step // 2
            if step % 2:
                back.append(question)
            else:
                self.options.swap(None, self.options.recorded(question))
                self._log.append(4 * question + ASKED)
        self._too_late.extend(() if self._in_order else back)
        for question in reversed(back if self._in_order else ()):
            self._lines.of(question).appendleft(question)

    def _believe_done(self, question: int) -> bool:
        """Put an answer among what is gone through later; False if that must be done by hand."""
        if question >= self.first:
            if not self._in_order:
                if self._can_believe(question):
                    self._steps.append(2 * question + 1)
                    return True
            else:
                line, standing = self._lines.of(question), self._questions.standing
                while line and self._can_believe(line[0]):
                    self._steps.append(2 * line.popleft() + 1)
                if not line:
                    self._lines.forget(question)
                if not line or standing[line[0]] not in (ANSWERED, VOID):
                    return True
        self.catch_up()
        return False

    def _counts(self, question: int) -> bool:
        """Whether the answer to the question may be counted."""
        if self.withdrawn and not self.withdrawn.isdisjoint(self._questions.options(question)):
            return False
        return not self._workers.is_excluded(self._questions.worker[question])

    def _can_believe(self, question: int) -> bool:
        """Whether the question has an answer that counts."""
        return self._questions.standing[question] == ANSWERED and self._counts(question)

    def _open_next(self, spent: int) -> None:
        self.round += 1
        self.first = self.started = len(self._questions)
        self._proposal = None
        self.seen.begin(self.round)
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
        rounds = 1 if self.recorded else self._problem.k - self.round + 1  # the journal says what was asked
        open_round(self.state, self.round, left, rounds)

    def _count_along(self, line: deque[int]) -> None:
        """Count what is due at the head of a line."""
        standing = self._questions.standing
        while line and standing[line[0]] in (ANSWERED, VOID) and not self.decided:
            self._count(line.popleft())

    def _count(self, question: int) -> None:
        self._log.append(4 * question + DONE)
        self._call_done(question)

    def _call_done(self, question: int) -> None:
        """Tell the explorer. An answer that may not count was paid for all the same, and leaves less for the others."""
        questions = self._questions
        answered = questions.standing[question] != VOID
        if answered and self._counts(question):
            tell(self.state, *self.options.answered(question, question - self.first))
            return
        if self.withdrawn.isdisjoint(questions.options(question)):
            void(self.state, *self.options.about(question, question - self.first))
        if answered and self._limit[0] >= 0:
            self._limit[0] -= 1
            if self._limit[0] <= self._counted[0] and not self.decided:
                conclude(self.state, BUDGET)

    def _tell_late(self, question: int) -> None:
        if self._questions.standing[question] == ANSWERED:
            self._questions.standing[question] = LATE
            self._log.append(4 * question + LATE_TOLD)
            if self._counts(question):
                self._call_late(question)

    def _call_late(self, question: int) -> None:
        late(self.state, *self.options.answered(question, -1))

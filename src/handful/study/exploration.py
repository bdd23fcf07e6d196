"""The explorer of a study through its rounds: what it is told, in which order, and how to go through a round again.

An item's answers are told in the order they were asked (for explorers whose bounds need it): answer n once answers
1…n−1 are in or void. Counting answers as they happen to arrive would favour quick ones.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from handful.core.budget import Budget, Total, Unlimited
from handful.core.endings import BUDGET, CLOSED, ending_named, ending_of
from handful.core.endings import OPEN as UNDECIDED
from handful.core.explorers.protocol import conclude, drop, go_through, late, open_round, propose, tell, void
from handful.core.parts.board import NOW
from handful.study.events import RoundClosed
from handful.study.questions import ANSWERED, LATE, VOID, Questions
from handful.study.setup import Setup

Proposal = tuple[int, int, int]  # item, rival, given
_ASKED, _DONE, _LATE = range(3)  # what the explorer went through in the open round


class Mismatches:
    """Decisions in the journal that would be others today: how many, and the first of them."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[str] = []

    def add(self, what: str) -> None:
        """Count one more decision that differs; the first of them are kept as text."""
        self.count += 1
        if len(self.first) < 20:
            self.first.append(what)


class Exploration:
    """The explorer's arrays, and the log of the open round that they can be made again from.

    `counts(q)` says whether the answer to question q may be counted: neither is its worker excluded nor its item
    withdrawn.
    """

    def __init__(self, setup: Setup, questions: Questions, counts: Callable[[int], bool]) -> None:
        self._problem = setup.problem
        self._questions = questions
        self._counts = counts
        self._in_order = getattr(setup.explorer, "order", "item") == "item"
        self.state = setup.explorer.build(setup.problem)
        self.budget: Budget = setup.problem.total or Unlimited()
        self.withdrawn: set[int] = set()
        self._proposal: Proposal | None = None
        self.mismatches = Mismatches()
        self._believing = False
        self._steps = array("q")  # believed, and not gone through yet
        for item in setup.problem.chosen:
            drop(self.state, item)
        self.round = len(setup.problem.chosen)
        self._ended = self.state.board.round["ended"]  # a view, like those below: cheaper than looking the field up
        self._limit = self.state.board.round["limit"]
        self._counted = self.state.board.round["counted"]
        self._open_next(0)

    @property
    def decided(self) -> bool:
        """Whether the open round has its pick, and waits to be closed."""
        return bool(self._ended[0] != UNDECIDED)

    @property
    def counted(self) -> int:
        """Answers counted in the open round."""
        return int(self._counted[0])

    @property
    def all_picked(self) -> bool:
        """Whether every round is closed."""
        return self.round > self._problem.k

    def arrays(self) -> list[np.ndarray[Any, Any]]:
        """Everything the explorer knows."""
        return list(_arrays(self.state))

    def proposal(self) -> Proposal | None:
        """The next question, or None; asking twice changes nothing until `add_question` is called."""
        if self._proposal is None and not self.all_picked:
            proposed = propose(self.state, len(self._questions) - self.first)
            if proposed[0] >= 0:
                self._proposal = proposed
        return self._proposal

    def believe(self, wanted: bool) -> None:
        """Take recorded questions as they are, without choosing them again: while a journal is read."""
        self.catch_up()
        self._believing = wanted

    def add_question(self, item: int, rival: int, given: int) -> None:
        """The next question was asked. What the journal recorded wins over what would be proposed today."""
        question = len(self._questions)
        if self._believing:
            self._questions.add(self.round, item, rival, given)
            self._steps.append(2 * question)
            if self._in_order:
                self._lines.setdefault((item, given), deque()).append(question)
            return
        proposed = self.proposal()
        if proposed != (item, rival, given):
            self.mismatches.add(f"question q{question} asked {(item, rival, given)}, now it would be {proposed}")
            self._force(proposed, (item, rival, given))
        self._proposal = None
        self._questions.add(self.round, item, rival, given)
        self._log.append(4 * question + _ASKED)
        if self._in_order:
            self._lines.setdefault((item, given), deque()).append(question)

    def done(self, question: int) -> None:
        """The question has its answer or never will: tell the explorer whatever is due now."""
        if self._believing and self._believe_done(question):
            return
        if question < self.first:
            self._tell_late(question)
        elif self._in_order:
            self._count_along(self._line_of(question))
        elif self.decided:
            self._too_late.append(question)
        else:
            self._count(question)

    def closing(self) -> RoundClosed:
        """The event that closes the decided round."""
        r = self.state.board.round[0]
        best = tuple(int(i) for i in self.state.board.best[: int(r["size"])])
        reached = float(r["reached"])
        ended = ending_of(r["ended"]).name
        return RoundClosed(self.round, ended, best, int(r["pick"]), reached if np.isfinite(reached) else None)

    def check_closing(self, event: RoundClosed) -> None:
        """The round is over as the journal says, whether or not it would be decided so today."""
        self.catch_up()
        found = self.closing() if self.decided else None
        if found == event:
            return
        self.mismatches.add(f"round {event.round} was closed by {event}, now it would be by {found}")
        board = self.state.board
        board.best[: len(event.best)] = event.best
        board.round["size"] = len(event.best)
        board.round["pick"] = event.pick
        board.round["ended"] = ending_named(event.ended).code
        board.round["reached"] = np.inf if event.reached is None else event.reached

    def open_next(self, pick: int, spent: int) -> None:
        """Leave the decided round: what was answered but never counted is late, and `pick` is a candidate no more."""
        for question in sorted([*self._too_late, *(q for line in self._lines.values() for q in line)]):
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
            grown = self.budget.of_round(self._spent_before, self._problem.k - self.round + 1) - self.limit
            self.limit += grown
            self._limit[0] += grown

    def refold(self) -> None:
        """Go through the open round again from its start: the answers that count are others now."""
        self.catch_up()
        if self.all_picked:
            return
        for array_, before in zip(_arrays(self.state), self._before, strict=True):
            array_[...] = before
        for item in self.withdrawn:
            drop(self.state, item)
        open_round(self.state, self.round, self.limit)
        self._proposal = None
        for entry in self._log:
            question, step = divmod(entry, 4)
            if step == _ASKED:
                self._ask_again(question)
            elif step == _LATE or self.decided:
                if self._counts(question) and self._questions.standing[question] != VOID:
                    self._call_late(question)
            else:
                self._call_done(question)
        for line in self._lines.values():
            self._count_along(line)
        while self._too_late and not self.decided:
            self._count(self._too_late.pop(0))

    def catch_up(self) -> None:
        """Go through what was believed, in compiled code; the state is then what it was when it happened."""
        if not self._steps:
            return
        steps, self._steps = self._steps, array("q")
        gone, of = 0, self._questions
        if not self.decided:
            columns = _view(of.item), _view(of.rival), _view(of.given), _view(of.answer)
            gone = go_through(self.state, _view(steps), *columns, self.first)
            del columns  # while they are held, no question can be added
        taken = _view(steps)[:gone]
        self._log.frombytes((2 * taken - taken % 2).tobytes())
        back = []
        for step in steps[gone:]:  # the round is decided: nothing counts any more
            question = step // 2
            if step % 2:
                back.append(question)
            else:
                self._force(None, self._about(question))
                self._log.append(4 * question + _ASKED)
        if not self._in_order:
            self._too_late.extend(back)
            return
        for question in reversed(back):
            self._line_of(question).appendleft(question)

    def _believe_done(self, question: int) -> bool:
        """Put an answer among what is gone through later; False if that must be done by hand."""
        if question >= self.first:
            if not self._in_order:
                if self._can_believe(question):
                    self._steps.append(2 * question + 1)
                    return True
            else:
                line, standing = self._line_of(question), self._questions.standing
                while line and self._can_believe(line[0]):
                    self._steps.append(2 * line.popleft() + 1)
                if not line or standing[line[0]] not in (ANSWERED, VOID):
                    return True
        self.catch_up()
        return False

    def _can_believe(self, question: int) -> bool:
        """Whether the question has an answer that counts."""
        return self._questions.standing[question] == ANSWERED and self._counts(question)

    def _line_of(self, question: int) -> deque[int]:
        return self._lines[self._questions.item[question], self._questions.given[question]]

    def _open_next(self, spent: int) -> None:
        self.round += 1
        self.first = len(self._questions)
        self._proposal = None
        self._log = array("q")
        # What is not counted yet, by the item it is about and what it is given.
        self._lines: dict[tuple[int, int], deque[int]] = {}
        self._too_late: list[int] = []  # answered after the round was decided and before it was closed
        self._spent_before = spent
        self._before = [array_.copy() for array_ in _arrays(self.state)]
        self.limit = 0
        if not self.all_picked:
            self.limit = self.budget.of_round(spent, self._problem.k - self.round + 1)
            open_round(self.state, self.round, self.limit)

    def _force(self, proposed: Proposal | None, recorded: Proposal) -> None:
        """Note on the board the question that was recorded instead of the one that is proposed."""
        waiting = self.state.board.items["waiting"]
        if proposed is None:
            self.state.board.round["asked"] += 1
        elif proposed[2] == NOW:
            waiting[proposed[0]] -= 1
        if recorded[2] == NOW:
            waiting[recorded[0]] += 1

    def _ask_again(self, question: int) -> None:
        item, rival, given = self._about(question)
        if self.decided or item in self.withdrawn or rival in self.withdrawn:
            return
        proposed = propose(self.state, question - self.first)
        if proposed != (item, rival, given):
            self._force(proposed if proposed[0] >= 0 else None, (item, rival, given))

    def _about(self, question: int) -> Proposal:
        """Its item, its rival and what it is given."""
        questions = self._questions
        return questions.item[question], questions.rival[question], questions.given[question]

    def _count_along(self, line: deque[int]) -> None:
        """Count what is due at the head of a line."""
        standing = self._questions.standing
        while line and standing[line[0]] in (ANSWERED, VOID) and not self.decided:
            self._count(line.popleft())

    def _count(self, question: int) -> None:
        self._log.append(4 * question + _DONE)
        self._call_done(question)

    def _call_done(self, question: int) -> None:
        """Tell the explorer. An answer that may not count was paid for all the same, and leaves less for the others."""
        questions = self._questions
        item, rival, given = self._about(question)
        answered = questions.standing[question] != VOID
        if answered and self._counts(question):
            tell(self.state, item, rival, given, questions.answer[question])
            return
        if item not in self.withdrawn and rival not in self.withdrawn:
            void(self.state, item, rival, given)
        if answered and self._limit[0] >= 0:
            self._limit[0] -= 1
            if self._limit[0] <= self._counted[0] and not self.decided:
                conclude(self.state, BUDGET)

    def _tell_late(self, question: int) -> None:
        if self._questions.standing[question] == ANSWERED:
            self._questions.standing[question] = LATE
            self._log.append(4 * question + _LATE)
            if self._counts(question):
                self._call_late(question)

    def _call_late(self, question: int) -> None:
        late(self.state, *self._about(question), self._questions.answer[question])


def _view(column: array[Any]) -> np.ndarray[Any, Any]:
    """A column as an array, without copying it; nothing can be appended while that is held."""
    return np.frombuffer(column, dtype=column.typecode)


def _arrays(state: Any) -> Iterator[np.ndarray[Any, Any]]:
    for part in state:
        if isinstance(part, np.ndarray):
            yield part
        else:
            yield from _arrays(part)

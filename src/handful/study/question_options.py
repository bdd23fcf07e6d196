"""What an exploration must know of questions with more than two options."""

from __future__ import annotations

from typing import Any

import numpy as np

from handful.explorers.board import NOW, Board
from handful.problem import Ints
from handful.study.questions import Questions

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

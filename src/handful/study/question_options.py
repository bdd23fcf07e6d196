"""What an exploration must know of questions with more than two options."""

from __future__ import annotations

from typing import Any

from handful.explorers.board import NOW, Board
from handful.problem import Ints
from handful.study.questions import Questions

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

    def about(self, question: int, number: int) -> tuple[int, int, int]:
        """The item, the rival and what is given; the explorer is shown the options, and the number in its round."""
        questions = self._questions
        if self._number is not None:
            self._number[0] = number
        if self._place is not None:
            options = questions.options(question)
            self._place[: len(options)] = options
            self._place[len(options) :] = -1
        return questions.item[question], questions.rival[question], questions.given[question]

    def swap(self, proposed: Proposal | None, recorded: Proposal | None) -> None:
        """Note on the board the question that was recorded instead of the one that is proposed."""
        for question, change in ((proposed, -1), (recorded, 1)):
            if question is not None:
                self._board.round["asked"] += change
                if question[2] == NOW:
                    self._board.items["waiting"][self.waited_for(question)] += change

    def recorded(self, question: int) -> Proposal:
        """The question as a proposal."""
        questions = self._questions
        first = questions.item[question], questions.rival[question], questions.given[question]
        return (*first, *questions.more_of(question))

    def answered(self, question: int, number: int) -> tuple[int, int, int, float]:
        """What the explorer is told of a question: that the item was named, or how it was compared or valued."""
        item, rival, given = self.about(question, number)
        answer = self._questions.answer[question]
        if not self._questions.names_one:
            return item, rival, given, answer
        named = int(answer)
        return named, rival if named != rival else item, given, 1.0

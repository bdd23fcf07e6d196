"""What an exploration must know of questions with more than two options."""

from __future__ import annotations

from typing import Any

from handful.core.objective import Ints
from handful.study.questions import Questions

Proposal = tuple[int, ...]  # item, rival, given, and the options after item and rival


class Options:
    """Between the columns of questions and the place that an explorer's state may have for the options of one."""

    def __init__(self, state: Any, questions: Questions) -> None:
        self._place: Ints | None = getattr(state, "options", None)
        self._questions = questions

    def proposed(self) -> tuple[int, ...]:
        """The options after the second of the question that was just proposed."""
        return () if self._place is None else tuple(int(i) for i in self._place[2:] if i >= 0)

    def waited_for(self, asked: Proposal) -> list[int]:
        """The items of which the board notes that a question is in flight: the first, or all options."""
        return [asked[0]] if self._place is None else [asked[0], asked[1], *asked[3:]]

    def about(self, question: int) -> tuple[int, int, int]:
        """The item, the rival and what is given; the explorer is shown the options."""
        questions = self._questions
        if self._place is not None:
            options = questions.options(question)
            self._place[: len(options)] = options
            self._place[len(options) :] = -1
        return questions.item[question], questions.rival[question], questions.given[question]

    def recorded(self, question: int) -> Proposal:
        """The question as a proposal."""
        questions = self._questions
        first = questions.item[question], questions.rival[question], questions.given[question]
        return (*first, *questions.more_of(question))

    def answered(self, question: int) -> tuple[int, int, int, float]:
        """What the explorer is told of a question: that the item was named, or how it was compared or valued."""
        item, rival, given = self.about(question)
        answer = self._questions.answer[question]
        if not self._questions.names_one:
            return item, rival, given, answer
        named = int(answer)
        return named, rival if named != rival else item, given, 1.0

"""What each person was asked in a round, so that nobody is asked the same twice while others can be."""

from __future__ import annotations

from array import array
from itertools import combinations
from typing import Any

import numpy as np

from handful.explorers.board import ALL, FIRST, Marks
from handful.problem import Ints
from handful.study.questions import ANSWERED, LATE, Questions

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

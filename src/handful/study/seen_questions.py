"""What each person was asked in the open round, so that nobody is asked the same twice while others can be."""

from __future__ import annotations

from array import array
from itertools import combinations

import numpy as np

from handful.core.objective import Ints
from handful.core.parts.seen import ALL, FIRST, MOST_SEEN
from handful.study.questions import ANSWERED, LATE, PROVISIONAL, Questions

_SHIFT = 32  # a pair of items is kept as one number, which takes the least room
_WITH_ANSWER = (ANSWERED, PROVISIONAL, LATE)


class SeenQuestions:
    """The questions of the open round by the person who was shown them; only people with a name."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._shown: dict[str, list[int]] = {}
        # By the pairs of items in them, as many as were needed; most are never.
        self._with: dict[str, dict[int, list[int]]] = {}
        self._sorted: dict[str, int] = {}  # how many of those shown are there

    def begin(self) -> None:
        """Forget what was shown: a new round begins."""
        self._shown.clear()
        self._with.clear()
        self._sorted.clear()

    def show(self, question: int, worker: str) -> None:
        """Note that a worker is shown a question that compares items."""
        shown = self._shown.get(worker)
        if shown is None:
            self._shown[worker] = [question]
        else:
            shown.append(question)

    def rows_for(self, worker: str | None) -> Ints | None:
        """What the worker has compared, for the explorer; None where there is nothing."""
        shown = self._shown.get(worker or "", [])[-MOST_SEEN:]
        if not shown:
            return None
        if not self._questions.names_one:
            rows = np.empty((len(shown), 3), np.int64)
            rows[:, 0] = ALL
            rows[:, 1] = _at(self._questions.item, shown)
            rows[:, 2] = _at(self._questions.rival, shown)
            return rows
        lines = []
        for question in shown:
            options = self._questions.options(question)
            named = self._named(question)
            others = [item for item in options if item != named]
            lines.append([ALL, *options] if named is None else [FIRST, named, *others])
        rows = np.full((len(lines), max(map(len, lines))), -1, np.int64)
        for row, line in zip(rows, lines, strict=True):
            row[: len(line)] = line
        return rows

    def would_repeat(self, question: int, worker: str | None) -> bool:
        """Whether the worker has compared two of its items in this round."""
        by_pair = self._by_pair(worker or "")
        return any(
            pair in self._compared(earlier)
            for pair in self._pairs(question)
            for earlier in by_pair.get(pair, ())
            if earlier != question
        )

    def repeats(self) -> set[int]:
        """The questions whose answer compares two items that the same person had compared before in the round."""
        questions, before, found = self._questions, set[tuple[int, int, int]](), set()
        for question in range(len(questions)):
            worker, round_ = questions.worker[question], questions.round[question]
            if worker >= 0 and questions.standing[question] in _WITH_ANSWER:
                compared = {(worker, round_, pair) for pair in self._compared(question)}
                if not compared.isdisjoint(before):
                    found.add(question)
                before |= compared
        return found

    def _by_pair(self, worker: str) -> dict[int, list[int]]:
        """What a worker was shown, by the pairs of items in it."""
        shown, by_pair = self._shown.get(worker, []), self._with.setdefault(worker, {})
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
        """The option that was named, of more than two; None where no answer says, and of two, where any says all."""
        questions = self._questions
        if not questions.names_one or questions.standing[question] not in _WITH_ANSWER:
            return None
        return int(questions.answer[question])


def _at(column: array[int], questions: list[int]) -> Ints:
    """What a column has at these questions."""
    view = np.frombuffer(column, dtype=np.int32)  # of this call alone: the column grows
    return view[questions].astype(np.int64)

"""What each person was asked in the open round, so that nobody is asked the same twice while others can be."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np

from handful.core.objective import Ints
from handful.core.parts.seen import ALL, FIRST, MOST_SEEN
from handful.study.questions import ANSWERED, LATE, PROVISIONAL, Questions

_Pair = tuple[int, int]


class SeenQuestions:
    """The questions of the open round by the person who was shown them; only people with a name."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._shown: dict[str, list[int]] = {}
        self._with: dict[str, dict[int, list[int]]] = {}  # the same by the items in them
        self.repeats: set[int] = set()  # questions that somebody was shown although they had compared two of the items

    def begin(self) -> None:
        """Forget what was shown: a new round begins."""
        self._shown.clear()
        self._with.clear()

    def show(self, question: int, worker: str) -> None:
        """Note that a worker is shown a question; one about a single item compares nothing."""
        if self._questions.rival[question] < 0:
            return
        options = self._questions.options(question)
        if self.would_repeat(question, worker):
            self.repeats.add(question)
        self._shown.setdefault(worker, []).append(question)
        by_item = self._with.setdefault(worker, {})
        for item in options:
            by_item.setdefault(item, []).append(question)

    def rows_for(self, worker: str | None) -> Ints | None:
        """What the worker has compared, for the explorer; None where there is nothing."""
        shown = self._shown.get(worker or "", ())[-MOST_SEEN:]
        if not shown:
            return None
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
        by_item = self._with.get(worker or "")
        if by_item is None:
            return False
        options = self._questions.options(question)
        shared = Counter(earlier for item in options for earlier in by_item.get(item, ()) if earlier != question)
        pairs = set(combinations(sorted(options), 2))
        return any(items > 1 and not pairs.isdisjoint(self._compared(one)) for one, items in shared.items())

    def _compared(self, question: int) -> set[_Pair]:
        """The pairs of items that a question compared, or that it asks to compare."""
        options, named = self._questions.options(question), self._named(question)
        if named is None:
            return set(combinations(sorted(options), 2))
        return {(min(named, other), max(named, other)) for other in options if other != named}

    def _named(self, question: int) -> int | None:
        """The option that was named, of more than two; None where no answer says, and of two, where any says all."""
        questions = self._questions
        if not questions.names_one or questions.standing[question] not in (ANSWERED, PROVISIONAL, LATE):
            return None
        return int(questions.answer[question])

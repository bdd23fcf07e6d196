"""Questions of the open round that were made before: whoever holds one is shown it again and again."""

from __future__ import annotations

from handful.study.fold import Fold
from handful.study.questions import Question

_MOST = 4096


class MadeQuestions:
    """The latest questions, as they travel to whoever answers; forgotten when the picks that they name may change."""

    def __init__(self) -> None:
        self._of: tuple[Fold, int, int] | None = None
        self._kept: dict[int, Question] = {}

    def get(self, fold: Fold, number: int) -> Question | None:
        """The question of this number, if it is known."""
        of = fold, len(fold.rounds), fold.exploration.first
        if of != self._of:
            self._of, self._kept = of, {}
        return self._kept.get(number)

    def keep(self, number: int, question: Question) -> Question:
        """Keep one that was just made; gives it back."""
        if len(self._kept) >= _MOST:
            self._kept = {}
        self._kept[number] = question
        return question

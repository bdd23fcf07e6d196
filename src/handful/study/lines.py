"""Questions that are not counted yet: a line for each item, in the order asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from handful.study.questions import Questions


class Lines:
    """The lines of a round, by the item that questions are about and what they are given.

    A line that is empty takes no room: of many items only a few are asked about at a time.
    """

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self.by_item: dict[tuple[int, int], deque[int]] = {}

    def of(self, question: int) -> deque[int]:
        """The line that a question belongs to; it is made if there is none."""
        about = self._questions.item[question], self._questions.given[question]
        line = self.by_item.get(about)
        if line is None:
            line = self.by_item[about] = deque()
        return line

    def forget(self, question: int) -> None:
        """Let go of the line that a question belonged to, now that it is empty."""
        del self.by_item[self._questions.item[question], self._questions.given[question]]

    def __iter__(self) -> Iterator[deque[int]]:
        return iter(self.by_item.values())

    def clear(self) -> None:
        """Forget all of them: another round begins."""
        self.by_item = {}

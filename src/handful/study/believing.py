"""Following a journal many steps at a time: nothing is chosen again, and nothing is told before somebody looks."""

from __future__ import annotations

from collections import deque

from handful.study.exploration import Exploration
from handful.study.questions import ANSWERED, VOID


class BelievingExploration(Exploration):
    """An exploration that can be led along a stretch of its open round."""

    @property
    def can_follow(self) -> bool:
        """Whether `follow` may be called: while a journal is believed."""
        return self._believing

    def follow(self, steps: list[int]) -> None:
        """Believe what happened, in this order: 2·question was asked, 2·question + 1 has an answer that stands now.

        All of these questions are of the open round, and in the columns already.
        """
        if self._stale:
            self.catch_up()
        if self.withdrawn or self._workers.excluded:
            self._follow_one_by_one(steps)
        elif self._in_order:
            self._follow_in_lines(steps)
        else:
            standing = self._questions.standing
            for step in steps:
                if step & 1:
                    standing[step >> 1] = ANSWERED
            self._steps.fromlist(steps)

    def _follow_one_by_one(self, steps: list[int]) -> None:
        for step in steps:
            question = step >> 1
            if step & 1:
                self._questions.standing[question] = ANSWERED
                self.done(question)
            else:
                self._steps.append(step)
                if self._in_order:
                    self._lines.of(question).append(question)

    def _follow_in_lines(self, steps: list[int]) -> None:
        """As `_follow_one_by_one`, where every answer counts."""
        of, lines = self._questions, self._lines.by_item
        standing, item, given, taken = of.standing, of.item, of.given, self._steps.append
        for step in steps:
            question = step >> 1
            about = item[question], given[question]
            if step & 1:
                standing[question] = ANSWERED
                line = lines[about]
                while line and standing[line[0]] == ANSWERED:
                    taken(2 * line.popleft() + 1)
                if not line:
                    del lines[about]
                elif standing[line[0]] == VOID:
                    self.done(question)
            else:
                taken(step)
                waiting = lines.get(about)
                if waiting is None:
                    lines[about] = deque((question,))
                else:
                    waiting.append(question)

"""Answers over time, in a bounded number of steps: the longer a study lasts, the coarser they are."""

from __future__ import annotations

from collections import Counter

MOST_STEPS = 120
FINEST_S = 10.0


class AnswerTimeline:
    """How many answers came when."""

    def __init__(self) -> None:
        self._width = FINEST_S
        self._steps: Counter[int] = Counter()
        self.first: float | None = None  # when the first answer came
        self.last: float | None = None

    def note(self, now: float) -> None:
        """One more answer."""
        self.first = now if self.first is None else min(self.first, now)
        self.last = now if self.last is None else max(self.last, now)
        self._steps[int(now // self._width)] += 1
        while (self.last - self.first) / self._width > MOST_STEPS:
            self._width *= 2.0
            coarser: Counter[int] = Counter()
            for step, count in self._steps.items():
                coarser[step // 2] += count
            self._steps = coarser

    def points(self) -> list[tuple[float, int]]:
        """Times, and how many answers there were by then."""
        if self.first is None or self.last is None:
            return []
        total, points = 0, [(self.first, 0)]
        for step, count in sorted(self._steps.copy().items()):
            total += count
            points.append((min((step + 1) * self._width, self.last), total))
        return points

    def since(self, time: float) -> int:
        """How many answers came after this time, to the nearest step."""
        return sum(count for step, count in self._steps.copy().items() if (step + 1) * self._width > time)

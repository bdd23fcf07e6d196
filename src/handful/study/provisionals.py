"""Answers that may still be revised: found by who gave them, and by when their time is over, without looking at all."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush


@dataclass(frozen=True)
class Provisional:
    """An answer that may still be revised."""

    worker: str | None
    until: float


class Provisionals(dict[int, Provisional]):
    """All such answers, by their questions. Change it by `[...] =`, `del` and `drop` alone."""

    def __init__(self) -> None:
        super().__init__()
        self._by_worker: dict[str | None, dict[int, None]] = {}
        self._by_end: list[tuple[float, int, int]] = []  # a heap of: until when, the how manieth, the question
        self._added = 0

    def snapshot(self) -> Provisionals:
        """A copy to look at."""
        seen = Provisionals()
        seen.update(self)
        return seen

    def __setitem__(self, question: int, held: Provisional) -> None:
        super().__setitem__(question, held)
        self._by_worker.setdefault(held.worker, {})[question] = None
        heappush(self._by_end, (held.until, self._added, question))
        self._added += 1

    def __delitem__(self, question: int) -> None:
        worker = self[question].worker
        super().__delitem__(question)
        theirs = self._by_worker[worker]
        del theirs[question]
        if not theirs:
            del self._by_worker[worker]

    def drop(self, question: int) -> None:
        """Remove an answer, if it is here."""
        if question in self:
            del self[question]

    def due(self, now: float) -> tuple[int, ...]:
        """Those whose time is over, in the order they came, for whoever settles them at once: they are told once."""
        found = []
        while self._by_end and self._by_end[0][0] <= now:
            _, added, question = heappop(self._by_end)
            if question in self:
                found.append((added, question))
        return tuple(question for _, question in sorted(found))

    def of(self, worker: str | None) -> tuple[int, ...]:
        """Those of one worker, in the order they came."""
        return tuple(self._by_worker.get(worker, ()))

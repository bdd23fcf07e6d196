"""Who has asked for a question lately: to them a question can be left that would repeat something for somebody else.

This is known while a process runs, and nowhere written: the journal says to whom each question went.
"""

from __future__ import annotations

from handful.study.fold import Fold

LATELY_S = 60.0
"""Whoever has not asked for so long may have gone: nothing is left to them."""


class PeopleAround:
    """Those who might take a question, by when they asked last."""

    def __init__(self) -> None:
        self._asked: dict[str | None, float] = {}  # the last to ask is the last here

    def asks(self, worker: str | None, now: float) -> None:
        """Note that somebody asks for a question, and may have one."""
        self._asked.pop(worker, None)
        self._asked[worker] = now

    def leaves(self, worker: str) -> None:
        """Leave nothing to somebody who is gone."""
        self._asked.pop(worker, None)

    def repeats(self, fold: Fold, question: int, worker: str | None) -> bool:
        """Whether the worker has compared two of the question's items in this round, where that matters."""
        exploration = fold.exploration
        return exploration.options.asks_by_person and exploration.seen.would_repeat(question, worker)

    def another_may(self, fold: Fold, question: int, worker: str | None, now: float) -> bool:
        """Whether somebody else who asked lately holds the question, or could be handed it and find it new."""
        if not fold.exploration.options.asks_by_person:
            return False
        held, holder = fold.leases.holder(question)
        since = now - min(LATELY_S, fold.setup.lease_s)
        for other in [known for known, asked in self._asked.items() if asked <= since]:
            del self._asked[other]
        for other in self._asked:
            if other == worker or fold.workers.excludes(other):
                continue
            if held and other == holder:
                return True
            if not fold.leases.was_given(question, other) and not self.repeats(fold, question, other):
                return True
        return False

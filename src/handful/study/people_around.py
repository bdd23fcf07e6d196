"""Who has asked for a question lately: to them a question can be left that would repeat something for somebody else.

This is known while a process runs, and nowhere written: the journal says to whom each question went.
"""

from __future__ import annotations

from itertools import islice, takewhile

from handful.study.copies import may_have_copy
from handful.study.fold import Fold
from handful.study.standstill import LATELY_S

_MOST = 50
"""So many are looked at, of those who asked last: where many are around, more would cost time and change little."""


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

    def another_may(self, fold: Fold, question: int, worker: str | None, now: float) -> bool:
        """Whether somebody else who asked lately holds the question, or could be handed it, or a copy, as a new one.

        A question is left to others for no longer than a lease lasts: where leases are short, people are expected to be
        quick.
        """
        self._forget_before(now - min(LATELY_S, fold.setup.lease_s))
        held, holder = fold.leases.holder(question)
        if held and holder != worker and holder in self._asked and not fold.workers.excludes(holder):
            return True
        for other in islice(reversed(self._asked), _MOST):
            if other == worker or fold.workers.excludes(other) or (held and not may_have_copy(fold, other)):
                continue
            if not fold.leases.was_given(question, other) and not fold.exploration.would_repeat(question, other):
                return True
        return False

    def _forget_before(self, since: float) -> None:
        for gone in list(takewhile(lambda who: self._asked[who] <= since, self._asked)):
            del self._asked[gone]

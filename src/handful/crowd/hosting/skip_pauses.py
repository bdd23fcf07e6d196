"""Pauses for whoever skips one question after another, so that nobody leafs through all of them."""

from __future__ import annotations

FREE_SKIPS = 10
LONGEST_S = 10.0
EXEMPT = "unsuitable"
"""The reason of somebody who does not want to see what is shown: they never wait for that."""


def pause_after(skips: int) -> float:
    """How many seconds the next question takes after so many skips in a row: none before ten, then 1, 2, 4, 8, 10."""
    return 0.0 if skips < FREE_SKIPS else min(LONGEST_S, 2.0 ** min(skips - FREE_SKIPS, 10))


class SkipPauses:
    """Who skips many in a row, known in memory alone: it changes nothing of what anybody is paid or whether they count.

    What belongs to one worker is done under that worker's lock.
    """

    def __init__(self) -> None:
        self._skips: dict[str, int] = {}
        self._until: dict[str, float] = {}

    def skipped(self, worker: str, reason: str, now: float) -> None:
        """They gave a question or a check back."""
        if reason == EXEMPT:
            return
        self._skips[worker] = skips = self._skips.get(worker, 0) + 1
        if pause := pause_after(skips):
            self._until[worker] = now + pause

    def answered(self, worker: str) -> None:
        """They answered: nothing of what they skipped before matters."""
        self._skips.pop(worker, None)
        self._until.pop(worker, None)

    def left(self, worker: str, now: float) -> float:
        """How many seconds until they are shown the next question."""
        until = self._until.get(worker)
        return 0.0 if until is None else max(0.0, min(until - now, LONGEST_S))

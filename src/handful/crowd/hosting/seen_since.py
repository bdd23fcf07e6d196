"""How long workers look at their questions, as the server sees it: from the reply that showed one to its answer."""

from __future__ import annotations

import time


class SeenSince:
    """The question that each worker sees, and since when, by a clock that does not jump."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[str, float]] = {}

    def shown(self, worker: str, question: str) -> None:
        """A reply shows this question first; again, if it did before."""
        if self._of.get(worker, ("", 0.0))[0] != question:
            self._of[worker] = question, time.monotonic()

    def took(self, worker: str, question: str) -> int | None:
        """Milliseconds since then; None for a question that was not the first to be seen."""
        seen, since = self._of.get(worker, ("", 0.0))
        return round(1000 * (time.monotonic() - since)) if seen == question else None

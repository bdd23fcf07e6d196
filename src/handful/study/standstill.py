"""Whether a cap on shares of a round keeps everybody from going on, and which."""

from __future__ import annotations

LATELY_S = 60.0
PATIENCE_S = 120.0
"""For so long nobody could go on, before it is told."""


class Standstill:
    """Since when nobody has got a question, and when each cap last kept somebody from getting one. Not stored."""

    def __init__(self) -> None:
        self._kept_back: dict[str, float] = {}
        self._since: float | None = None  # when somebody was first kept back after the last who went on

    def kept_back(self, cap: str, now: float) -> None:
        """A cap kept somebody from getting a question."""
        self._kept_back[cap] = now
        if self._since is None:
            self._since = now

    def went_on(self) -> None:
        """Somebody may have a question."""
        self._since = None

    def cap(self, now: float) -> str | None:
        """The cap that has kept those who are here waiting for long, while nobody went on; None if there is none."""
        since = self._since  # another thread may change it at any moment, as it may what is copied below
        if since is None:
            return None
        if now - since < PATIENCE_S:
            return None
        return next((cap for cap, when in self._kept_back.copy().items() if when > now - LATELY_S), None)

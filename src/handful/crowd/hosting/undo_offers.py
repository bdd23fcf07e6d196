"""The last answer of each worker, while it may be undone."""

from __future__ import annotations

from dataclasses import dataclass

from handful.crowd import messages
from handful.crowd.hosting.showing import Said


@dataclass(frozen=True)
class _LastAnswer:
    token: str
    said: Said
    until: float


class UndoOffers:
    """What each worker may still undo, and until when."""

    def __init__(self) -> None:
        self._last: dict[str, _LastAnswer] = {}

    def renew(self, worker: str, offer: tuple[str, Said, float] | None) -> None:
        """There is a newer answer: it may be undone as `offer` says, or not at all."""
        before = self._last.pop(worker, None)
        if offer is not None:
            token, said, until = offer
            if before is not None and before.token == token:  # the same question: its time goes on
                until = before.until
            self._last[worker] = _LastAnswer(token, said, until)

    def of(self, worker: str, now: float, redo_s: float) -> messages.UndoOffer | None:
        """What to offer the worker now; whoever undoes has `redo_s` more to choose again."""
        last = self._last.get(worker)
        if last is None or last.until <= now:
            self._last.pop(worker, None)
            return None
        said, seconds = last.said, round(last.until - now, 1)
        choose_s = round(seconds + redo_s, 1)
        return messages.UndoOffer(
            token=last.token, side=said.side, option=said.option, seconds=seconds, choose_s=choose_s
        )

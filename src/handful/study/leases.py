"""Questions without an answer: who holds each, until when, and which wait to be handed out again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Lease:
    """An open question. `expires` is ∞ while nobody holds it."""

    worker: str | None
    expires: float
    held: bool = True
    skips: int = 0
    seen: list[str | None] = field(default_factory=list)


class Leases:
    """All open questions of a study."""

    def __init__(self) -> None:
        self._open: dict[int, Lease] = {}
        self._waiting: dict[int, None] = {}  # an ordered set: to be handed out again
        self._held: dict[str | None, dict[int, None]] = {}  # by whoever holds them
        self._earliest = math.inf  # no lease expires before this

    def snapshot(self) -> Leases:
        """A copy to look at, which later events do not change."""
        seen = Leases()
        seen._open = {q: Lease(l.worker, l.expires, l.held, l.skips, l.seen) for q, l in self._open.items()}
        seen._waiting, seen._earliest = dict(self._waiting), self._earliest
        seen._held = {worker: dict(held) for worker, held in self._held.items()}
        return seen

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, question: int) -> bool:
        return question in self._open

    def numbers(self) -> list[int]:
        """The open questions, in the order asked."""
        return sorted(self._open)

    def grant(self, question: int, worker: str | None, expires: float) -> None:
        """Note that `worker` holds the question until `expires`."""
        lease = self._open.get(question)
        if lease is None:
            self._open[question] = Lease(worker, expires, seen=[worker])
        else:
            self._waiting.pop(question, None)
            self._let_go(question, lease)
            lease.worker, lease.expires, lease.held = worker, expires, True
            lease.seen.append(worker)
        held = self._held.get(worker)
        if held is None:
            self._held[worker] = {question: None}
        else:
            held[question] = None
        if expires < self._earliest:
            self._earliest = expires

    def _let_go(self, question: int, lease: Lease) -> None:
        """Take the question from its holder, if it has one."""
        held = self._held.get(lease.worker)
        if lease.held and held is not None:
            held.pop(question, None)
            if not held:
                del self._held[lease.worker]

    def end(self, question: int, *, again: bool) -> None:
        """Take the question from its holder; with `again` it waits for the next worker."""
        lease = self._open[question]
        self._let_go(question, lease)
        lease.worker, lease.expires, lease.held = None, math.inf, False
        if again:
            self._waiting[question] = None

    def skip(self, question: int, *, again: bool) -> int:
        """End the lease by a skip; give how often the question was skipped."""
        self.end(question, again=again)
        self._open[question].skips += 1
        return self._open[question].skips

    def drop(self, question: int) -> None:
        """Remove a question that is answered or void."""
        lease = self._open.pop(question, None)
        if lease is not None:
            self._let_go(question, lease)
        if self._waiting:
            self._waiting.pop(question, None)

    def forget_waiting(self) -> None:
        """Hand out no waiting question again, because their round is over; an answer may still come."""
        self._waiting.clear()

    def holder(self, question: int) -> tuple[bool, str | None]:
        """Whether somebody holds the question, and who."""
        lease = self._open.get(question)
        return (lease.held, lease.worker) if lease else (False, None)

    def holders(self, now: float = -math.inf) -> list[str | None]:
        """Who holds a question that is not overdue at `now`, once for each such question."""
        return [lease.worker for lease in list(self._open.values()) if lease.held and lease.expires > now]

    def held_by(self, worker: str | None) -> list[int]:
        """The questions that `worker` holds, oldest first."""
        return sorted(self._held.get(worker, ()))

    def held_longest(self, first: int, worker: str, may: Callable[[int], bool]) -> int | None:
        """The question of this round, from `first` on, that others have held longest, and that `worker` has not seen
        and may have.
        """
        held = sorted(
            (lease.expires, question)
            for question, lease in self._open.items()
            if lease.held and question >= first and worker not in lease.seen
        )
        return next((question for _, question in held if may(question)), None)

    def overdue(self, now: float) -> list[int]:
        """The questions that somebody holds although the lease has run out: it ends when anybody asks."""
        return [question for question, lease in list(self._open.items()) if lease.expires <= now]

    def due(self, now: float) -> tuple[int, ...]:
        """The overdue questions, for whoever ends their leases now."""
        if now < self._earliest:
            return ()
        due = tuple(self.overdue(now))
        self._earliest = min((lease.expires for lease in self._open.values() if lease.expires > now), default=math.inf)
        return due

    @property
    def any_waiting(self) -> bool:
        """Whether a question is to be handed out again."""
        return bool(self._waiting)

    def was_given(self, question: int, worker: str | None) -> bool:
        """Whether an open question was handed to the worker before."""
        return worker in self._open[question].seen

    def waiting(self, worker: str | None, *, seen: bool | None, may: Callable[[int], bool]) -> int | None:
        """The oldest question to hand out again that `worker` has seen before, or has not (None: either), and that they
        may have.
        """
        of_theirs = (question for question in self._waiting if seen in (None, self.was_given(question, worker)))
        return next(filter(may, of_theirs), None)

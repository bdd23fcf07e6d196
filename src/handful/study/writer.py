"""The only hand that writes a journal: events are applied and queued under one lock, and waited for outside it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager

from handful.errors import HandfulError, StorageError
from handful.storage import Journal, Record, Ticket
from handful.study.event_records import to_record
from handful.study.events import Created, Event
from handful.study.fold import Fold
from handful.study.replaying import fold_of

Callback = Callable[[Event], None]


AT_ONCE_S = 0.005
"""Most turns are over sooner: to wait for them costs less than to leave it to another thread."""


class Turn:
    """A context manager of a generator that yields once, which is quicker to make than one of `contextlib`.

    A generator, so that an interrupt at any moment ends it: when nothing refers to it any more, at the latest.
    """

    __slots__ = ("_steps",)

    def __init__(self, steps: Generator[float, None, None]) -> None:
        self._steps = steps

    def __enter__(self) -> float:
        return next(self._steps)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            next(self._steps, None)
        else:
            self._steps.throw(error)


class AtOnce:
    """What was done in a block that waits for nothing: nobody may be told of it before `ticket` is done."""

    ticket: Ticket | None = None


class Writer:
    """A fold, the journal it follows, and the lock around both."""

    def __init__(self, journal: Journal, fold: Fold, seq: int, clock: Callable[[], float]) -> None:
        self.fold = fold
        self.journal = journal
        self.lock = threading.RLock()
        self._clock = clock
        self._seq = seq
        self._pending: list[Record] = []
        self._happened: list[Event] = []
        self._callbacks: list[Callback] = []
        self._failure: StorageError | None = None
        self._last: Ticket | None = None
        self._at_once = False

    def writing(self, *, wait: bool = True) -> Turn:
        """A turn to emit events; it ends once they are durable (or with wait=False, once they are queued)."""
        return Turn(self._turn(wait))

    def _turn(self, wait: bool) -> Generator[float, None, None]:
        with self.lock:
            if self._failure is not None:
                raise StorageError(
                    f"this study could not store what happened ({self._failure}); "
                    "open it again to go on from what is stored"
                ) from self._failure
            try:
                yield self._clock()
            except HandfulError:
                ticket, happened = self._append()
                raise
            except BaseException:
                self._start_over()
                raise
            else:
                ticket, happened = self._append()
            wait = wait and not self._at_once  # looked at while it is this thread's own
        if wait and ticket is not None:
            self.wait(ticket)
        if happened:
            for callback in self._callbacks:
                for event in happened:
                    callback(event)

    @contextmanager
    def at_once(self) -> Iterator[AtOnce | None]:
        """Let no turn in this block wait for the disk; None where another thread is at the study for long.

        For a thread that must not block: it waits for the ticket in a way of its own, and then calls `wait`.
        """
        if not self.lock.acquire(timeout=AT_ONCE_S):
            yield None
            return
        done = AtOnce()
        try:
            self._at_once = True
            yield done
        finally:
            self._at_once, done.ticket = False, self._last
            self.lock.release()

    def emit(self, event: Event, now: float) -> None:
        """Apply an event and put it on its way; only within `writing`."""
        self._pending.append(to_record(event, self._seq + len(self._pending), now))
        self.fold.apply(event, now)
        if self._callbacks:
            self._happened.append(event)

    def begin(self, event: Created) -> None:
        """Put the journal's first event on its way; it made the fold and is not applied to it."""
        with self.lock:
            self._pending.append(to_record(event, 0, self._clock()))

    def wait(self, ticket: Ticket) -> None:
        """Wait until it is durable. If it cannot be stored, memory and journal differ, and the study takes no more."""
        try:
            ticket.wait()
        except StorageError as error:
            self._failure = error
            raise

    def flush(self) -> None:
        """Wait until everything that was emitted is durable."""
        if self._last is not None:
            self.wait(self._last)

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Call `callback` after each event; gives the function that ends it."""
        self._callbacks = [*self._callbacks, callback]

        def unsubscribe() -> None:
            self._callbacks = [kept for kept in self._callbacks if kept is not callback]

        return unsubscribe

    def _append(self) -> tuple[Ticket | None, list[Event]]:
        self.fold.exploration.catch_up()  # others may look at it from now on
        happened, self._happened = self._happened, []
        if not self._pending:
            return self._last, happened  # what a repeat is told about must be durable too
        records, self._pending = self._pending, []
        try:
            self._last = self.journal.append(records)
        except StorageError as error:
            self._failure = error
            raise
        self._seq += len(records)
        return self._last, happened

    def _start_over(self) -> None:
        """Interrupted half-way through an event: nothing of this turn has happened, and the journal knows the rest."""
        self._pending, self._happened = [], []
        self._failure = StorageError("it was interrupted twice")  # unless what follows is done
        try:
            self.fold, self._seq = fold_of(self.journal.read)
            self._failure = None
        except StorageError as error:
            self._failure = error

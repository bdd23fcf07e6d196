"""A study's journal: replayed into a state, opened, and written by one hand."""

from __future__ import annotations

import gc
import logging
import math
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from handful import events
from handful.errors import HandfulError, InvalidProblem, StorageCorrupt, StorageError, StudyExists
from handful.events import Asked, Created, Event, RoundClosed, event_of, payload_of, setup_of, to_record
from handful.explorers.registry import spelled
from handful.questions import check_same_ids
from handful.setup import Setup, warn_of_small_budget
from handful.state import State, is_free, set_in_flight
from handful.storage import Journal, Record, Ticket, open_journal

log = logging.getLogger("handful.study")

JUMP_S = 30.0
"""A difference that is worth telling: clocks that are kept right are moved by less."""


def _since_boot() -> float:
    """Seconds that never jump; those in which the machine slept count too, where the system tells them."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class SteadyClock:
    """Begins with the time of day, and goes on evenly whatever becomes of that.

    `not_before` is the last time that was recorded. A clock that was set back since then begins there, so that no
    lease lasts an hour longer for it. A jump is told in the log, once each; times follow it after the next start.
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        elapsed: Callable[[], float] = _since_boot,
        not_before: float = -math.inf,
    ) -> None:
        self._wall, self._elapsed = wall, elapsed
        now = wall()
        self._began_at = max(now, not_before)
        self._elapsed_then = elapsed()
        self._behind = now - self._began_at  # by how much the time of day differs

    def __call__(self) -> float:
        now = self._began_at + (self._elapsed() - self._elapsed_then)
        behind = self._wall() - now
        if abs(behind - self._behind) > JUMP_S:
            log.warning(
                "the clock of this machine jumped by %+.0f seconds: leases and recorded times go on without the jump "
                "until the next start",
                behind - self._behind,
            )
            self._behind = behind
        return now


RecordReader = Callable[[Record, object], None]
"""What is called with a record and its payload, which is None where it is the first."""

_SHOWN = 20  # differences that are told in words; of all there is a count


def replayed(read: Callable[[], Iterable[Record]], *, watch: RecordReader | None = None) -> tuple[State, int]:
    """The state after all records that `read` gives, and the number of the next.

    `watch` is called with all records, once they are applied; with the first without its payload.
    """
    records = iter(read())
    collecting = gc.isenabled()
    gc.disable()  # there is no garbage in what is read, and looking for it takes a third of the time
    try:
        first = next(records, None)
        state, count = State(_setup_in(first)), 1
        if watch is not None and first is not None:
            watch(first, None)
        for record in records:
            data = payload_of(record)
            state.apply(event_of(record, data), record.time)
            count += 1
            if watch is not None:
                watch(record, data)
        state.exploration.catch_up()
        return state, count
    finally:
        if collecting:
            gc.enable()
        if isinstance(records, Generator):
            records.close()  # now, and not whenever it is collected: it may hold a connection


def _setup_in(record: Record | None) -> Setup:
    if record is None or record.kind != Created.kind:
        raise StorageCorrupt("the journal does not begin with the study's creation: restore it from a backup")
    return setup_of(record)


@dataclass(frozen=True)
class Mismatches:
    """Decisions in a journal that would be others today: how many, and the first of them in words."""

    count: int
    first: tuple[str, ...]


def mismatches_in(records: Iterable[Record]) -> Mismatches:
    """Take every decision of a journal again; InvalidProblem where it was made by another handful or other rules."""
    found = list(_differences(records))
    return Mismatches(len(found), tuple(found[:_SHOWN]))


def _differences(records: Iterable[Record]) -> Iterator[str]:
    stream = iter(records)
    setup = _setup_in(next(stream, None))
    if not setup.is_current:
        raise InvalidProblem(f"this study was {setup.made_by}: no other version can say whether it decided rightly")
    state = State(setup)
    for record in stream:
        event = event_of(record, payload_of(record))
        yield from _difference(state, event)
        state.apply(event, record.time)


def _difference(state: State, event: Event) -> Iterator[str]:
    """In what an event differs from what would be decided now."""
    rounds = state.exploration
    if isinstance(event, Asked) and event.copy < 0:
        proposed, recorded = rounds.proposal(event.worker), (event.item, event.rival, event.given, *event.more)
        if proposed != recorded:
            yield f"question q{event.question} asked {recorded}, now it would be {proposed}"
    elif isinstance(event, RoundClosed):
        if event.ended == "closed":
            rounds.conclude_early()
        elif event.ended == "filled":
            rounds.fill()
        found = rounds.closing() if rounds.decided else None
        if found != event:
            yield f"round {event.round} was closed by {event}, now it would be by {found}"


Callback = Callable[[Event], None]


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


class Writer:
    """A state, the journal it follows, and the lock around both."""

    def __init__(self, journal: Journal, state: State, seq: int, clock: Callable[[], float]) -> None:
        self.state = state
        self.journal = journal
        self.lock = threading.RLock()
        self._clock = clock
        self._seq = seq
        self._pending: list[Record] = []
        self._happened: list[Event] = []
        self._callbacks: list[Callback] = []
        self._failure: StorageError | None = None
        self._last: Ticket | None = None

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
        if wait and ticket is not None:
            self.wait(ticket)
        if happened:
            for callback in self._callbacks:
                for event in happened:
                    callback(event)

    def emit(self, event: Event, now: float) -> None:
        """Apply an event and put it on its way; only within `writing`."""
        self._pending.append(to_record(event, self._seq + len(self._pending), now))
        self.state.apply(event, now)
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
        self.state.exploration.catch_up()  # others may look at it from now on
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
            self.state, self._seq = replayed(self.journal.read)
            self._failure = None
        except StorageError as error:
            self._failure = error


Exists = Literal["error", "open"]
Clock = Callable[[], float]


def begun_or_stored(
    setup: Setup, storage: str | Path | None, name: str, exists: Exists, clock: Clock
) -> tuple[Writer, bool]:
    """The writer of a new study, or with `exists="open"` of the stored one of that name; and whether it is new."""
    if exists not in ("error", "open"):
        raise InvalidProblem(f'exists must be "error" or "open" (go on with the stored study), got {exists!r}')
    try:
        return _begun(setup, storage, name, clock), True
    except StudyExists:
        if exists == "error" or storage is None:
            raise
        writer = stored(storage, name, setup.ids, clock, setup=setup, mode="write")
        if not setup.in_flight_left and writer.state.setup.is_current:
            set_in_flight(writer, setup.problem.in_flight)
        return writer, False


def _begun(setup: Setup, storage: str | Path | None, name: str, clock: Clock) -> Writer:
    state = State(setup)
    journal = open_journal(storage, name, mode="create")
    try:
        warn_of_small_budget(state)
    except BaseException:
        journal.close()
        raise
    writer = Writer(journal, state, 0, SteadyClock() if clock is time.time else clock)
    writer.begin(events.Created(setup.to_dict()))
    return writer


def stored(
    url: str | Path,
    name: str,
    ids: Sequence[str] | None,
    clock: Clock,
    *,
    setup: Setup | None = None,
    mode: Any,
    watch: RecordReader | None = None,
) -> Writer:
    """The writer of a stored study; an error if `ids` or the settings in `setup` are not those it was made with.

    `watch` is called with each record that is read, and with its payload; the first comes without.
    """
    journal = open_journal(url, name, mode=mode)
    try:
        state, seq = replayed(journal.read, watch=watch)
        if ids is not None:
            check_same_ids(ids, state.setup.ids)
        if setup is not None:
            _check_same_settings(setup, state, name)
        if clock is time.time:
            clock = SteadyClock(not_before=_last_time(journal, seq))
    except BaseException:
        journal.close()
        raise
    return Writer(journal, state, seq, clock)


def _last_time(journal: Journal, seq: int) -> float:
    """When the last of so many records was written."""
    return next(iter(journal.read(seq - 2))).time


def differences(given: Setup, found: State) -> dict[str, tuple[str, str]]:
    """The settings that differ, by name: as they are stored, and as they were given. An extended budget is the same
    as the one the study was made with, and so is the `in_flight` that the first run said where nobody had.
    """
    there, here = found.setup.to_dict(), given.to_dict()
    differ = {key for key, value in here.items() if there.get(key) != value and key not in ("handful", "rules")}
    differ.discard("in_flight_left")
    if is_free(found) or (given.in_flight_left and (found.setup.in_flight_left or found.setup.problem.in_flight == 1)):
        differ.discard("in_flight")
    if here["budget"] == found.budget:
        differ.discard("budget")
    there |= {"budget": found.budget, "explorer": spelled(found.setup.explorer)}
    here |= {"explorer": spelled(given.explorer)}
    return {key: (_told(there.get(key)), _told(here[key])) for key in here if key in differ}


def spelled_out(differing: dict[str, tuple[str, str]]) -> str:
    """Differences for a message."""
    return "; ".join(f"{key}: {there} there, {here} here" for key, (there, here) in differing.items())


def _check_same_settings(given: Setup, found: State, name: str) -> None:
    differing = differences(given, found)
    if differing:
        more = "; its budget grows by extend()" if differing.keys() == {"budget"} else ""
        raise StudyExists(
            f"there is a study {name!r} already, and it was made with other settings ({spelled_out(differing)}): give "
            f"the same settings to go on with it, take it as it is by Study.open, or choose another name{more}"
        )


def _told(value: object) -> str:
    """A setting in a few words."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_told(inner)}" for key, inner in value.items() if inner is not None) or "none"
    if isinstance(value, list | tuple) and len(value) > 5:
        return f"{len(value)} of them"
    return "none" if value is None else str(value)

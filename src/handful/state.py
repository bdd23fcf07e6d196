"""A study's state: `apply` is all that ever changes it, live and on replay. It decides nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np

from handful import events
from handful.errors import InvalidProblem, StorageCorrupt
from handful.events import InFlightSet
from handful.preregistration import PREREGISTERED, Registered
from handful.problem import Ints
from handful.questions import ANSWERED, LATE, PROVISIONAL, UNANSWERED, VOID, Questions
from handful.rounds import ClosedRound, Rounds
from handful.rules import Door
from handful.setup import Setup
from handful.workers import NOT_VERIFIED, WITHDREW, Conducts, Shares, Workers

if TYPE_CHECKING:
    from handful.journal import Writer


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


WITH_ANSWER = (ANSWERED, PROVISIONAL, LATE)


def repeated_questions(state: State) -> Ints:
    """Their numbers, in order; of those who answered without a name there are none.

    The columns cannot grow meanwhile: give a snapshot where answers may come in.
    """
    questions = state.questions
    worker, rival = np.asarray(questions.worker, np.int64), np.asarray(questions.rival, np.int64)
    here = np.flatnonzero((worker >= 0) & (rival >= 0) & np.isin(np.asarray(questions.standing), WITH_ANSWER))
    round_ = np.asarray(questions.round, np.int64)[here]
    if not len(here):
        return here
    item = np.asarray(questions.item, np.int64)
    if questions.names_one:
        options = questions.rows_of_options(range(len(questions)))[here]
        named = np.asarray(questions.answer)[here].astype(np.int64)
        row, column = np.nonzero((options >= 0) & (options != named[:, None]))
        one, other, question, of = named[row], options[row, column], here[row], round_[row]
    else:
        one, other, question, of = item[here], rival[here], here, round_
    low, high = np.minimum(one, other), np.maximum(one, other)
    compared = np.stack([worker[question], of, low, high])
    order = np.lexsort((question, *compared))
    same = (compared[:, order[1:]] == compared[:, order[:-1]]).all(axis=0)
    return np.unique(question[order[1:][same]])


def set_in_flight(writer: Writer, most: int) -> None:
    """Write down that so many may be out, if the study was made without saying and is free to be told."""
    if is_free(writer.state):
        with writer.writing() as now:
            writer.emit(InFlightSet(most), now)


def change_in_flight(state: State, most: int) -> None:
    """What `InFlightSet` does: the explorer begins anew with this many."""
    if not is_free(state):
        raise StorageCorrupt(
            "the journal says how many questions may be unanswered at once after it was fixed: restore the storage "
            "from a backup"
        )
    try:
        problem = replace(state.setup.problem, in_flight=most)
    except InvalidProblem as error:
        raise StorageCorrupt(f"the journal cannot be right ({error}): restore the storage from a backup") from error
    state.setup, state.in_flight_set = replace(state.setup, problem=problem), True
    state.exploration.begin_anew(problem)


def is_free(state: State) -> bool:
    """Whether the number may still be said: only once, before anything was asked or picked, and before the study was
    preregistered, with 1.
    """
    untouched = len(state.questions) == 0 and not state.rounds and not state.closed
    return state.setup.in_flight_left and not state.in_flight_set and state.registered is None and untouched


SKIPS_TO_VOID = 3


class State:
    """The state of a study after the events applied so far."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.questions = Questions(setup.problem.feedback.options, paired=setup.scenarios == "paired")
        self.workers = Workers()
        self.conducts = Conducts(setup.rule)
        self.shares = Shares()
        self.doors: list[Door] = []  # that the organizer changed to
        self.leases = Leases()
        self.exploration = Rounds(setup, self.questions, self.workers)
        self.provisional = Provisionals()
        self.answers = 0  # charged, whether or not they count
        self.passed_on = False  # whether a question that somebody did not answer went to somebody else
        self.withdrawn_late = False  # whether an item was withdrawn after the first answer
        self.paused = False
        self.closed = False
        self.registered: Registered | None = None
        self.certificate: dict[str, Any] | None = None  # as it was recorded when the study ended
        self.certified = False  # whether nothing that it rests on has changed since
        self.in_flight_set = False  # whether it was said after the study was made how many questions may be out
        self._appliers: dict[type, Callable[[Any, float], None]] = {
            events.Asked: self._asked,
            events.Leased: self._leased,
            events.Expired: self._expired,
            events.Told: self._told,
            events.Revised: self._revised,
            events.Settled: self._settled,
            events.Skipped: self._skipped,
            events.RoundClosed: self._round_closed,
            events.Excluded: self._excluded,
            events.Restored: self._restored,
            events.Opened: self._opened,
            events.Paused: self._paused,
            events.Closed: self._closed,
            events.Extended: self._extended,
            events.Withdrawn: self._withdrawn,
            events.InFlightSet: self._in_flight_set,
            events.CheckAnswered: self._checked,
            events.Admitted: self._admitted,
            events.DoorChanged: self._door_changed,
            events.CertificateRecorded: self._certified,
            events.Noted: self._noted,
        }

    @property
    def rounds(self) -> list[ClosedRound]:
        """The rounds that are over."""
        return self.exploration.closed

    @property
    def chosen(self) -> tuple[int, ...]:
        """The items picked so far, in order, those chosen at the start first."""
        return self.setup.problem.chosen + tuple(closed.closing.pick for closed in self.rounds)

    @property
    def door(self) -> Door | None:
        """How people come now."""
        return self.doors[-1] if self.doors else self.setup.door

    @property
    def cut_short(self) -> tuple[int, ...]:
        """The picks of rounds that were decided with what was known when the study was finished early."""
        return tuple(closed.closing.pick for closed in self.rounds if closed.closing.ended == "closed")

    @property
    def filled(self) -> tuple[int, ...]:
        """The picks that were filled in when the study was finished early."""
        return tuple(closed.closing.pick for closed in self.rounds if closed.closing.ended == "filled")

    @property
    def finished(self) -> str | None:
        """Why no more questions will come; None while they may."""
        k = self.setup.problem.k
        if self.rounds and self.filled:
            were = "was" if len(self.filled) == 1 else "were"
            return f"the study was finished early: {len(self.filled)} of {k} items {were} filled in from what was known"
        if self.exploration.all_picked:
            if self.rounds and self.rounds[-1].closing.ended == "closed":
                which = f"the last of {k} items" if k > 1 else "the item"
                return f"the study was finished early: {which} was decided with what was known"
            return f"all {k} items are picked" if k > 1 else "the item is picked"
        if self.closed:
            return f"the study was finished early with {len(self.chosen)} of {k} items picked"
        return None

    @property
    def budget(self) -> int | None:
        """Answers that may be spent in all; None for any number."""
        total = self.exploration.budget
        return getattr(total, "answers", None)

    def first_of(self, round_: int) -> int:
        """The first question of a round."""
        at = round_ - len(self.setup.problem.chosen) - 1
        return self.rounds[at].questions.start if at < len(self.rounds) else self.exploration.first

    def snapshot(self) -> State:
        """A copy to look at, which later events do not change: for what takes too long to look at under a lock."""
        seen = copy(self)
        seen.questions = self.questions.snapshot()
        seen.workers, seen.conducts = self.workers.snapshot(), self.conducts.snapshot()
        seen.exploration = self.exploration.snapshot(seen.questions, seen.workers)
        seen.leases, seen.provisional = self.leases.snapshot(), self.provisional.snapshot()
        seen._appliers = {}  # those of the original would change the original
        return seen

    def apply(self, event: events.Event, time: float) -> None:
        """Change the state by one event."""
        self._appliers[type(event)](event, time)

    def _known(self, question: int, *standings: int) -> int:
        """The question, if it is there and stands as the event needs it; a journal that says otherwise is corrupt."""
        if not 0 <= question < len(self.questions) or self.questions.standing[question] not in standings:
            raise StorageCorrupt(
                f"the journal tells of question q{question}, which was not open then: restore the storage from a backup"
            )
        return question

    def _asked(self, event: events.Asked, time: float) -> None:
        question, item, more, worker = event.question, event.item, event.more, event.worker
        if question != len(self.questions) or not 0 <= item < len(self.setup.ids):
            raise StorageCorrupt(f"the journal asks question q{question} out of turn: restore it from a backup")
        if more != () and not (_are_numbers(more) and min(more) >= 0 and max(more) < len(self.setup.ids)):
            raise StorageCorrupt(f"question q{question} shows items that there are not: restore it from a backup")
        self.exploration.asked(item, event.rival, event.given, more)
        if worker is not None and event.rival >= 0:
            self.exploration.seen.show(question, worker)
        self.grant(question, worker, time)

    def grant(self, question: int, worker: str | None, time: float) -> None:
        """Let a worker hold a question from `time` on."""
        self.leases.grant(question, worker, time + self.setup.lease_s)

    def _leased(self, event: events.Leased, time: float) -> None:
        question = self._known(event.question, UNANSWERED)
        self.grant(question, event.worker, time)
        if event.worker is not None and self.questions.rival[question] >= 0 and self._is_of_open_round(question):
            self.exploration.seen.show(question, event.worker)

    def _expired(self, event: events.Expired, time: float) -> None:
        for question in event.questions:
            self.leases.end(self._known(question, UNANSWERED), again=self._is_of_open_round(question))
            self.passed_on = True

    def _told(self, event: events.Told, time: float) -> None:
        question, worker, questions = self._known(event.question, UNANSWERED), event.worker, self.questions
        self.leases.drop(question)
        questions.answer[question] = self._answer(question, event.answer)
        number = questions.worker[question] = self.workers.note_answer(worker)
        self.answers += 1
        if number >= 0:
            self.shares.note(number, question >= self.exploration.first)
            if self.setup.rule is not None:
                self.conducts.change(number).note_answer(event.meta, event.duration)
        if event.undo_until is not None:
            questions.standing[question] = PROVISIONAL
            self.provisional[question] = Provisional(worker, event.undo_until)
        else:
            questions.standing[question] = ANSWERED
            self.exploration.done(question)

    def _revised(self, event: events.Revised, time: float) -> None:
        question = self._known(event.question, PROVISIONAL)
        self.questions.answer[question] = self._answer(question, event.answer)

    def _answer(self, question: int, answer: float) -> float:
        """The answer as a column keeps it; one that names no option is of a corrupt journal."""
        questions = self.questions
        if questions.names_one and answer not in questions.options(question):
            raise StorageCorrupt(
                f"the journal answers question q{question} with item {answer}, which is none of its options: "
                "restore the storage from a backup"
            )
        return float(answer)

    def _settled(self, event: events.Settled, time: float) -> None:
        for question in event.questions:
            del self.provisional[self._known(question, PROVISIONAL)]
            self.questions.standing[question] = ANSWERED
            self.exploration.done(question)

    def _skipped(self, event: events.Skipped, time: float) -> None:
        question = self._known(event.question, UNANSWERED)
        self.workers.note_skip(event.worker)
        self.passed_on = True
        if self.leases.skip(question, again=self._is_of_open_round(question)) == SKIPS_TO_VOID:
            self._void(question)

    def _void(self, question: int) -> None:
        self.leases.drop(question)
        self.questions.standing[question] = VOID
        if self._is_of_open_round(question):
            self.exploration.done(question)

    def _is_of_open_round(self, question: int) -> bool:
        return question >= self.exploration.first

    def _round_closed(self, event: events.RoundClosed, time: float) -> None:
        self.exploration.close(event, self.spent)
        self.leases.forget_waiting()
        self.shares.next_round()
        self.certified = False

    @property
    def spent(self) -> int:
        """Answers charged, and questions in flight that may yet be."""
        return self.answers + len(self.leases)

    def _in_flight_set(self, event: events.InFlightSet, time: float) -> None:
        change_in_flight(self, event.most)

    def _excluded(self, event: events.Excluded, time: float) -> None:
        withdrew, unverified = event.reason == WITHDREW, event.reason == NOT_VERIFIED
        self.workers.exclude(event.worker, event.by_rule, withdrew=withdrew, unverified=unverified)
        self.exploration.count_again()
        self.certified = False

    def _restored(self, event: events.Restored, time: float) -> None:
        self.workers.restore(event.worker, unverified=event.unverified)
        self.exploration.count_again()
        self.certified = False

    def _checked(self, event: events.CheckAnswered, time: float) -> None:
        number = self.workers.number(event.worker)
        self.conducts.change(number).note_check(event.check, event.right, event.duration, event.revised)
        self.shares.note(number, False)

    def _admitted(self, event: events.Admitted, time: float) -> None:
        self.conducts.change(self.workers.number(event.worker)).admitted = True

    def _door_changed(self, event: events.DoorChanged, time: float) -> None:
        self.doors.append(Door.from_dict(event.door))

    def _opened(self, event: events.Opened, time: float) -> None:
        self.paused = False

    def _paused(self, event: events.Paused, time: float) -> None:
        self.paused = True

    def _closed(self, event: events.Closed, time: float) -> None:
        self.closed = True
        self.certified = False

    def _certified(self, event: events.CertificateRecorded, time: float) -> None:
        self.certificate, self.certified = event.certificate, True

    def _extended(self, event: events.Extended, time: float) -> None:
        self.exploration.extend(event.answers)

    def _withdrawn(self, event: events.Withdrawn, time: float) -> None:
        exploration = self.exploration
        self.withdrawn_late |= self.answers > 0
        exploration.withdraw(event.item)
        for question in range(exploration.first, len(self.questions)):
            if event.item in self.questions.options(question) and self.questions.standing[question] == UNANSWERED:
                self._void(question)

    def _noted(self, event: events.Noted, time: float) -> None:
        """Notes change nothing but what is said of the study: the first preregistration stands."""
        if event.topic == PREREGISTERED and self.registered is None and isinstance(event.data, dict):
            said = event.data
            self.registered = Registered(str(said.get("hash")), str(said.get("salt")), self.answers)


def _are_numbers(more: object) -> bool:
    return type(more) is tuple and set(map(type, more)) == {int}

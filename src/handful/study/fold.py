"""A study's state as a fold over its journal: `apply` is all that ever changes it, live and on reopening alike."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from handful.errors import StorageCorrupt
from handful.study import events
from handful.study.closed_round import ClosedRound
from handful.study.conduct import NOT_VERIFIED, WITHDREW, Conducts
from handful.study.doors import Door
from handful.study.in_flight import change_in_flight
from handful.study.leases import Leases
from handful.study.preregistration import PREREGISTERED, Registered
from handful.study.provisionals import Provisional, Provisionals
from handful.study.questions import ANSWERED, PROVISIONAL, UNANSWERED, VOID, Questions
from handful.study.rounds import Rounds
from handful.study.setup import Setup
from handful.study.shares import Shares
from handful.study.workers import Workers

SKIPS_TO_VOID = 3


class Fold:
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

    def snapshot(self) -> Fold:
        """A copy to look at, which later events do not change: for what takes too long to look at under a lock."""
        seen = copy(self)
        seen.questions = self.questions.snapshot()
        seen.workers, seen.conducts = self.workers.snapshot(), self.conducts.snapshot()
        seen.exploration = self.exploration.snapshot()
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

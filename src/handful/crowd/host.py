"""A host: one study as its workers meet it, who holds which question, on which side, and what comes next."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from handful.crowd import messages
from handful.crowd.caps import Caps
from handful.crowd.cards import Deck, Said, Showing
from handful.crowd.checks import DrawnChecks
from handful.crowd.collection import Collection
from handful.crowd.intake import check_cards
from handful.crowd.people import DAYS, People
from handful.crowd.picks import summary_of
from handful.crowd.plan import EXPECTED, ExpectedPeople, expected_in, expected_minutes
from handful.crowd.refusals import not_found, not_needed, study_ended, too_late
from handful.crowd.session import LastAnswer, Sessions
from handful.crowd.settings import Settings
from handful.crowd.statistics import AnswerStatistics
from handful.crowd.tokens import Worker
from handful.crowd.words import WORDS, cleaned_words, settings_with
from handful.errors import InvalidAnswer, StorageError
from handful.events import Closed, Event, Excluded, Noted, Restored, RoundClosed, Told, Withdrawn, from_record
from handful.questions import Question, Receipt
from handful.recruit.desk import Desk
from handful.results import Result
from handful.rules import EXCLUDE, Door, DoorKind
from handful.storage import Record, probe
from handful.study import Study

log = logging.getLogger("handful.crowd")

THEME = "theme"
UNVERIFIED = "unverified"
"""The topic under which it is noted what becomes of people whom their panel cannot verify."""
LOOK_AGAIN_S = 30.0
GATHER_S = 0.2
TURNING = (RoundClosed, Excluded, Restored, Withdrawn, Closed)
"""Events after which the result of a study is another one."""


@dataclass(frozen=True)
class _Taken:
    """An answer that was taken, and the questions that follow."""

    answer: messages.Taken
    questions: list[Question]


class Host:
    """A study, its theme and collection, and the workers who answer."""

    def __init__(
        self,
        study: Study,
        collection: Collection,
        settings: Settings,
        theme: str | None = None,
        clock: Callable[[], float] = time.time,
        stored: StoredStudy | None = None,
        link: str | None = None,
    ) -> None:
        self._sessions = Sessions()
        self.study = study
        self._stored = stored
        self.name = link or study.name  # in addresses and cookies, where not every letter is safe
        self.collection = collection
        self.settings = self._server_settings = settings
        self.clock = clock
        self.change_signal = ChangeSignal()
        self.storage_works, self.fault = True, StorageFault(self.name)
        self.desk: Desk | None = None  # where people from a panel arrive
        self.k = study.setup.problem.k
        self.theme = theme or study.name
        self._lock = threading.Lock()
        self.people, self.over = People(study.name), False  # over: it was noted that the study is closed
        self.kept_days = DAYS  # for how long after the end, where the settings do not say it
        self.caps = Caps(study.setup.problem.in_flight, settings.limits.held_per_network, self._tag_of)
        self._turning = 0
        self._overdue: frozenset[int] = frozenset()
        self._attach(study)
        if theme is not None and not self.has_theme:
            self.say_theme(theme)

    def _attach(self, study: Study) -> None:
        """Count the events in the journal, and from now on those to come."""
        self.study, self.has_theme = study, False
        settings, has_words = self._server_settings, False
        self.expected: ExpectedPeople | None = None  # who will come, if the organizer has said it
        rule = study.setup.rule
        self.says_of_unverified = rule is not None and rule.unverified is not None  # in its beginning, or by a note
        self._result: tuple[int, float, Result] | None = None
        history = history_of(study, self._stored)
        self.statistics, self.began = history.statistics, history.began
        for note in history.notes:
            if note.topic == THEME:
                self.theme, self.has_theme = str(note.data), True
            elif note.topic == WORDS:
                settings, has_words = settings_with(settings, note.data), True
            else:
                self._heed_words(note)
        self.settings, self.has_words = settings, has_words  # at once: somebody may be reading them now
        self._deal()
        study.subscribe(self._happened)
        study.let_in_by(self.caps)
        self._latest = study.status()

    def _deal(self) -> None:
        """Lay out what people are shown: the items, and what checks show where the rule has any."""
        rule = self.study.setup.rule if self.open else None
        checked = rule is not None and (rule.checks is not None or (rule.admission and rule.admission.checks))
        options = self.study.setup.problem.feedback.options
        copies = self.k + options + 4  # so that some are left whatever is chosen
        cards = check_cards(self.collection, self.settings.instruction, copies) if checked else None
        self.showing = Showing(self.study, Deck(self.collection, self.name, cards, lambda: self.settings.language))
        self.checks = DrawnChecks(self.study, self.showing)

    def _tag_of(self, worker: str) -> bytes | None:
        person = self.people.named(worker)
        return None if person is None else person.network

    def _heed_words(self, event: Event) -> None:
        if isinstance(event, Noted) and event.topic == WORDS:
            self.settings, self.has_words = settings_with(self.settings, event.data), True
        if isinstance(event, Noted) and event.topic == EXPECTED:
            self.expected = expected_in(event.data)
        if isinstance(event, Noted) and event.topic == UNVERIFIED:
            self.says_of_unverified = True

    def fix_unverified(self) -> None:
        """Note before anybody comes from a panel what becomes of who cannot be verified, unless the rule says it."""
        if self.open and not self.says_of_unverified:
            self.study.note(UNVERIFIED, EXCLUDE)

    def say_theme(self, theme: str) -> None:
        """Note what the selection is about: a study that was stored without it was cut off while it began."""
        self.study.note(THEME, theme)
        self.theme, self.has_theme = theme, True

    def say_words(self, said: Mapping[str, Any]) -> None:
        """Use other words from now on; they go into the journal. What is not named stays as it is."""
        before = self.settings.instruction
        self.study.note(WORDS, cleaned_words(said))
        if self.settings.instruction != before:
            self._deal()

    def _happened(self, event: Event) -> None:
        self._heed_words(event)
        with self._lock:
            self.statistics.count(event, self.clock())
            self._turning += isinstance(event, TURNING)
        self.change_signal.changed()

    # For everybody

    @property
    def door(self) -> Door | None:
        """How people come now; None where nothing is known of that."""
        return self.study.state.door

    def comes_by(self, kind: DoorKind) -> bool:
        """Whether people come by this kind of door now."""
        return self.door is not None and self.door.kind == kind

    @property
    def marks_networks(self) -> bool:
        """Whether it is kept which people came from one network."""
        return self.door is not None and self.door.caps_networks

    @property
    def goal(self) -> int | None:
        """How many questions a worker is asked to answer, checks among them; None: no number."""
        if self.desk is not None:  # as many checks as are paid for
            return self.desk.goal + (self.desk.recruitment.plan.checks_each if self.checks.any else 0)
        answers = self.settings.goal
        return None if answers is None else answers + self.checks.extra(answers)

    @property
    def minutes(self) -> int | None:
        """About how long that takes, as the plan of recruiting says it where there is one; None: no number."""
        if self.desk is not None:
            return self.desk.recruitment.plan.minutes
        return expected_minutes(self.settings.goal, self.study.setup.rule)

    @property
    def retention_days(self) -> int:
        """How many days after the end it is kept who gave which answers."""
        told = self.settings.retention_days
        return self.kept_days if told is None else told

    @property
    def open(self) -> bool:
        """Whether there is still something to choose."""
        return self.study.finished is None

    @property
    def state(self) -> messages.StudyState:
        """Whether there is anything to answer, now or later."""
        if not self.open:
            return "finished"
        return "paused" if self._latest.paused else "open"

    def progress(self, answered: int = 0) -> messages.WorkProgress:
        """How far somebody who gave so many answers is, and how far everybody together."""
        return messages.WorkProgress(
            answered=answered,
            goal=self.goal,
            # Where there are checks, a count that stands still would tell that one was answered.
            answers=0 if self.checks.any else self.study.state.answers,
            budget=None if self.checks.any else self._latest.budget,
            chosen=self._picked,
            k=self.k,
            enough=self._has_enough,
        )

    @property
    def _has_enough(self) -> bool:
        """Whether all answers are given, those that can still be undone among them."""
        budget = self._latest.budget
        return budget is not None and self.study.state.answers >= budget

    def tick(self) -> None:
        """Let answers settle whose time to undo is over, and refresh the status. Called twice a second.

        A question that nobody answered in time, or whose holder left, is free again, and those who wait are told.
        """
        try:
            if self.open:
                self.study.settle()
                self.judge_due()
                for worker in self._sessions.gone(self.clock()):
                    self._pass_on(worker)
        except StorageError as error:
            self.storage_works = self.fault.note(str(error))
            if self._stored is None:
                raise
            self._take_up_again(self._stored)
        self.storage_works = self.fault.note(None)
        before, self._overdue = self._overdue, frozenset(self.study.state.leases.overdue(self.clock()))
        self.refresh_status()
        if self._overdue - before:
            self.change_signal.changed()

    def _pass_on(self, worker: str) -> None:
        """Free what a worker holds who has left. In a study for one there is nobody else to ask."""
        if not self.settings.solo:
            with self._sessions.of(worker).lock:
                self.study.let_go(worker)

    def _take_up_again(self, stored: StoredStudy) -> None:
        """After the storage failed, go on from what is stored: nobody was told that anything else was taken."""
        with suppress(StorageError):
            self.study.close()
        self._attach(stored.open())

    def refresh_status(self) -> None:
        """Take the study's status anew; taking it for every answer would be too slow."""
        self._latest = self.study.status()
        self._sessions.count(self.clock())
        self.caps.forget_absent(self.clock())

    def latest_result(self) -> Result:
        """What was found so far; a late answer may be missing from its numbers for half a minute, to save looking."""
        turning, now = self._turning, self.clock()
        if self._result is None or self._result[0] != turning or not 0 <= now - self._result[1] < LOOK_AGAIN_S:
            self._result = turning, now, self.study.result()
        return self._result[2]

    def close(self) -> None:
        """Close the study, so that others may open it."""
        self.study.close()

    # For one worker

    def work(self, worker: Worker, look: bool = False) -> messages.Work:
        """What this worker has to do now: the questions they hold, and more if they hold too few.

        `look`: whoever has given just as many answers as they are asked for gets no more, as after the last of these.
        """
        with self._sessions.of(worker.id).lock:
            questions = self._held_and_more(worker, looks=look)
            if not questions and self._room(worker, 0, looks=look):
                # Nothing is left to ask, unless their last answer changes that, or, alone, what earlier visits hold.
                self.study.settle(worker.id)
                if self.settings.solo:
                    end_visits(self.study, but=worker.id)
                questions = self._held_and_more(worker)
            return self._work(worker, questions)

    def answer(self, worker: Worker, said: messages.Answer) -> messages.Answered:
        """Take an answer and give the next questions; both are durable when this returns."""
        question = self._question_of(worker, said.token)
        with self._sessions.of(worker.id).lock:
            return self._reply(worker, self._take(worker, question, said))

    def _take(self, worker: Worker, question: str, said: messages.Answer) -> _Taken:
        """Take an answer, to a check or a question; the worker's lock is held."""
        take = self._answer_check if self.checks.is_check(question) else self._answer_question
        return take(worker, question, said)

    def _answer_question(self, worker: Worker, question: str, said: messages.Answer) -> _Taken:
        """Take the answer to a question."""
        value, meta = self.showing.answered(worker, self.study, question, said)
        meta |= {} if said.ms is None else {"ms": said.ms}
        self._judge(worker.id)
        if self.open and self.study.state.workers.excludes(worker.id):
            raise not_needed()  # their tokens died with them
        held, picked = [other for other in self._held(worker) if other.id != question], self._picked
        more, took = self._room(worker, len(held), told=1), self._sessions.of(worker.id).took(question)
        took = took if self.study.setup.rule is not None else None
        undo_s = self.settings.undo_s + self.settings.redo_s
        if more:
            receipt, fresh = self.study.exchange(question, value, worker.id, meta, n=more, undo_s=undo_s, duration=took)
            self.checks.asked(worker, fresh)
        else:
            receipt, fresh = self.study.tell(question, value, worker.id, meta, undo_s=undo_s, duration=took), []
        if receipt.standing == "provisional" and more and not held and not fresh:
            receipt, fresh = self._nothing_left(worker, receipt)
        decided = self.open and self._picked > picked  # then what is held of that pick goes, as a check does
        questions = self._held_and_more(worker, has_told=True) if decided else [*held, *fresh]
        return self._answered(worker, said.token, receipt, questions)

    def _answer_check(self, worker: Worker, question: str, said: messages.Answer) -> _Taken:
        """Take the answer to a check, as that to a question is taken."""
        verdict = self.checks.judge(worker, question, said)
        self._begin(worker)
        if not self.checks.was_last(worker, question):
            self._judge(worker.id)
        if not self.open:
            raise study_ended()
        if self.study.state.workers.excludes(worker.id):
            raise not_needed()
        self.study.settle(worker.id)
        undo_s = self.settings.undo_s + self.settings.redo_s
        session = self._sessions.of(worker.id)
        stored, repeated = self.checks.take(worker, question, verdict, session.took(question), undo_s > 0)
        if not repeated and undo_s > 0:
            session.judged_at = self.clock() + undo_s
        return self._taken(worker, said.token, stored, repeated, not repeated, self._held_and_more(worker))

    def _judge(self, worker: str) -> None:
        """The last check can be undone no more: what the rule says of it holds."""
        session = self._sessions.of(worker)
        due, session.judged_at = session.judged_at is not None, None
        if due and self.open:
            self.study.apply_rule(worker)

    def judge_due(self) -> None:
        """Apply the rule to those whose time to undo a check is over."""
        now = self.clock()
        for worker in self._sessions.to_be_judged(now):
            session = self._sessions.of(worker)
            with session.lock:
                if session.judged_at is not None and session.judged_at <= now:
                    self._judge(worker)

    def _nothing_left(self, worker: Worker, receipt: Receipt) -> tuple[Receipt, list[Question]]:
        """Let the answer settle at once where nothing else is left to ask: the round may be waiting for it."""
        more = self._room(worker, 0)
        if not more:
            return receipt, []
        self.study.settle(worker.id)
        return replace(receipt, standing="answered"), self.checks.asked(worker, self.study.ask(more, worker.id))

    def undo(self, worker: Worker, said: messages.Undo) -> messages.Answered:
        """Replace the last answer while that is possible."""
        question = self._question_of(worker, said.token)
        if self.checks.is_check(question):
            return self._undo_check(worker, question, said)
        value, _ = self.showing.answered(worker, self.study, question, said)
        with self._sessions.of(worker.id).lock:
            try:
                receipt = self.study.revise(question, value, worker.id)
            except InvalidAnswer:
                raise too_late() from None
            return self._reply(worker, self._answered(worker, said.token, receipt, self._held_and_more(worker)))

    def _undo_check(self, worker: Worker, question: str, said: messages.Undo) -> messages.Answered:
        verdict = self.checks.judge(worker, question, said)
        with self._sessions.of(worker.id).lock:
            until = self._sessions.of(worker.id).judged_at
            in_time = until is not None and self.clock() < until
            if not in_time or not self.open or not self.checks.was_last(worker, question):
                raise too_late()
            stored = self.checks.revise(worker, question, verdict)
            questions = self._held_and_more(worker)
            return self._reply(worker, self._taken(worker, said.token, stored, False, True, questions))

    def skip(self, worker: Worker, said: messages.Skip) -> messages.Work:
        """Give a question back; skipping it again, or after answering it, changes nothing."""
        question = self._question_of(worker, said.token)
        with self._sessions.of(worker.id).lock:
            if not self.open:
                raise study_ended()
            self._begin(worker)
            if self.checks.is_check(question):
                self._judge(worker.id)
                gave_back = self.checks.skip(worker, question, self.study.state.workers.answers_of(worker.id))
            else:
                gave_back = self.study.skip(question, said.reason, worker.id)
            if gave_back and not self.settings.solo:
                self._sessions.of(worker.id).skipped(said.reason, self.clock())
            return self._work(worker, self._held_and_more(worker))

    def _held(self, worker: Worker) -> list[Question]:
        """The questions of the open round that the worker holds."""
        self._begin(worker)
        return [question for question in self.study.held_by(worker.id) if question.round > self._picked]

    def _begin(self, worker: Worker) -> None:
        self.checks.begin(worker, self.clock(), None if self.settings.solo else self._sessions)

    @property
    def _picked(self) -> int:
        return self.study.state.exploration.round - 1

    def _held_and_more(self, worker: Worker, has_told: bool = False, looks: bool = False) -> list[Question]:
        held = self._held(worker)
        more = self._room(worker, len(held), has_told=has_told, looks=looks)
        return [*held, *self.checks.asked(worker, self.study.ask(more, worker.id))] if more else held

    def _room(self, worker: Worker, held: int, told: int = 0, has_told: bool = False, looks: bool = False) -> int:
        """How many questions to ask for: one to see, and one to have ready while not too many people are here.

        A question that waits in a browser was drawn without the answers that came since: many would teach little.
        `told`: so many answers are about to be stored; `has_told`: one was stored just now; `looks`: they only look
        whether they are asked for more.
        """
        kept_out = self.desk is not None and not self.desk.may_ask(worker.id)
        if kept_out or self.state != "open" or self.study.state.workers.excludes(worker.id):
            return 0
        has_told |= told > 0
        if not has_told and self._sessions.of(worker.id).rests(self.clock()):
            return 0
        self._sessions.of(worker.id).asked = self.clock()
        self.caps.came(worker.id, self.clock())
        answers = self.study.state.workers.answers_of(worker.id) + told
        return self.checks.room(worker, answers, held, min(self._wanted, self._asked_for(answers, has_told or looks)))

    def _asked_for(self, answers: int, until_goal: bool) -> int:
        """How many more answers this worker is asked for; whoever goes on after that asks by themselves.

        So nobody who leaves at that point holds a question, which would then be asked of those who are left.
        """
        goal = self.settings.goal
        if goal is None or self.desk is not None or self.checks.extra(goal):  # these end by their own count
            return self._wanted
        if answers > goal or (answers == goal and not until_goal):
            return self._wanted
        return goal - answers

    @property
    def _wanted(self) -> int:
        """How many questions a worker has at a time, checks among them."""
        people = self._sessions.present
        return 2 if people <= 1 or 4 * people <= self.study.setup.problem.in_flight else 1

    def _question_of(self, worker: Worker, token: str) -> str:
        question = worker.question(token)
        if question is None:
            raise not_found()
        return question

    def _answered(self, worker: Worker, token: str, receipt: Receipt, questions: list[Question]) -> _Taken:
        stored, provisional = self.showing.said(worker, receipt), receipt.standing == "provisional"
        return self._taken(worker, token, stored, receipt.repeated, provisional, questions)

    def _taken(
        self, worker: Worker, token: str, stored: Said, repeated: bool, provisional: bool, questions: list[Question]
    ) -> _Taken:
        """An answer was taken; one that is provisional may be undone."""
        if not repeated:
            until = self.clock() + self.settings.undo_s
            self._sessions.of(worker.id).answered(LastAnswer(token, stored, until) if provisional else None)
        return _Taken(messages.Taken(token=token, side=stored.side, option=stored.option, repeated=repeated), questions)

    def _reply(self, worker: Worker, taken: _Taken) -> messages.Answered:
        """The reply to an answer that was taken. The desk of a panel may store that its worker is done."""
        return messages.Answered(**dict(self._work(worker, taken.questions)), answer=taken.answer)

    def _work(self, worker: Worker, questions: list[Question]) -> messages.Work:
        self._sessions.seen(worker.id, self.clock())
        state, workers = self.state, self.study.state.workers
        if workers.excludes(worker.id):
            state = "finished"
        answers = workers.answers_of(worker.id)
        wait_s = self._sessions.of(worker.id).rests(self.clock()) if state == "open" else 0.0
        shown = self.checks.among(worker, questions, answers, self._wanted) if state == "open" and not wait_s else []
        if shown:
            self._sessions.of(worker.id).shows(shown[0].question)
        done = answers + self.checks.answered(worker.id)
        ending = None
        if self.desk is not None:
            goal, is_shown = self.progress(done).goal, bool(shown or wait_s)
            reached = goal is not None and done >= goal
            ending = self.desk.ending_of(worker.id, self.study, done=reached, has_questions=is_shown)
        if ending is not None:
            state, shown = "finished", []
        return messages.Work(
            state=("questions" if shown else "waiting") if state == "open" else state,
            questions=[one.message for one in shown],
            progress=self.progress(done),
            undo=None if ending else self._sessions.of(worker.id).undo_offer(self.clock(), self.settings.redo_s),
            ending=ending,
            wait_s=wait_s,
            verifying=self.desk is not None and ending is None and self.desk.is_verifying(worker.id),
        )

    def summary(self) -> messages.Summary:
        """What was chosen, and what may be claimed of it."""
        return summary_of(self.theme, self.collection, self.latest_result(), self.settings.catalogue)

    def page_opened(self, worker: Worker) -> None:
        """A page of this worker has opened its event stream."""
        self._sessions.opened(worker.id)

    def page_closed(self, worker: Worker) -> None:
        """A page of this worker was closed. What they hold goes to others, unless they are back within seconds."""
        self._sessions.closed(worker.id, self.clock())


class ChangeSignal:
    """Counts changes. `changed` and `stop` may be called from any thread; everything else belongs to the event loop."""

    def __init__(self) -> None:
        self.version = 0
        self.stopping = False
        self.told: tuple[int, tuple[str, object]] = (-1, ("", None))  # the last event for workers, and its version
        self._loop: asyncio.AbstractEventLoop | None = None
        self._next = asyncio.Event()
        self._stopped = asyncio.Event()
        self._gathering = False

    def start(self) -> None:
        """Remember the running loop, so that other threads can wake it."""
        self._loop = asyncio.get_running_loop()

    def changed(self) -> None:
        """Something has changed. Several changes within a fifth of a second become one."""
        if self._gathering or self._loop is None or self._loop.is_closed():
            return
        self._gathering = True
        self._loop.call_soon_threadsafe(self._loop.call_later, GATHER_S, self._wake_all)

    def stop(self) -> None:
        """Wake everybody who waits, for the last time."""
        self.stopping = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._loop.call_soon_threadsafe(self._wake_all)

    async def rest(self, seconds: float) -> None:
        """Wait for so many seconds, but not longer than until everything stops."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopped.wait()

    def _wake_all(self) -> None:
        self._gathering = False
        self.version += 1
        waited_for, self._next = self._next, asyncio.Event()
        waited_for.set()

    async def after(self, version: int, seconds: float) -> bool:
        """Wait for a change after `version`; False if none came in so many seconds."""
        if self.version != version or self.stopping:
            return True
        try:
            async with asyncio.timeout(seconds):  # unlike wait_for, without a task of its own for each who waits
                await self._next.wait()
        except TimeoutError:
            return False
        return True


class StorageFault:
    """The cause, as it was told first; None while all is well."""

    def __init__(self, study: str) -> None:
        self._study = study
        self.cause: str | None = None

    def note(self, cause: str | None) -> bool:
        """Tell in the log that answers cannot be stored, or that they can again; give whether they can."""
        if cause is not None and self.cause is None:
            log.error("answers cannot be stored", extra={"study": self._study, "cause": cause})
            self.cause = cause
        elif cause is None and self.cause is not None:
            log.warning("answers can be stored again", extra={"study": self._study})
            self.cause = None
        return self.cause is None


class JournalHistory:
    """What a journal tells: how people answered so far, and what was noted."""

    def __init__(self) -> None:
        self.statistics = AnswerStatistics()
        self.notes: list[Noted] = []
        self.began = 0.0  # the time of the first record

    def take(self, record: Record, data: object) -> None:
        """Take one more record into account, with its payload; of most kinds nothing is counted."""
        self.began = self.began or record.time
        if record.kind == Told.kind and isinstance(data, dict):
            self.statistics.count_answer(data.get("w"), data.get("m"), record.time)
        elif record.kind == Noted.kind:
            event = from_record(record)
            assert isinstance(event, Noted)
            self.notes.append(event)


class StoredStudy:
    """Where a study is stored, and how to open it. Its history is taken on the way: the journal is read once."""

    def __init__(self, storage: str | Path, name: str, items: Sequence[Any], clock: Callable[[], float]) -> None:
        self._storage = storage
        self._name = name
        self._items = items
        self._clock = clock
        self._opened: tuple[Study, JournalHistory] | None = None

    def open(self) -> Study:
        """Open it, once the storage can be written to: a full disk can be read."""
        probe(self._storage)
        history = JournalHistory()
        study = Study.open(self._storage, self._name, self._items, clock=self._clock, watch=history.take)
        self._opened = study, history
        return study

    def history(self, study: Study) -> JournalHistory | None:
        """The history of the study, if this opened it; it is given once."""
        opened, self._opened = self._opened, None
        return opened[1] if opened is not None and opened[0] is study else None


def history_of(study: Study, stored: StoredStudy | None) -> JournalHistory:
    """What the journal of a study tells: as it was read when it was opened, or else read now."""
    found = None if stored is None else stored.history(study)
    if found is None:
        found = JournalHistory()
        for record in study.records():
            found.take(record, json.loads(record.payload))
    return found


def end_visits(study: Study, but: str | None = None) -> None:
    """Free what earlier visits hold, and let their answers settle; not those of the visit `but`."""
    state = study.state
    for worker in filter(None, {*state.workers.names, *state.leases.holders()} - {but}):
        study.let_go(worker)
        study.settle(worker)

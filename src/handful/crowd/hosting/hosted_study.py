"""One hosted study, as its workers meet it: who holds which question, on which side, and what comes next.

The study decides and remembers; its host turns questions into pairs with a left and a right, tokens into questions, and
refusals into words for people. It may be used from any thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from handful.crowd import messages
from handful.crowd.collection.items import Collection
from handful.crowd.hosting.caps import Caps
from handful.crowd.hosting.change_signal import ChangeSignal
from handful.crowd.hosting.expected_people import EXPECTED, ExpectedPeople, expected_in
from handful.crowd.hosting.panel_desk import PanelDesk
from handful.crowd.hosting.pick_lines import summary_of
from handful.crowd.hosting.practice import judged
from handful.crowd.hosting.presence import OpenPages, Presence, WorkerLocks
from handful.crowd.hosting.seen_since import SeenSince
from handful.crowd.hosting.showing import Showing
from handful.crowd.hosting.storage_fault import StorageFault
from handful.crowd.hosting.study_words import WORDS, cleaned_words, settings_with
from handful.crowd.hosting.tokens import Worker
from handful.crowd.hosting.undo_offers import UndoOffers
from handful.crowd.hosting.worker_statistics import AnswerStatistics
from handful.crowd.refusals import not_found, study_ended, too_late
from handful.crowd.settings import Settings
from handful.errors import InvalidAnswer, StorageError
from handful.storage.people import People
from handful.study.conduct import PRACTICE
from handful.study.events import Closed, Event, Excluded, Noted, Restored, RoundClosed, Told, Withdrawn, from_record
from handful.study.questions import Question, Receipt
from handful.study.results import Result
from handful.study.study import Study

THEME = "theme"
JOINED = "joined"
TURNING = (RoundClosed, Excluded, Restored, Withdrawn, Closed)
"""Events after which the result is another one."""
LOOK_AGAIN_S = 30.0


class HostedStudy:
    """A study, its theme and collection, and the workers who answer."""

    def __init__(
        self,
        study: Study,
        collection: Collection,
        settings: Settings,
        theme: str | None = None,
        clock: Callable[[], float] = time.time,
        reopen: Callable[[], Study] | None = None,
        link: str | None = None,
    ) -> None:
        self.study = study
        self._reopen = reopen
        self.name = link or study.name  # in addresses and cookies, where not every letter is safe
        self.collection = collection
        self.settings = self._server_settings = settings
        self.clock = clock
        self.change_signal = ChangeSignal()
        self.storage_works, self.fault = True, StorageFault(self.name)
        self.desk: PanelDesk | None = None  # where people from a panel arrive
        self.k = study.setup.problem.k
        self.showing = Showing(study, collection)
        self.theme = theme or study.name
        self._lock = threading.Lock()
        self._locks = WorkerLocks()
        self._presence = Presence()
        self._pages = OpenPages()
        self.people, self.over = People(study.name), False  # over: it was noted that the study is closed
        self._seen = SeenSince()
        held = settings.limits.held_per_address
        self.caps = Caps(study.setup.problem.in_flight, held, study.setup.door, self._tag_of)
        self._undo = UndoOffers()
        self._turning = 0
        self._overdue: frozenset[int] = frozenset()
        self._attach(study)
        if theme is not None and not self._has_theme:
            study.note(THEME, theme)

    def _attach(self, study: Study) -> None:
        """Count the events in the journal, and from now on those to come."""
        self.study, self.statistics, self._has_theme = study, AnswerStatistics(), False
        self.settings, self.has_words = self._server_settings, False
        self.expected: ExpectedPeople | None = None  # who will come, if the organizer has said it
        self._result: tuple[int, float, Result] | None = None
        for record in study.records():
            if record.kind not in (Told.kind, Noted.kind):  # of all others nothing is counted: opening is quicker
                continue
            event = from_record(record)
            self.statistics.count(event, record.time)
            if isinstance(event, Noted) and event.topic == THEME:
                self.theme, self._has_theme = str(event.data), True
            self._heed_words(event)
        study.subscribe(self._happened)
        study.let_in_by(self.caps)
        self._latest = study.status()

    def _tag_of(self, worker: str) -> bytes | None:
        person = self.people.named(worker)
        return None if person is None else person.network

    def _heed_words(self, event: Event) -> None:
        if isinstance(event, Noted) and event.topic == WORDS:
            self.settings, self.has_words = settings_with(self.settings, event.data), True
        if isinstance(event, Noted) and event.topic == EXPECTED:
            self.expected = expected_in(event.data)

    def say_words(self, said: Mapping[str, Any]) -> None:
        """Use other words from now on; they go into the journal. What is not named stays as it is."""
        self.study.note(WORDS, cleaned_words(said))

    def _happened(self, event: Event) -> None:
        self._heed_words(event)
        with self._lock:
            self.statistics.count(event, self.clock())
            self._turning += isinstance(event, TURNING)
        self.change_signal.changed()

    # For everybody

    @property
    def open(self) -> bool:
        """Whether there is still something to choose."""
        return self.study.finished is None

    @property
    def goal(self) -> int | None:
        """How many answers a worker is asked for; None: no number."""
        return self.settings.goal if self.desk is None else self.desk.goal

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
            answers=self.study.fold.answers,
            budget=self._latest.budget,
            chosen=self._picked,
            k=self.k,
        )

    def tick(self) -> None:
        """Let answers settle whose time to undo is over, and refresh the status. Called twice a second.

        A question that nobody answered in time, or whose holder left, is free again, and those who wait are told.
        """
        try:
            if self.open:
                self.study.settle()
                for worker in self._pages.gone(self.clock()):
                    self._pass_on(worker)
        except StorageError as error:
            self.storage_works = self.fault.note(str(error))
            if self._reopen is None:
                raise
            self._take_up_again(self._reopen)
        self.storage_works = self.fault.note(None)
        before, self._overdue = self._overdue, frozenset(self.study.fold.leases.overdue(self.clock()))
        self.refresh_status()
        if self._overdue - before:
            self.change_signal.changed()

    def _pass_on(self, worker: str) -> None:
        """Free what a worker holds who has left. In a study for one there is nobody else to ask."""
        if not self.settings.solo:
            with self._locks.of(worker):
                self.study.let_go(worker)

    def _take_up_again(self, reopen: Callable[[], Study]) -> None:
        """After the storage failed, go on from what is stored: nobody was told that anything else was taken."""
        with suppress(StorageError):
            self.study.close()
        self._attach(reopen())

    def refresh_status(self) -> None:
        """Take the study's status anew; taking it for every answer would be too slow."""
        self._latest = self.study.status()
        self._presence.count(self.clock())
        self.caps.forget_absent(self.study.fold.leases.holders(self.clock()), self.clock())

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

    def summary(self) -> messages.Summary:
        """What was chosen, and what may be claimed of it."""
        return summary_of(self.theme, self.collection, self.latest_result())

    def page_opened(self, worker: Worker) -> None:
        """A page of this worker has opened its event stream."""
        self._pages.opened(worker.id)

    def page_closed(self, worker: Worker) -> None:
        """A page of this worker was closed. What they hold goes to others, unless they are back within seconds."""
        self._pages.closed(worker.id, self.clock())

    def note_joined(self, worker: Worker, said: messages.Join) -> None:
        """Note in the journal that a worker joined, with consent and practice; how that went is judged here."""
        well = None if said.practice is None else judged(said.practice)
        practice = None if well is None else {"correct": sum(well), "of": len(well)}
        self.study.note(JOINED, {"worker": worker.id, "consent": said.consent, "practice": practice})
        for right in well or () if self.study.setup.rule is not None else ():
            self.study.check(worker.id, PRACTICE, right)

    def work(self, worker: Worker) -> messages.Work:
        """What this worker has to do now: the questions they hold, and more if they hold too few."""
        with self._locks.of(worker.id):
            return self._work(worker, self._held_and_more(worker))

    def answer(self, worker: Worker, said: messages.Answer) -> messages.Answered:
        """Take an answer and give the next questions; both are durable when this returns."""
        question = self._question_of(worker, said.token)
        value, meta = self.showing.answered(worker, self.study, question, said)
        if said.ms is not None:
            meta["ms"] = said.ms
        with self._locks.of(worker.id):
            if self.study.fold.workers.excludes(worker.id):
                raise study_ended()  # their tokens died with them
            held = [other for other in self._held(worker) if other.id != question]
            more, took = self._room(worker, len(held)), self._seen.took(worker.id, question)
            took = took if self.study.setup.rule is not None else None
            undo_s = self.settings.undo_s + self.settings.redo_s
            if more:
                receipt, fresh = self.study.exchange(
                    question, value, worker.id, meta, n=more, undo_s=undo_s, duration=took
                )
            else:
                receipt, fresh = self.study.tell(question, value, worker.id, meta, undo_s=undo_s, duration=took), []
            if receipt.standing == "provisional" and not held and not fresh:
                receipt, fresh = self._nothing_left(worker, receipt)
            return self._answered(worker, said.token, receipt, [*held, *fresh])

    def _nothing_left(self, worker: Worker, receipt: Receipt) -> tuple[Receipt, list[Question]]:
        """Let the answer settle at once where nothing else is left to ask: the round may be waiting for it."""
        more = self._room(worker, 0)
        if not more:
            return receipt, []
        self.study.settle(worker.id)
        return replace(receipt, standing="answered"), self.study.ask(more, worker.id)

    def undo(self, worker: Worker, said: messages.Undo) -> messages.Answered:
        """Replace the last answer while that is possible."""
        question = self._question_of(worker, said.token)
        value, _ = self.showing.answered(worker, self.study, question, said)
        with self._locks.of(worker.id):
            try:
                receipt = self.study.revise(question, value, worker.id)
            except InvalidAnswer:
                raise too_late() from None
            return self._answered(worker, said.token, receipt, self._held_and_more(worker))

    def skip(self, worker: Worker, said: messages.Skip) -> messages.Work:
        """Give a question back; skipping it again, or after answering it, changes nothing."""
        question = self._question_of(worker, said.token)
        with self._locks.of(worker.id):
            if not self.open:
                raise study_ended()
            self.study.skip(question, said.reason, worker.id)
            return self._work(worker, self._held_and_more(worker))

    def _held(self, worker: Worker) -> list[Question]:
        """The questions of the open round that the worker holds."""
        round_ = self._picked + 1
        return [question for question in self.study.held_by(worker.id) if question.round >= round_]

    @property
    def _picked(self) -> int:
        return self.study.fold.exploration.round - 1

    def _held_and_more(self, worker: Worker) -> list[Question]:
        held = self._held(worker)
        more = self._room(worker, len(held))
        return [*held, *self.study.ask(more, worker.id)] if more else held

    def _room(self, worker: Worker, held: int) -> int:
        """How many questions to ask for: one to see, and one to have ready while not too many people are here.

        A question that waits in a browser was drawn without the answers that came since: many would teach little.
        """
        if self.state != "open" or self.study.fold.workers.excludes(worker.id):
            return 0
        if self.desk is not None and not self.desk.may_ask(worker.id):
            return 0
        self._presence.seen(worker.id, self.clock())
        self.caps.came(worker.id, worker.where, self.clock())
        people = self._presence.number
        want = 2 if people <= 1 or 4 * people <= self.study.setup.problem.in_flight else 1
        return max(0, want - held)

    def _question_of(self, worker: Worker, token: str) -> str:
        question = worker.question(token)
        if question is None:
            raise not_found()
        return question

    def _answered(self, worker: Worker, token: str, receipt: Receipt, questions: list[Question]) -> messages.Answered:
        stored = self.showing.said(worker, receipt)
        if not receipt.repeated:
            until = self.clock() + self.settings.undo_s
            self._undo.renew(worker.id, (token, stored, until) if receipt.standing == "provisional" else None)
        work = self._work(worker, questions)
        taken = messages.Taken(token=token, side=stored.side, option=stored.option, repeated=receipt.repeated)
        return messages.Answered(**dict(work), answer=taken)

    def _work(self, worker: Worker, questions: list[Question]) -> messages.Work:
        self._pages.seen(worker.id, self.clock())
        state = self.state
        workers = self.study.fold.workers
        if workers.excludes(worker.id):
            state = "finished"
        answers = workers.answers_of(worker.id)
        if questions:
            self._seen.shown(worker.id, questions[0].id)
        shown = [self.showing.shown(worker, question) for question in questions] if state == "open" else []
        ending = None if self.desk is None else self.desk.after(worker.id, answers, bool(shown), self.open)
        if ending is not None:
            state, shown = "finished", []
        return messages.Work(
            state=("questions" if shown else "waiting") if state == "open" else state,
            questions=shown,
            progress=self.progress(answers),
            undo=None if ending else self._undo.of(worker.id, self.clock()),
            ending=ending,
        )

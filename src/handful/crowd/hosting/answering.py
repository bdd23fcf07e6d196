"""What one worker does with a hosted study: gets questions and checks, answers, takes an answer back, skips.

It is a part of `HostedStudy`. What belongs to one worker is done under that worker's lock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from handful.crowd import messages
from handful.crowd.hosting.caps import Caps
from handful.crowd.hosting.drawn_checks import DrawnChecks
from handful.crowd.hosting.presence import OpenPages, Presence, WorkerLocks
from handful.crowd.hosting.seen_since import SeenSince
from handful.crowd.hosting.showing import Said, Showing
from handful.crowd.hosting.skip_pauses import SkipPauses
from handful.crowd.hosting.tokens import Worker
from handful.crowd.hosting.undo_offers import UndoOffers
from handful.crowd.hosting.visits import end_visits
from handful.crowd.refusals import not_found, not_needed, study_ended, too_late
from handful.crowd.settings import Settings
from handful.errors import InvalidAnswer
from handful.recruit.desk import Desk
from handful.study.questions import Question, Receipt
from handful.study.study import Study


@dataclass(frozen=True)
class _Taken:
    """An answer that was taken, and the questions that follow."""

    answer: messages.Taken
    questions: list[Question]


class Answering:
    """The calls of workers. What they need of the study is laid down by `HostedStudy`."""

    study: Study
    settings: Settings
    showing: Showing
    checks: DrawnChecks
    caps: Caps
    desk: Desk | None
    clock: Callable[[], float]

    def __init__(self) -> None:
        self._locks = WorkerLocks()
        self._presence = Presence()
        self._pages = OpenPages()
        self._seen = SeenSince()
        self._undo = UndoOffers()
        self._skips = SkipPauses()
        self._judged_at: dict[str, float] = {}  # until when somebody may undo their answer to a check

    @property
    def open(self) -> bool:
        """Whether there is still something to choose."""
        return self.study.finished is None

    @property
    def state(self) -> messages.StudyState:
        """Whether there is anything to answer, now or later."""
        raise NotImplementedError

    @property
    def goal(self) -> int | None:
        """How many questions a worker is asked to answer, checks among them; None: no number."""
        raise NotImplementedError

    def progress(self, answered: int = 0) -> messages.WorkProgress:
        """How far somebody who gave so many answers is, and how far everybody together."""
        raise NotImplementedError

    def work(self, worker: Worker, look: bool = False) -> messages.Work:
        """What this worker has to do now: the questions they hold, and more if they hold too few.

        `look`: whoever has given just as many answers as they are asked for gets no more, as after the last of these.
        """
        with self._locks.of(worker.id):
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
        with self._locks.of(worker.id):
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
        if self.open and self.study.fold.workers.excludes(worker.id):
            raise not_needed()  # their tokens died with them
        held, picked = [other for other in self._held(worker) if other.id != question], self._picked
        more, took = self._room(worker, len(held), told=1), self._seen.took(worker.id, question)
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
        if self.study.fold.workers.excludes(worker.id):
            raise not_needed()
        self.study.settle(worker.id)
        undo_s = self.settings.undo_s + self.settings.redo_s
        stored, repeated = self.checks.take(worker, question, verdict, self._seen.took(worker.id, question), undo_s > 0)
        if not repeated and undo_s > 0:
            self._judged_at[worker.id] = self.clock() + undo_s
        return self._taken(worker, said.token, stored, repeated, not repeated, self._held_and_more(worker))

    def _judge(self, worker: str) -> None:
        """The last check can be undone no more: what the rule says of it holds."""
        if self._judged_at.pop(worker, None) is not None and self.open:
            self.study.apply_rule(worker)

    def judge_due(self) -> None:
        """Apply the rule to those whose time to undo a check is over."""
        now = self.clock()
        for worker in [worker for worker, until in self._judged_at.copy().items() if until <= now]:
            with self._locks.of(worker):
                if self._judged_at.get(worker, now + 1) <= now:
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
        with self._locks.of(worker.id):
            try:
                receipt = self.study.revise(question, value, worker.id)
            except InvalidAnswer:
                raise too_late() from None
            return self._reply(worker, self._answered(worker, said.token, receipt, self._held_and_more(worker)))

    def _undo_check(self, worker: Worker, question: str, said: messages.Undo) -> messages.Answered:
        verdict = self.checks.judge(worker, question, said)
        with self._locks.of(worker.id):
            in_time = self.clock() < self._judged_at.get(worker.id, 0.0)
            if not in_time or not self.open or not self.checks.was_last(worker, question):
                raise too_late()
            stored = self.checks.revise(worker, question, verdict)
            questions = self._held_and_more(worker)
            return self._reply(worker, self._taken(worker, said.token, stored, False, True, questions))

    def skip(self, worker: Worker, said: messages.Skip) -> messages.Work:
        """Give a question back; skipping it again, or after answering it, changes nothing."""
        question = self._question_of(worker, said.token)
        with self._locks.of(worker.id):
            if not self.open:
                raise study_ended()
            self._begin(worker)
            if self.checks.is_check(question):
                self._judge(worker.id)
                gave_back = self.checks.skip(worker, question, self.study.fold.workers.answers_of(worker.id))
            else:
                gave_back = self.study.skip(question, said.reason, worker.id)
            if gave_back and not self.settings.solo:
                self._skips.skipped(worker.id, said.reason, self.clock())
            return self._work(worker, self._held_and_more(worker))

    def _held(self, worker: Worker) -> list[Question]:
        """The questions of the open round that the worker holds."""
        self._begin(worker)
        return [question for question in self.study.held_by(worker.id) if question.round > self._picked]

    def _begin(self, worker: Worker) -> None:
        self.checks.begin(worker, self.clock(), None if self.settings.solo else self._pages)

    @property
    def _picked(self) -> int:
        return self.study.fold.exploration.round - 1

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
        if kept_out or self.state != "open" or self.study.fold.workers.excludes(worker.id):
            return 0
        has_told |= told > 0
        if not has_told and self._skips.left(worker.id, self.clock()):
            return 0
        self._presence.seen(worker.id, self.clock())
        self.caps.came(worker.id, self.clock())
        answers = self.study.fold.workers.answers_of(worker.id) + told
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
        people = self._presence.number
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
            self._skips.answered(worker.id)
            until = self.clock() + self.settings.undo_s
            self._undo.renew(worker.id, (token, stored, until) if provisional else None)
        return _Taken(messages.Taken(token=token, side=stored.side, option=stored.option, repeated=repeated), questions)

    def _reply(self, worker: Worker, taken: _Taken) -> messages.Answered:
        """The reply to an answer that was taken. The desk of a panel may store that its worker is done."""
        return messages.Answered(**dict(self._work(worker, taken.questions)), answer=taken.answer)

    def _work(self, worker: Worker, questions: list[Question]) -> messages.Work:
        self._pages.seen(worker.id, self.clock())
        state, workers = self.state, self.study.fold.workers
        if workers.excludes(worker.id):
            state = "finished"
        answers = workers.answers_of(worker.id)
        wait_s = self._skips.left(worker.id, self.clock()) if state == "open" else 0.0
        shown = self.checks.among(worker, questions, answers, self._wanted) if state == "open" and not wait_s else []
        if shown:
            self._seen.shown(worker.id, shown[0].question)
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
            undo=None if ending else self._undo.of(worker.id, self.clock(), self.settings.redo_s),
            ending=ending,
            wait_s=wait_s,
            verifying=self.desk is not None and ending is None and self.desk.is_verifying(worker.id),
        )

"""Ask and tell: which question is handed out next, and what becomes of an answer.

Everything here is called while the writer is locked: it decides, then emits the event that carries the decision out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from handful.draws import question_seed
from handful.errors import InvalidAnswer, InvalidProblem, StudyFinished
from handful.numbers import is_finite, plain, whole
from handful.problem import PerItem, Total
from handful.study import events
from handful.study.certifying import certificate_of
from handful.study.copies import copy_of_held
from handful.study.fold import Fold
from handful.study.made_questions import MadeQuestions
from handful.study.participation import Participation
from handful.study.people_around import PeopleAround
from handful.study.questions import STANDINGS, UNANSWERED, VOID, Question, Receipt, picks_given
from handful.study.writer import Writer
from handful.wording import listed


class AskTell:
    """Hands out questions and takes answers, with the user's own items."""

    def __init__(self, items: tuple[Any, ...], writer: Writer) -> None:
        self.items = items
        self._writer = writer
        self.participation = Participation(writer)
        # As one type for all seeds: the kernel is compiled once.
        self._seed: Any = np.uint64(writer.fold.setup.problem.seed)
        self._chosen: tuple[Fold | None, int, tuple[Any, ...]] = (None, 0, ())
        self._made = MadeQuestions()
        self._around = PeopleAround()

    @property
    def _fold(self) -> Fold:
        return self._writer.fold

    @property
    def finished(self) -> str | None:
        """Why no more questions will come; None while they may."""
        return self._fold.finished

    def ask(self, n: int, worker: str | None, now: float) -> list[Question]:
        """Questions that wait for somebody new, then new ones, then those the worker has seen before.

        A question that is handed out again, and would repeat what the worker was asked in this round, is left to others
        while some are here. Where the explorer has nothing new for the worker, what it proposes is asked all the same.
        """
        if type(n) is not int or n < 1:  # what is one costs no call
            n = whole("the number of questions to ask", n, 1)
        check_worker(worker)
        self.settle_due(now)
        self.close_decided(now)
        fold = self._fold
        if due := fold.leases.due(now):
            self._emit(events.Expired(due), now)
        if fold.paused or self.finished or fold.workers.excludes(worker):
            return []
        given: list[Question] = []
        while len(given) < n and self.participation.may_have_more(worker, now):
            question = self._next(worker, now)
            if question is None:
                break
            given.append(self.question(question))
        return given

    def ask_new(self, worker: str | None, now: float) -> Question | None:
        """Draw and hand out a new question; None where none can be asked now."""
        question = None if self._fold.closed or self._fold.paused else self._draw(worker, now)
        return None if question is None else self.question(question)

    def tell(
        self,
        id_: str,
        answer: object,
        worker: str | None,
        now: float,
        *,
        meta: Any = None,
        undo_s: float = 0.0,
        duration: int | None = None,
        close: bool = True,
    ) -> Receipt:
        """Store an answer unless there is one; `close`: and close the round if that decides it."""
        check_worker(worker)
        self.settle_due(now)
        fold = self._fold
        question = fold.questions.number_of(id_)
        if fold.questions.standing[question] != UNANSWERED:
            return self.receipt(question, repeated=True)
        if fold.closed:
            raise StudyFinished(f"the study was finished early and takes no more answers: that to {id_} was not kept")
        self.participation.check_may_answer(worker)
        value = self.checked(question, answer)
        if undo_s != 0 or type(undo_s) is not float:
            undo_s = plain(undo_s)
            if not (is_finite(undo_s) and undo_s >= 0):
                raise InvalidAnswer(f"undo_s must be a number of seconds, 0 or more, got {undo_s!r}")
        self.settle_of(worker, now)
        self._emit(events.Told(question, value, worker, now + undo_s if undo_s else None, meta, duration), now)
        self.participation.apply_rule(worker, now)
        if close:
            self.close_decided(now)
        return self.receipt(question, repeated=False)

    def revise(self, id_: str, answer: object, worker: str | None, now: float) -> Receipt:
        """Replace a provisional answer of the same worker."""
        self.settle_due(now)
        question = self._fold.questions.number_of(id_)
        held = self._fold.provisional.get(question)
        if held is None or held.worker != worker:
            raise InvalidAnswer(f"question {id_} has no answer of this worker that may still be revised")
        self._emit(events.Revised(question, self.checked(question, answer), worker), now)
        return self.receipt(question, repeated=False)

    def skip(self, id_: str, reason: str | None, worker: str | None, now: float) -> bool:
        """Give a question back unanswered; False if the worker does not hold it."""
        check_worker(worker)
        question = self._fold.questions.number_of(id_)
        if self._fold.leases.holder(question) != (True, worker):
            return False
        self._emit(events.Skipped(question, worker, reason), now)
        self.close_decided(now)
        return True

    def finish(self, reason: str | None, now: float) -> None:
        """End the study: the open round is decided with what it knows, if it knows anything; the rest is filled in."""
        self.settle_all(now)
        exploration = self._fold.exploration
        if self.finished is None:
            if exploration.counted > 0:
                exploration.conclude_early()
                self._emit(exploration.closing(), now)
            while self._knows_anything and not exploration.all_picked:
                if not exploration.decided:
                    exploration.fill()
                self._emit(exploration.closing(), now)
            self._emit(events.Closed(reason), now)
            self.close_decided(now)

    @property
    def _knows_anything(self) -> bool:
        """Whether there is an answer, or a prior."""
        return self._fold.answers > 0 or self._fold.setup.problem.prior is not None

    def restore(self, worker: str, verified: bool, now: float) -> None:
        """Undo `exclude`; not for somebody who withdrew. `verified`: because the panel says that it knows them."""
        if self._fold.workers.has_withdrawn(worker):
            raise InvalidProblem(f"worker {worker} withdrew: their answers count no more, and nobody can change that")
        if self._fold.workers.excludes(worker):
            unverified = not verified and self._fold.workers.awaits_verifying(worker)
            self._emit(events.Restored(worker, unverified), now)
            self.close_decided(now)

    def extend(self, budget: int | PerItem, now: float) -> None:
        """Allow so many more answers, if there is a budget at all."""
        problem = self._fold.setup.problem
        if problem.total is None:
            raise InvalidProblem("this study has no budget: there is nothing to extend")
        more = budget.total(problem.size, problem.k) if isinstance(budget, PerItem) else Total(budget)
        self._emit(events.Extended(more.answers), now)

    def let_go(self, worker: str, now: float) -> int:
        """End the leases of somebody who has left; gives how many."""
        self._around.leaves(worker)
        held = tuple(self._fold.leases.held_by(worker))
        if held:
            self._emit(events.Expired(held), now)
        return len(held)

    def withdraw(self, position: int, reason: str | None, now: float) -> None:
        """Take an item out of the running, unless it is picked or too few would be left."""
        exploration, item = self._fold.exploration, self.items[position]
        if position in self._fold.chosen:
            raise InvalidProblem(f"{item} is chosen already and cannot be withdrawn")
        if position in exploration.withdrawn:
            return
        left = exploration.candidates
        if left <= self._fold.setup.problem.k - exploration.round + 1:
            raise InvalidProblem(
                f"without {item} there would be too few items left to pick from: finish the study instead"
            )
        self._emit(events.Withdrawn(position, reason), now)
        self.close_decided(now)

    def give_up(self, id_: str, reason: str, now: float, *, close: bool) -> None:
        """Void a question that cannot be answered, as if everybody had skipped it."""
        question = self._fold.questions.number_of(id_)
        while self._fold.questions.standing[question] == UNANSWERED:
            self._emit(events.Skipped(question, None, reason), now)
        if close:
            self.close_decided(now)

    def settle_due(self, now: float) -> int:
        """Provisional answers stand once their time to undo is over."""
        return self._settle(self._fold.provisional.due(now), now)

    def settle_of(self, worker: str | None, now: float) -> int:
        """Let a worker's provisional answers stand."""
        return self._settle(self._fold.provisional.of(worker), now)

    def settle_all(self, now: float) -> None:
        """Let all provisional answers stand."""
        self._settle(tuple(self._fold.provisional), now)

    def close_decided(self, now: float) -> None:
        """Close the open round if it has its pick, and those after it that are decided without asking.

        When the study is over, what may be claimed is written down, and again whenever something changes that.
        """
        fold = self._fold
        exploration = fold.exploration
        while exploration.decided and not exploration.all_picked and not fold.closed:
            self._emit(exploration.closing(), now)
        if not fold.certified and self.finished is not None:
            self._emit(events.CertificateRecorded(certificate_of(fold).to_dict()), now)

    def question(self, number: int) -> Question:
        """The question of this number, with the user's own items."""
        return self._made.get(self._fold, number) or self._made.keep(number, self._make(number))

    def _make(self, number: int) -> Question:
        fold, items = self._fold, self.items
        questions = fold.questions
        round_, rival, more = questions.round[number], questions.rival[number], questions.more_of(number)
        in_round = number - fold.first_of(round_)
        return Question(
            f"q{number}",
            round_,
            in_round,
            items[questions.item[number]],
            None if rival < 0 else items[rival],
            self._first_picks(picks_given(len(fold.setup.problem.chosen), round_, questions.given[number])),
            question_seed(self._seed, round_, in_round if questions.nth is None else questions.nth[number]),
            tuple([items[i] for i in more]) if more else (),
        )

    def receipt(self, question: int, *, repeated: bool) -> Receipt:
        """What is stored for a question."""
        questions = self._fold.questions
        standing = questions.standing[question]
        answer = None if standing == VOID else self.shown(questions.answer[question])
        return Receipt(f"q{question}", answer, repeated, STANDINGS[standing])

    def checked(self, question: int, answer: object) -> float | bool:
        """The answer as it is stored, or an error that names the question."""
        fold = self._fold
        feedback = fold.setup.problem.feedback
        try:
            if fold.questions.names_one:
                return self._named(fold.questions.options(question), answer)
            value = feedback.check(answer)
            return bool(value) if feedback.compares else value
        except InvalidAnswer as error:
            about = listed([fold.setup.ids[i] for i in fold.questions.options(question)])
            raise InvalidAnswer(f"question q{question}, about {about}: {error}") from None

    def _named(self, options: tuple[int, ...], answer: object) -> int:
        """The number of the option that the answer is, or InvalidAnswer."""
        for i in options:
            if self.items[i] is answer:
                return i
        for i in options:
            item = self.items[i]
            same = item == answer if isinstance(item, bool) == isinstance(answer, bool) else False  # True is not 1 here
            if isinstance(same, (bool, np.bool_)) and same:
                return i
        raise InvalidAnswer(f"this study takes one of the options itself, got {answer!r}")

    def shown(self, value: float) -> Any:
        """An answer that is stored, as people see it: a number, whether it was the item, or the option named."""
        fold = self._fold
        if fold.questions.names_one:
            return self.items[int(value)]
        return bool(value) if fold.setup.problem.feedback.compares else value

    def _next(self, worker: str | None, now: float) -> int | None:
        fold, leases = self._fold, self._fold.leases
        self._around.asks(worker, now)
        may = lambda question: not fold.exploration.would_repeat(question, worker)  # noqa: E731
        again = leases.waiting(worker, seen=False, may=may) if leases.any_waiting else None
        if again is None:
            new = self._draw(worker, now)
            if new is not None:
                return new
            again, copy = leases.waiting(worker, seen=True, may=may), None
            if again is None:
                copy = copy_of_held(fold, worker, may)
            if again is None and copy is None:  # nothing new is left for this worker
                may = lambda question: not self._around.another_may(fold, question, worker, now)  # noqa: E731
                again = leases.waiting(worker, seen=None, may=may)
                copy = copy_of_held(fold, worker, may) if again is None else None
            if copy is not None:
                self._emit(copy, now)
                return copy.question
        if again is not None:
            self._emit(events.Leased(again, worker), now)
        return again

    def _draw(self, worker: str | None, now: float) -> int | None:
        fold = self._fold
        proposal = fold.exploration.proposal(worker)
        if proposal is None:
            return None
        question = len(fold.questions)
        item, rival, given = proposal[:3]
        self._emit(events.Asked(question, item, rival, worker, proposal[3:], given), now)
        return question

    def _settle(self, questions: tuple[int, ...], now: float) -> int:
        if questions:
            self._emit(events.Settled(questions), now)
            self.close_decided(now)
        return len(questions)

    def _first_picks(self, count: int) -> tuple[Any, ...]:
        """The first items picked, as the user's objects."""
        fold, known, chosen = self._chosen
        if fold is not self._fold or known != count:
            chosen = tuple(self.items[i] for i in self._fold.chosen[:count])
            self._chosen = self._fold, count, chosen
        return chosen

    def _emit(self, event: events.Event, now: float) -> None:
        self._writer.emit(event, now)


def check_worker(worker: object) -> None:
    """A worker is named by text, or is nobody in particular."""
    if worker is not None and not (isinstance(worker, str) and worker):
        raise InvalidAnswer(f"a worker is named by text (or None for nobody in particular), got {worker!r}")

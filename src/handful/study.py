"""The study: ask and tell, in any order, from any thread; its journal is the only truth."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from itertools import islice, takewhile
from pathlib import Path
from secrets import token_hex
from typing import Any, Generic, Literal, Self, overload

import numpy as np

from handful import events, running
from handful.agreement import Agreement, agreement_of
from handful.claims import certificate_of
from handful.draws import question_seed
from handful.errors import InvalidAnswer, InvalidProblem, StorageError, StudyFinished
from handful.events import Asked, from_record
from handful.explorers.registry import Explorer
from handful.journal import (
    Callback,
    Clock,
    Exists,
    Mismatches,
    RecordReader,
    Turn,
    Writer,
    begun_or_stored,
    mismatches_in,
    stored,
)
from handful.numbers import is_finite, plain, whole
from handful.participation import LATELY_S, Excluding, Gate, Participation, Standstill, excluding_of
from handful.preregistration import PREREGISTERED, Contents, record_of
from handful.problem import Feedback, PerItem, Total
from handful.questions import STANDINGS, UNANSWERED, VOID, Item, Question, Receipt, picks_given, position_of, read_items
from handful.results import Result, Status, result_of, status_of
from handful.rules import Door, Rule
from handful.setup import Setup, make_setup
from handful.state import State
from handful.storage import Record
from handful.wording import listed


def may_have_copy(state: State, worker: str | None) -> bool:
    """Whether somebody is named and holds no question."""
    return worker is not None and not state.leases.held_by(worker)


def copy_of_held(state: State, worker: str | None, may: Callable[[int], bool]) -> Asked | None:
    """A new question with the content of the one that was held longest, of those that somebody who holds none may have.

    Both answers count, if both come. None where another question may be proposed, or the budget would not cover it.
    """
    if not state.setup.copies_held or worker is None:
        return None
    if not state.exploration.all_out or not may_have_copy(state, worker):
        return None
    held = state.leases.held_longest(state.exploration.first, worker, may)
    if held is None or (state.budget is not None and state.spent >= state.budget):
        return None
    of = state.questions
    return Asked(len(of), of.item[held], of.rival[held], worker, of.more_of(held), of.given[held], held)


_MOST_MADE = 4096


class MadeQuestions:
    """The latest questions, as they travel to whoever answers; forgotten when the picks that they name may change."""

    def __init__(self) -> None:
        self._of: tuple[State, int, int] | None = None
        self._kept: dict[int, Question] = {}

    def get(self, state: State, number: int) -> Question | None:
        """The question of this number, if it is known."""
        of = state, len(state.rounds), state.exploration.first
        if of != self._of:
            self._of, self._kept = of, {}
        return self._kept.get(number)

    def keep(self, number: int, question: Question) -> Question:
        """Keep one that was just made; gives it back."""
        if len(self._kept) >= _MOST_MADE:
            self._kept = {}
        self._kept[number] = question
        return question


_MOST = 50
"""So many are looked at, of those who asked last: where many are around, more would cost time and change little."""


class PeopleAround:
    """Those who might take a question, by when they asked last."""

    def __init__(self) -> None:
        self._asked: dict[str | None, float] = {}  # the last to ask is the last here

    def asks(self, worker: str | None, now: float) -> None:
        """Note that somebody asks for a question, and may have one."""
        self._asked.pop(worker, None)
        self._asked[worker] = now

    def leaves(self, worker: str) -> None:
        """Leave nothing to somebody who is gone."""
        self._asked.pop(worker, None)

    def another_may(self, state: State, question: int, worker: str | None, now: float) -> bool:
        """Whether somebody else who asked lately holds the question, or could be handed it, or a copy, as a new one.

        A question is left to others for no longer than a lease lasts: where leases are short, people are expected to be
        quick.
        """
        self._forget_before(now - min(LATELY_S, state.setup.lease_s))
        held, holder = state.leases.holder(question)
        if held and holder != worker and holder in self._asked and not state.workers.excludes(holder):
            return True
        for other in islice(reversed(self._asked), _MOST):
            if other == worker or state.workers.excludes(other) or (held and not may_have_copy(state, other)):
                continue
            if not state.leases.was_given(question, other) and not state.exploration.would_repeat(question, other):
                return True
        return False

    def _forget_before(self, since: float) -> None:
        for gone in list(takewhile(lambda who: self._asked[who] <= since, self._asked)):
            del self._asked[gone]


class AskTell:
    """Hands out questions and takes answers, with the user's own items."""

    def __init__(self, items: tuple[Any, ...], writer: Writer) -> None:
        self.items = items
        self._writer = writer
        self.participation = Participation(writer)
        # As one type for all seeds: the kernel is compiled once.
        self._seed: Any = np.uint64(writer.state.setup.problem.seed)
        self._chosen: tuple[State | None, int, tuple[Any, ...]] = (None, 0, ())
        self._made = MadeQuestions()
        self._around = PeopleAround()

    @property
    def _state(self) -> State:
        return self._writer.state

    @property
    def finished(self) -> str | None:
        """Why no more questions will come; None while they may."""
        return self._state.finished

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
        state = self._state
        if due := state.leases.due(now):
            self._emit(events.Expired(due), now)
        if state.paused or self.finished or state.workers.excludes(worker):
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
        question = None if self._state.closed or self._state.paused else self._draw(worker, now)
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
        state = self._state
        question = state.questions.number_of(id_)
        if state.questions.standing[question] != UNANSWERED:
            return self.receipt(question, repeated=True)
        if state.closed:
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
        question = self._state.questions.number_of(id_)
        held = self._state.provisional.get(question)
        if held is None or held.worker != worker:
            raise InvalidAnswer(f"question {id_} has no answer of this worker that may still be revised")
        self._emit(events.Revised(question, self.checked(question, answer), worker), now)
        return self.receipt(question, repeated=False)

    def skip(self, id_: str, reason: str | None, worker: str | None, now: float) -> bool:
        """Give a question back unanswered; False if the worker does not hold it."""
        check_worker(worker)
        question = self._state.questions.number_of(id_)
        if self._state.leases.holder(question) != (True, worker):
            return False
        self._emit(events.Skipped(question, worker, reason), now)
        self.close_decided(now)
        return True

    def finish(self, reason: str | None, now: float) -> None:
        """End the study: the open round is decided with what it knows, if it knows anything; the rest is filled in."""
        self.settle_all(now)
        exploration = self._state.exploration
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
        return self._state.answers > 0 or self._state.setup.problem.prior is not None

    def restore(self, worker: str, verified: bool, now: float) -> None:
        """Undo `exclude`; not for somebody who withdrew. `verified`: because the panel says that it knows them."""
        if self._state.workers.has_withdrawn(worker):
            raise InvalidProblem(f"worker {worker} withdrew: their answers count no more, and nobody can change that")
        if self._state.workers.excludes(worker):
            unverified = not verified and self._state.workers.awaits_verifying(worker)
            self._emit(events.Restored(worker, unverified), now)
            self.close_decided(now)

    def extend(self, budget: int | PerItem, now: float) -> None:
        """Allow so many more answers, if there is a budget at all."""
        problem = self._state.setup.problem
        if problem.total is None:
            raise InvalidProblem("this study has no budget: there is nothing to extend")
        more = budget.total(problem.size, problem.k) if isinstance(budget, PerItem) else Total(budget)
        self._emit(events.Extended(more.answers), now)

    def let_go(self, worker: str, now: float) -> int:
        """End the leases of somebody who has left; gives how many."""
        self._around.leaves(worker)
        held = tuple(self._state.leases.held_by(worker))
        if held:
            self._emit(events.Expired(held), now)
        return len(held)

    def withdraw(self, position: int, reason: str | None, now: float) -> None:
        """Take an item out of the running, unless it is picked or too few would be left."""
        exploration, item = self._state.exploration, self.items[position]
        if position in self._state.chosen:
            raise InvalidProblem(f"{item} is chosen already and cannot be withdrawn")
        if position in exploration.withdrawn:
            return
        left = exploration.candidates
        if left <= self._state.setup.problem.k - exploration.round + 1:
            raise InvalidProblem(
                f"without {item} there would be too few items left to pick from: finish the study instead"
            )
        self._emit(events.Withdrawn(position, reason), now)
        self.close_decided(now)

    def give_up(self, id_: str, reason: str, now: float, *, close: bool) -> None:
        """Void a question that cannot be answered, as if everybody had skipped it."""
        question = self._state.questions.number_of(id_)
        while self._state.questions.standing[question] == UNANSWERED:
            self._emit(events.Skipped(question, None, reason), now)
        if close:
            self.close_decided(now)

    def settle_due(self, now: float) -> int:
        """Provisional answers stand once their time to undo is over."""
        return self._settle(self._state.provisional.due(now), now)

    def settle_of(self, worker: str | None, now: float) -> int:
        """Let a worker's provisional answers stand."""
        return self._settle(self._state.provisional.of(worker), now)

    def settle_all(self, now: float) -> None:
        """Let all provisional answers stand."""
        self._settle(tuple(self._state.provisional), now)

    def close_decided(self, now: float) -> None:
        """Close the open round if it has its pick, and those after it that are decided without asking.

        When the study is over, what may be claimed is written down, and again whenever something changes that.
        """
        state = self._state
        exploration = state.exploration
        while exploration.decided and not exploration.all_picked and not state.closed:
            self._emit(exploration.closing(), now)
        if not state.certified and self.finished is not None:
            self._emit(events.CertificateRecorded(certificate_of(state).to_dict()), now)

    def question(self, number: int) -> Question:
        """The question of this number, with the user's own items."""
        return self._made.get(self._state, number) or self._made.keep(number, self._make(number))

    def _make(self, number: int) -> Question:
        state, items = self._state, self.items
        questions = state.questions
        round_, rival, more = questions.round[number], questions.rival[number], questions.more_of(number)
        in_round = number - state.first_of(round_)
        return Question(
            f"q{number}",
            round_,
            in_round,
            items[questions.item[number]],
            None if rival < 0 else items[rival],
            self._first_picks(picks_given(len(state.setup.problem.chosen), round_, questions.given[number])),
            question_seed(self._seed, round_, in_round if questions.nth is None else questions.nth[number]),
            tuple([items[i] for i in more]) if more else (),
        )

    def receipt(self, question: int, *, repeated: bool) -> Receipt:
        """What is stored for a question."""
        questions = self._state.questions
        standing = questions.standing[question]
        answer = None if standing == VOID else self.shown(questions.answer[question])
        return Receipt(f"q{question}", answer, repeated, STANDINGS[standing])

    def checked(self, question: int, answer: object) -> float | bool:
        """The answer as it is stored, or an error that names the question."""
        state = self._state
        feedback = state.setup.problem.feedback
        try:
            if state.questions.names_one:
                return self._named(state.questions.options(question), answer)
            value = feedback.check(answer)
            return bool(value) if feedback.compares else value
        except InvalidAnswer as error:
            about = listed([state.setup.ids[i] for i in state.questions.options(question)])
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
        state = self._state
        if state.questions.names_one:
            return self.items[int(value)]
        return bool(value) if state.setup.problem.feedback.compares else value

    def _next(self, worker: str | None, now: float) -> int | None:
        state, leases = self._state, self._state.leases
        self._around.asks(worker, now)
        may = lambda question: not state.exploration.would_repeat(question, worker)  # noqa: E731
        again = leases.waiting(worker, seen=False, may=may) if leases.any_waiting else None
        if again is None:
            new = self._draw(worker, now)
            if new is not None:
                return new
            again, copy = leases.waiting(worker, seen=True, may=may), None
            if again is None:
                copy = copy_of_held(state, worker, may)
            if again is None and copy is None:  # nothing new is left for this worker
                may = lambda question: not self._around.another_may(state, question, worker, now)  # noqa: E731
                again = leases.waiting(worker, seen=None, may=may)
                copy = copy_of_held(state, worker, may) if again is None else None
            if copy is not None:
                self._emit(copy, now)
                return copy.question
        if again is not None:
            self._emit(events.Leased(again, worker), now)
        return again

    def _draw(self, worker: str | None, now: float) -> int | None:
        state = self._state
        proposal = state.exploration.proposal(worker)
        if proposal is None:
            return None
        question = len(state.questions)
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
        state, known, chosen = self._chosen
        if state is not self._state or known != count:
            chosen = tuple(self.items[i] for i in self._state.chosen[:count])
            self._chosen = self._state, count, chosen
        return chosen

    def _emit(self, event: events.Event, now: float) -> None:
        self._writer.emit(event, now)


def check_worker(worker: object) -> None:
    """A worker is named by text, or is nobody in particular."""
    if worker is not None and not (isinstance(worker, str) and worker):
        raise InvalidAnswer(f"a worker is named by text (or None for nobody in particular), got {worker!r}")


class Study(Generic[Item]):
    """One selection problem from first question to final summary.

    Pick `k` of `items` by asking. `feedback` says what an answer is (`Values` or `Preferences`); `epsilon` (in the
    units of f) and `delta` say how sure to be, `budget` how many answers may be spent: a number in all, or
    `PerItem(b)`. `in_flight` is how many questions may be unanswered at once: a number, "processes" (64) or "cluster"
    (256); left out, the first `run` says it by where it runs. With `storage` (a path or a URL) everything is kept, and
    `Study.open` goes on where it ended; `exists="open"` does so here, if the stored study was made with the same
    settings. `rule` says who counts, and `door` how people come to it;
    `continues` names the study that it goes on from, whose picks were seen before: the certificate names all three.
    """

    def __init__(
        self,
        items: Iterable[Item],
        k: int,
        *,
        feedback: Feedback,
        explorer: str | Explorer | None = None,
        epsilon: float | None = None,
        delta: float = 0.05,
        budget: int | PerItem | None = None,
        ratio: float | None = None,
        in_flight: int | Literal["processes", "cluster"] | None = None,
        lease_s: float = 120,
        prior: Sequence[float] | None = None,
        chosen: Iterable[Any] = (),
        seed: int = 0,
        scenarios: Literal["fresh", "paired"] = "fresh",
        solo: bool | None = None,
        rule: Rule | None = None,
        door: Door | None = None,
        continues: str | None = None,
        storage: str | Path | None = None,
        name: str = "study",
        exists: Exists = "error",
        clock: Clock = time.time,
    ) -> None:
        given, ids = read_items(items)
        setup = make_setup(
            given,
            ids,
            k,
            feedback=feedback,
            explorer=explorer,
            epsilon=epsilon,
            delta=delta,
            budget=budget,
            ratio=ratio,
            in_flight=in_flight,
            lease_s=lease_s,
            prior=prior,
            chosen=chosen,
            seed=seed,
            scenarios=scenarios,
            solo=solo,
            rule=rule,
            door=door,
            continues=continues,
        )
        writer, new = begun_or_stored(setup, storage, name, exists, clock)
        self._start(name, given, writer)
        if new:
            with self._writing() as now:
                self._ask_tell.close_decided(now)

    @overload
    @classmethod
    def open(
        cls,
        url: str | Path,
        name: str = ...,
        items: None = None,
        *,
        read_only: bool = ...,
        clock: Clock = ...,
        watch: RecordReader | None = ...,
    ) -> Study[str]: ...

    @overload
    @classmethod
    def open(
        cls,
        url: str | Path,
        name: str = ...,
        items: Iterable[Item] = ...,
        *,
        read_only: bool = ...,
        clock: Clock = ...,
        watch: RecordReader | None = ...,
    ) -> Study[Item]: ...

    @classmethod
    def open(
        cls,
        url: str | Path,
        name: str = "study",
        items: Iterable[Any] | None = None,
        *,
        read_only: bool = False,
        clock: Clock = time.time,
        watch: RecordReader | None = None,
    ) -> Study[Any]:
        """Go on with a stored study. Give the same `items` to get your own objects back; else items are their names.

        One process may have a study open for writing, any number may read beside it. `watch` gets the records read.
        """
        given, ids = (None, None) if items is None else read_items(items)
        writer = stored(url, name, ids, clock, mode="read" if read_only else "write", watch=watch)
        study: Study[Any] = cls.__new__(cls)
        study._start(name, writer.state.setup.ids if given is None else given, writer)
        study._read_only = read_only
        if not read_only and writer.state.setup.is_current:
            study._apply_rule()
        return study

    def _start(self, name: str, items: tuple[Item, ...], writer: Writer) -> None:
        self.name = name
        self.items = items
        self._writer = writer
        self._ask_tell = AskTell(items, writer)
        self._read_only = self._closed = False

    def _apply_rule(self) -> None:
        if self.setup.rule is not None and self.finished is None:
            with self._writing() as now:
                self._ask_tell.participation.apply_to_all(now)
                self._ask_tell.close_decided(now)

    def ask(self, n: int = 1, worker: str | None = None) -> list[Question[Item]]:
        """Up to `n` questions for `worker`, who has `lease_s` seconds for each; returns once that is durable.

        None may come: ask again when an answer has come in, unless `finished` says that none ever will. Questions that
        others left unanswered come first, unchanged.
        """
        with self._writing() as now:
            return self._ask_tell.ask(n, worker, now)

    def tell(
        self,
        id: str,
        answer: object,
        worker: str | None = None,
        meta: Any = None,
        *,
        undo_s: float = 0.0,
        duration: int | None = None,
    ) -> Receipt:
        """Answer a question; returns once that is durable. A repeat changes nothing and gives what is stored.

        With `undo_s` the answer is provisional: `revise` may replace it until the worker's next answer, or until the
        seconds are over. `meta` is any JSON to keep with it; `duration` is how many milliseconds it took, for the rule.
        """
        with self._writing() as now:
            return self._ask_tell.tell(id, answer, worker, now, meta=meta, undo_s=undo_s, duration=duration)

    def exchange(
        self,
        id: str,
        answer: object,
        worker: str | None = None,
        meta: Any = None,
        *,
        n: int = 1,
        undo_s: float = 0.0,
        duration: int | None = None,
    ) -> tuple[Receipt, list[Question[Item]]]:
        """`tell` and `ask` in one commit: for a page that sends an answer and wants the next question."""
        with self._writing() as now:
            receipt = self._ask_tell.tell(id, answer, worker, now, meta=meta, undo_s=undo_s, duration=duration)
            return receipt, self._ask_tell.ask(n, worker, now)

    def revise(self, id: str, answer: object, worker: str | None = None) -> Receipt:
        """Replace a provisional answer of the same worker."""
        with self._writing() as now:
            return self._ask_tell.revise(id, answer, worker, now)

    def skip(self, id: str, reason: str | None = None, worker: str | None = None) -> bool:
        """Give a question back unanswered; another worker gets it, and the third skip voids it.

        False if `worker` does not hold it (any more): then nothing changes.
        """
        with self._writing() as now:
            return self._ask_tell.skip(id, reason, worker, now)

    def let_go(self, worker: str) -> int:
        """End the leases of somebody who has left, as if their time had run out; gives how many.

        It is not a skip: nothing is held against the worker or the question, and an answer may still come.
        """
        with self._writing() as now:
            return self._ask_tell.let_go(worker, now)

    def settle(self, worker: str | None = None) -> int:
        """Let provisional answers stand whose time to undo is over, or all those of `worker`; gives how many."""
        with self._writing() as now:
            return self._ask_tell.settle_due(now) if worker is None else self._ask_tell.settle_of(worker, now)

    def held_by(self, worker: str | None) -> list[Question[Item]]:
        """The questions that `worker` holds, oldest first: for a page that was loaded again."""
        if not self.state.leases.held_by(worker):  # nobody has to wait to learn that
            return []
        with self._writer.lock:
            return [self._ask_tell.question(question) for question in self.state.leases.held_by(worker)]

    def run(
        self,
        oracle: Callable[[Question[Item]], object],
        *,
        n_jobs: int | None = None,
        dask: Any = None,
        executor: Executor | None = None,
        progress: running.ProgressCallback | bool | None = None,
        timeout: float | None = None,
        retries: int = 0,
        catch: tuple[type[BaseException], ...] = (),
    ) -> Result[Item]:
        """Ask `oracle` until the study is finished; questions left open by an earlier run come first.

        `oracle` is any function of a `Question`. It runs here, in `n_jobs` processes (−1: one per core), on a `dask`
        cluster (a client or an address), or in any `executor` of `concurrent.futures`. Question n is decided from the
        answers up to n − in_flight, in question order, so the result is the same everywhere. (A study made without
        `in_flight` gets it by its first run: 64 with `n_jobs`, 256 with `dask`, else 1.)

        What it raises is tried `retries` times more; then a question that fails by one of `catch` is given up, and all
        else ends the run; with `n_jobs`, so does an evaluation of over `timeout` seconds. What was answered is kept.
        """
        self._check_writable()
        place = running.place_of(oracle, self.items, executor=executor, n_jobs=n_jobs, dask=dask, timeout=timeout)
        policy = running.FailurePolicy(retries, catch)
        running.run(self._ask_tell, self._writer, oracle, place, progress, policy)
        return self.result()

    def pause(self) -> None:
        """Hand out no questions until `resume`; answers are still taken."""
        self._switch(events.Paused(), self.state.paused)

    def resume(self) -> None:
        """End a pause."""
        self._switch(events.Opened(), not self.state.paused)

    def finish(self, reason: str | None = None) -> Result[Item]:
        """End the study for good: the open round is decided with what it knows, if it knows anything.

        Places left are filled from what is known, if anything is (`Result.filled`). To let go of the storage: `close`.
        """
        with self._writing() as now:
            self._ask_tell.finish(reason, now)
        return self.result()

    def extend(self, budget: int | PerItem) -> None:
        """Allow `budget` more answers."""
        with self._writing() as now:
            self._check_going("extend its budget")
            self._ask_tell.extend(budget, now)

    def withdraw(self, item: Item, reason: str | None = None) -> None:
        """Take an item out of the running: it is not picked, and nothing is asked about it."""
        with self._writing() as now:
            self._check_going(f"withdraw {item} from it")
            self._ask_tell.withdraw(position_of(item, self.items), reason, now)

    def note(self, topic: str, data: Any = None) -> None:
        """Keep something in the journal that never changes the study's state."""
        with self._writing() as now:
            self._writer.emit(events.Noted(topic, data), now)

    def preregister(self, contents: Contents | None = None, words: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Write down what the study will do, note that in the journal, and give the record, to be published.

        `contents` are SHA-256 digests of the items by their names, `words` what people read. Preregistering again notes
        nothing: the first record counts, and what is given is the study as it is now. Not once the study is over.
        """
        with self._writing() as now:
            if self.state.registered is None:
                if self.finished is not None:
                    raise StudyFinished("this study is over: what it did cannot be announced any more")
                salt = token_hex(16)
                record = record_of(self.setup, self.name, salt, contents, words or {})
                self._writer.emit(events.Noted(PREREGISTERED, {"hash": record["hash"], "salt": salt}), now)
        return self.registration(contents, words)

    def registration(self, contents: Contents | None = None, words: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What a preregistration of the study would say now, with the salt that is in its journal."""
        salt = "" if self.state.registered is None else self.state.registered.salt
        return record_of(self.setup, self.name, salt, contents, words or {})

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Call `callback(event)` after each event, once it is durable; gives the function that ends it."""
        return self._writer.subscribe(callback)

    # The people in it

    def check(
        self,
        worker: str,
        check: str,
        right: bool,
        duration: int | None = None,
        *,
        revised: bool = False,
        undoable: bool = False,
    ) -> None:
        """Note that a worker answered a "practice", "gold" or "instructed" question, and whether rightly.

        It never enters an estimate; by the rule it admits the worker, or excludes them. `revised`: this is the last
        check once more, answered differently. `undoable`: it may still be, so nobody is excluded for it before
        `apply_rule` is called.
        """
        with self._writing() as now:
            self._ask_tell.participation.check(worker, check, right, duration, revised, undoable, now)
            self._ask_tell.close_decided(now)

    def apply_rule(self, worker: str) -> None:
        """Exclude a worker, or admit them, if the rule says so by now."""
        with self._writing() as now:
            self._ask_tell.participation.apply_rule(worker, now)
            self._ask_tell.close_decided(now)

    def exclude(self, worker: str, reason: str | None = None, *, by_rule: bool = False) -> None:
        """Count none of a worker's answers in the open round, and mark the rounds before it.

        `by_rule`: by a rule that was fixed before the start. Otherwise δ is void, and the certificate says so; and
        InvalidProblem where `reason` is one that a study writes down itself, as for somebody who withdrew.
        """
        with self._writing() as now:
            check_worker(worker)
            self._ask_tell.participation.check_known(worker)
            self._ask_tell.participation.exclude([worker], reason, by_rule, now)
            self._ask_tell.close_decided(now)

    def leave(self, worker: str) -> None:
        """Somebody withdraws: their answers leave the open round, unless the rule keeps them. Closed rounds stand."""
        with self._writing() as now:
            self._ask_tell.participation.leave(worker, now)
            self._ask_tell.close_decided(now)

    def restore(self, worker: str, *, verified: bool = False) -> None:
        """Undo `exclude`. InvalidProblem for somebody who withdrew: their answers stay out.

        `verified`: the panel says now that it knows them, which overrules no rule if that was all they waited for.
        """
        with self._writing() as now:
            self._ask_tell.participation.check_known(worker)
            self._ask_tell.restore(worker, verified, now)

    def change_door(self, door: Door, reason: str | None = None) -> None:
        """Let people come in another way from now on: the certificate says so."""
        with self._writing() as now:
            self._ask_tell.participation.change_door(door, reason, now)

    @property
    def standstill(self) -> Standstill:
        """Whether a cap on shares keeps everybody from going on."""
        return self._ask_tell.participation.standstill

    def let_in_by(self, gate: Gate | None) -> None:
        """Hand a question to a worker only where `gate` agrees; it is asked under the study's lock."""
        self._ask_tell.participation.gate = gate

    # What can be seen of it

    @property
    def finished(self) -> str | None:
        """Why no more questions will come; None while they may."""
        return self._ask_tell.finished

    @property
    def setup(self) -> Setup:
        """What the study was made with."""
        return self.state.setup

    def result(self) -> Result[Item]:
        """The result so far: items picked, answers spent, what may be claimed."""
        return result_of(self.snapshot(), self.items)

    def status(self) -> Status[Item]:
        """Where the study stands now: its open round, its workers, its budget."""
        seen = self.snapshot()
        return status_of(seen, self.items, seen.finished)

    def agreement(self) -> Agreement:
        """How far people agree, and how many picks two halves of them have in common: no measures of quality."""
        return agreement_of(self.snapshot())

    def excluding(self, workers: Iterable[str]) -> Excluding:
        """What excluding these workers would mean."""
        with self._writer.lock:
            return excluding_of(self.state, workers, self.finished is not None)

    def journal(self) -> Iterator[tuple[float, events.Event]]:
        """The journal: the time and the event, in order."""
        for record in self.records():
            yield record.time, from_record(record)

    def records(self) -> Iterator[Record]:
        """The journal as it is stored."""
        return self._writer.journal.read()

    @property
    def state(self) -> State:
        """The state itself, to look at; only events may change it."""
        return self._writer.state

    def snapshot(self) -> State:
        """The state to look at while answers come in: whoever answers waits for the copy at most."""
        with self._writer.lock:
            return self.state.snapshot()

    @property
    def mismatches(self) -> Mismatches:
        """Decisions in the journal that this version of handful would take otherwise: takes every one of them again."""
        return mismatches_in(self.records())

    # Its end here

    def close(self) -> None:
        """Let go of the storage, so that others may open the study; what it knows can still be looked at here."""
        self._closed = True
        self._writer.journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        s = self.status()
        return f"<Study {self.name!r}: {len(s.chosen)} of {s.k} picked from {len(s.items)}, {s.answers:,} answered>"

    def _writing(self) -> Turn:
        self._check_writable()
        return self._writer.writing()

    def _check_writable(self) -> None:
        if self._closed:
            raise StorageError(f"study {self.name!r} was closed here: open it again to go on with it")
        if not self.setup.is_current:
            raise StudyFinished(
                f"study {self.name!r} was {self.setup.made_by}: "
                "it can be read here, and only that version goes on with it"
            )
        if self._read_only:
            raise StorageError(f"study {self.name!r} is open read-only: open it without read_only to go on with it")

    def _check_going(self, what: str) -> None:
        if self.finished:
            raise StudyFinished(f"{self.finished}: it is too late to {what}")

    def _switch(self, event: events.Event, already: bool) -> None:
        with self._writing() as now:
            self._check_going("pause or resume it")
            if not already:
                self._writer.emit(event, now)

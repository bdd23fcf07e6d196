"""Running an oracle to the end: the same result in any order of execution.

Question n is decided from the answers up to n − in_flight, told in question order. So it does not matter where the
oracle runs, how many run at once, or which is done first.

Which of two is named first is drawn for each question: explorers name a contender and its challenger in an order of
their own, so a judge who leans to the first would else be believed. An oracle that cannot lean may say so, by an
attribute `impartial` that is true, and is asked in that order.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from handful.errors import EvaluationFailed
from handful.study import events
from handful.study.ask_tell import AskTell
from handful.study.event_records import from_record
from handful.study.in_flight import set_in_flight
from handful.study.questions import Question
from handful.study.ways import Failing, Later, Oracle, Pending, Way, say_what_is_amiss
from handful.study.writer import Writer
from handful.wording import counted

WAIT_EVERY_S = 0.25  # how much of a run may be lost to a power cut
SHOW_EVERY_S = 0.1
VOIDED = 10  # questions about one item that may fail
AHEAD = "answered ahead"
ODD = 0x9E3779B97F4A7C15  # 2⁶⁴ over the golden ratio


@dataclass(frozen=True)
class RunProgress:
    """How far a run is."""

    picked: int
    k: int
    answers: int
    budget: int | None


ProgressCallback = Callable[[RunProgress], None]
"""Called with how far a run is, a few times a second."""


class _Waiting(NamedTuple):
    """A question whose answer is on its way; `turned`: asked with its rival first."""

    question: Question
    turned: bool
    pending: Pending

    def straight(self, answer: object) -> object:
        return not answer if self.turned and isinstance(answer, (bool, np.bool_)) else answer


def run(
    ask_tell: AskTell,
    writer: Writer,
    oracle: Oracle,
    place: AbstractContextManager[Way],
    progress: ProgressCallback | bool | None,
    failing: Failing,
) -> None:
    """Ask `oracle`, which runs in `place`, until the study is finished."""
    impartial = getattr(oracle, "impartial", False) is True  # and not a remote object that has any attribute
    with place as way:
        if way.in_flight is not None:
            set_in_flight(writer, way.in_flight)
        say_what_is_amiss(oracle, way, writer.fold.setup.problem.in_flight, len(writer.fold.leases))
        _run(ask_tell, writer, way, impartial, progress, failing)


def _run(
    ask_tell: AskTell,
    writer: Writer,
    way: Way,
    impartial: bool,
    progress: ProgressCallback | bool | None,
    failing: Failing,
) -> None:
    waiting: deque[_Waiting] = deque()
    failed: Counter[str] = Counter()

    def send(question: Question) -> None:
        turned = not impartial and _turned(question)
        waiting.append(_Waiting(question, turned, way.submit(_asked(question, turned))))

    def ask_more() -> None:
        if not waiting or waiting[0].question.round == writer.fold.exploration.round:
            for question in _more(ask_tell, writer, close=not waiting):
                send(question)

    with _shown(progress) as show:
        try:
            ahead = _answered_ahead(writer)
            for question in _left_open(ask_tell, writer):
                if question.id in ahead:
                    known = partial(ask_tell.shown, ahead[question.id])
                    waiting.append(_Waiting(question, False, Later(known)))
                else:
                    send(question)
            ask_more()
            flushed = shown = time.monotonic()
            while waiting:
                first = waiting[0]
                try:
                    answer = first.straight(_result(first, way, failing.retries))
                except failing.catch as error:
                    _give_up(ask_tell, writer, first.question, error, failed, close=len(waiting) == 1)
                else:
                    with writer.writing(wait=False) as now:
                        # What a round left in flight is told before the next round begins, as in a simulation.
                        ask_tell.tell(first.question.id, answer, None, now, close=len(waiting) == 1)
                waiting.popleft()
                ask_more()
                moment = time.monotonic()
                if moment - flushed > WAIT_EVERY_S:
                    writer.flush()
                    flushed = moment
                if show and moment - shown > SHOW_EVERY_S:
                    show(_progress(writer))
                    shown = moment
            if show:
                show(_progress(writer))
        except BaseException as error:
            _keep_ahead(ask_tell, writer, list(waiting)[1:])
            for left in waiting:
                left.pending.cancel()
            if waiting:
                error.add_note(
                    f"question {waiting[0].question.id} stays open and {counted(writer.fold.answers, 'answer')} kept: "
                    "call run(oracle) again to go on"
                )
            raise
        finally:
            writer.flush()


def _asked(question: Question, turned: bool) -> Question:
    return replace(question, item=question.rival, rival=question.item) if turned else question


def _result(waiting: _Waiting, way: Way, retries: int) -> object:
    """The answer, after up to `retries` more tries; a question that ended its workers is not tried again."""
    pending = waiting.pending
    for _ in range(retries):
        try:
            return pending.result()
        except EvaluationFailed:
            raise
        except Exception:
            pending = way.submit(_asked(waiting.question, waiting.turned))
    return pending.result()


def _give_up(
    ask_tell: AskTell, writer: Writer, question: Question, error: BaseException, failed: Counter[str], *, close: bool
) -> None:
    """Void the question, as if everybody had skipped it; raise if too many about one item have failed."""
    about = str(question.item)
    failed[about] += 1
    if failed[about] > VOIDED:
        raise EvaluationFailed(
            f"{failed[about]} questions about {about} failed, the last one {question.id} ({type(error).__name__}: "
            f"{error}): mend the oracle, or study.withdraw the item, and run again"
        ) from error
    with writer.writing(wait=False) as now:
        ask_tell.give_up(question.id, f"{type(error).__name__}: {error}", now, close=close)


def _keep_ahead(ask_tell: AskTell, writer: Writer, waiting: list[_Waiting]) -> None:
    """Note what was answered out of turn when a run ends early: the next run tells it when its turn comes."""
    ahead: dict[str, float | bool] = {}
    for left in waiting:
        if left.pending.done():
            try:
                ahead[left.question.id] = ask_tell.checked(
                    writer.fold.questions.number_of(left.question.id), left.straight(left.pending.result())
                )
            except Exception:  # it will fail again when its turn comes
                continue
    if ahead:
        with writer.writing(wait=False) as now:
            writer.emit(events.Noted(AHEAD, ahead), now)


def _answered_ahead(writer: Writer) -> dict[str, float | bool]:
    """What earlier runs had answered when they ended, of the questions that are still open."""
    ahead: dict[str, float | bool] = {}
    with writer.lock:
        if not writer.fold.leases.numbers():
            return ahead
        writer.flush()
        for record in writer.journal.read():
            event = from_record(record) if record.kind == events.Noted.kind else None
            if isinstance(event, events.Noted) and event.topic == AHEAD:
                ahead.update(event.data)
    return ahead


def _turned(question: Question) -> bool:
    """Whether the rival is named first: one bit of the question's seed, well mixed. More options are in any order."""
    return question.rival is not None and not question.more and bool((question.seed * ODD >> 63) & 1)


def _left_open(ask_tell: AskTell, writer: Writer) -> list[Question]:
    """Questions of an earlier run, or of workers who are gone."""
    with writer.lock:
        return [ask_tell.question(number) for number in writer.fold.leases.numbers()]


def _more(ask_tell: AskTell, writer: Writer, *, close: bool) -> list[Question]:
    """All the new questions that may be in flight now."""
    questions = []
    with writer.writing(wait=False) as now:
        if close:
            ask_tell.close_decided(now)
        while (question := ask_tell.ask_new(None, now)) is not None:
            questions.append(question)
    return questions


def _progress(writer: Writer) -> RunProgress:
    fold = writer.fold
    return RunProgress(len(fold.chosen), fold.setup.problem.k, fold.answers, fold.budget)


def _shown(progress: ProgressCallback | bool | None) -> AbstractContextManager[ProgressCallback | None]:
    if progress is None or progress is False:
        return nullcontext(None)
    if progress is not True:
        return nullcontext(progress)
    from handful.study.progress import bar

    return bar()

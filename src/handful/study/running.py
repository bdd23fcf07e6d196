"""Running an oracle to the end: the same result in any order of execution.

Question n is decided from the answers up to n − in_flight, told in question order. So it does not matter where the
oracle runs, how many run at once, or which is done first.

Which of two is named first is drawn for each question: explorers name a contender and its challenger in an order of
their own, so a judge who leans to the first would else be believed. An oracle that cannot lean may say so, by an
attribute `impartial` that is true, and is asked in that order.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from handful.study.ask_tell import AskTell
from handful.study.questions import Question
from handful.study.writer import Writer

Oracle = Callable[[Question], object]
WAIT_EVERY_S = 0.25  # how much of a run may be lost to a power cut
SHOW_EVERY_S = 0.1
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


class _Pending(Protocol):
    """An answer on its way."""

    def result(self) -> object: ...

    def cancel(self) -> bool: ...


class _Later:
    """An oracle that is called when its answer is wanted."""

    def __init__(self, oracle: Oracle, question: Question) -> None:
        self._oracle = oracle
        self._question = question

    def result(self) -> object:
        return self._oracle(self._question)

    def cancel(self) -> bool:
        return True


def run(
    ask_tell: AskTell,
    writer: Writer,
    oracle: Oracle,
    progress: ProgressCallback | bool | None,
    executor: Executor | None,
) -> None:
    """Ask and answer until the study is finished."""
    waiting: deque[tuple[Question, bool, _Pending | Future[object]]] = deque()
    impartial = getattr(oracle, "impartial", False) is True  # and not a remote object that has any attribute

    def send(question: Question) -> None:
        turned = not impartial and _turned(question)
        posed = replace(question, item=question.rival, rival=question.item) if turned else question
        pending = _Later(oracle, posed) if executor is None else executor.submit(oracle, posed)
        waiting.append((question, turned, pending))

    def ask_more() -> None:
        if not waiting or waiting[0][0].round == writer.fold.exploration.round:
            for question in _more(ask_tell, writer, close=not waiting):
                send(question)

    with _shown(progress) as show:
        try:
            for question in _left_open(ask_tell, writer):
                send(question)
            ask_more()
            flushed = shown = time.monotonic()
            while waiting:
                question, turned, pending = waiting[0]
                answer = pending.result()
                if turned and isinstance(answer, (bool, np.bool_)):
                    answer = not answer
                with writer.writing(wait=False) as now:
                    # What a round left in flight is told before the next round begins, as in a simulation.
                    ask_tell.tell(question.id, answer, None, now, close=len(waiting) == 1)
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
            for _, _, pending in waiting:
                pending.cancel()
            if waiting and not isinstance(error, KeyboardInterrupt):
                error.add_note(
                    f"question {waiting[0][0].id} stays open and {writer.fold.answers} answers are kept: "
                    "call run(oracle) again to go on"
                )
            raise
        finally:
            writer.flush()


def _turned(question: Question) -> bool:
    """Whether the rival is named first: one bit of the question's seed, well mixed."""
    return question.rival is not None and bool((question.seed * ODD >> 63) & 1)


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

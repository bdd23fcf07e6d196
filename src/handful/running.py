"""The loop behind `Study.run`: the same result in any order of execution.

Question n is decided from the answers up to n − in_flight, told in question order. So it does not matter where the
oracle runs (here, in an executor, in processes, or on a Dask cluster), how many run at once, or which is done first.

Which of two is named first is drawn for each question: explorers name a contender and its challenger in an order of
their own, so a judge who leans to the first would else be believed. An oracle that cannot lean may say so, by an
attribute `impartial` that is true, and is asked in that order.
"""

from __future__ import annotations

import inspect
import sys
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from handful import events, notebook
from handful.errors import BetterTool, EvaluationFailed, IdleWorkers, InvalidProblem
from handful.events import from_record
from handful.executors import Cluster, Processes, count_of
from handful.journal import Writer
from handful.questions import Question
from handful.setup import IN_FLIGHT
from handful.state import set_in_flight
from handful.wording import counted

if TYPE_CHECKING:
    from rich.console import Console

    from handful.study import AskTell

WAIT_EVERY_S = 0.25  # how much of a run may be lost to a power cut
SHOW_EVERY_S = 0.1
VOIDED = 10  # questions about one item that may fail
AHEAD = "answered ahead"
ODD = 0x9E3779B97F4A7C15  # 2⁶⁴ over the golden ratio

Oracle = Callable[[Question], object]


@dataclass(frozen=True)
class RunProgress:
    """How far a run is."""

    picked: int
    k: int
    answers: int
    budget: int | None


ProgressCallback = Callable[[RunProgress], None]
"""Called with how far a run is, a few times a second."""


@dataclass(frozen=True)
class FailurePolicy:
    """What to do when the oracle raises: try `retries` times more, then give up on the question if it is one of
    `catch`, and else on the run.
    """

    retries: int = 0
    catch: tuple[type[BaseException], ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.retries, bool) or not isinstance(self.retries, int) or self.retries < 0:
            raise InvalidProblem(f"retries must be a whole number, 0 or more, got {self.retries!r}")
        if not all(isinstance(kind, type) and issubclass(kind, Exception) for kind in self.catch):
            raise InvalidProblem(f"catch must be kinds of exceptions, such as (ValueError,), got {self.catch!r}")


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
    opening: AbstractContextManager[Place],
    progress: ProgressCallback | bool | None,
    policy: FailurePolicy,
) -> None:
    """Ask `oracle`, which runs in the place that is opened, until the study is finished."""
    impartial = getattr(oracle, "impartial", False) is True  # and not a remote object that has any attribute
    with opening as place:
        if place.in_flight is not None:
            set_in_flight(writer, IN_FLIGHT[place.in_flight])
        warn_before_start(oracle, place, writer.state.setup.problem.in_flight, len(writer.state.leases))
        _run(ask_tell, writer, place, impartial, progress, policy)


def _run(
    ask_tell: AskTell,
    writer: Writer,
    place: Place,
    impartial: bool,
    progress: ProgressCallback | bool | None,
    policy: FailurePolicy,
) -> None:
    waiting: deque[_Waiting] = deque()
    failed: Counter[str] = Counter()

    def send(question: Question) -> None:
        turned = not impartial and _turned(question)
        waiting.append(_Waiting(question, turned, place.submit(_asked(question, turned))))

    def ask_more() -> None:
        if not waiting or waiting[0].question.round == writer.state.exploration.round:
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
                    answer = first.straight(_result(first, place, policy.retries))
                except policy.catch as error:
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
                    f"question {waiting[0].question.id} stays open and {counted(writer.state.answers, 'answer')} kept: "
                    "call run(oracle) again to go on"
                )
            raise
        finally:
            writer.flush()


def _asked(question: Question, turned: bool) -> Question:
    return replace(question, item=question.rival, rival=question.item) if turned else question


def _result(waiting: _Waiting, place: Place, retries: int) -> object:
    """The answer, after up to `retries` more tries; a question that ended its workers is not tried again."""
    pending = waiting.pending
    for _ in range(retries):
        try:
            return pending.result()
        except EvaluationFailed:
            raise
        except Exception:
            pending = place.submit(_asked(waiting.question, waiting.turned))
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
                    writer.state.questions.number_of(left.question.id), left.straight(left.pending.result())
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
        if not writer.state.leases.numbers():
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
        return [ask_tell.question(number) for number in writer.state.leases.numbers()]


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
    state = writer.state
    return RunProgress(len(state.chosen), state.setup.problem.k, state.answers, state.budget)


def _shown(progress: ProgressCallback | bool | None) -> AbstractContextManager[ProgressCallback | None]:
    if progress is None or progress is False:
        return nullcontext(None)
    if progress is not True:
        return nullcontext(progress)
    return bar()


# Where an oracle runs -------------------------------------------------------------------------------------------------


class Pending(Protocol):
    """An answer on its way."""

    def result(self) -> object:
        """Wait for the answer, and give it or raise what the oracle raised."""

    def cancel(self) -> bool:
        """Ask for no answer any more, as far as that can be done."""

    def done(self) -> bool:
        """Whether the answer is there without waiting."""


class Place(Protocol):
    """Where an oracle runs."""

    @property
    def workers(self) -> int | None:
        """How many questions it can answer at once, if that is known."""

    @property
    def in_flight(self) -> str | None:
        """For what to have many questions out at once, where the study was made without saying; None: it stays at 1."""

    def submit(self, question: Question) -> Pending:
        """Ask the question, and return at once."""


class Later:
    """An oracle that is called when its answer is wanted, or an answer that is there already."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act

    def result(self) -> object:
        return self._act()

    def cancel(self) -> bool:
        return True

    def done(self) -> bool:
        return False


class ThisThread:
    """Calls the oracle in this thread, one question after the other."""

    workers = 1
    in_flight = None

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def submit(self, question: Question) -> Pending:
        return Later(partial(self._oracle, question))


class GivenExecutor:
    """Calls the oracle in an executor of `concurrent.futures`."""

    workers = None
    in_flight = None

    def __init__(self, oracle: Oracle, executor: Executor) -> None:
        self._oracle = oracle
        self._executor = executor

    def submit(self, question: Question) -> Pending:
        return self._executor.submit(self._oracle, question)


def place_of(
    oracle: Oracle,
    items: tuple[Any, ...],
    *,
    executor: Executor | None,
    n_jobs: int | None,
    dask: Any,
    timeout: float | None,
) -> AbstractContextManager[Place]:
    """Where the oracle runs, as the arguments of `run` say."""
    _check_oracle(oracle)
    if sum(given is not None for given in (executor, n_jobs, dask)) > 1:
        raise InvalidProblem("an oracle runs in one place: give executor=, n_jobs= or dask=, not two of them")
    if timeout is not None:
        if n_jobs is None:
            raise InvalidProblem(
                "timeout= ends the process that takes too long, and only those of n_jobs= can be ended from here: give "
                "n_jobs= (n_jobs=1 is one process), or leave timeout= out and limit the time within the oracle"
            )
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
            raise InvalidProblem(f"timeout must be a positive number of seconds, got {timeout!r}")
    if n_jobs is not None:
        return Processes(oracle, items, count_of(n_jobs), timeout)
    if dask is not None:
        return Cluster(oracle, items, dask)
    return nullcontext(ThisThread(oracle) if executor is None else GivenExecutor(oracle, executor))


def _check_oracle(oracle: object) -> None:
    """Refuse what cannot be called with one question."""
    if not callable(oracle):
        raise InvalidProblem(f"an oracle is a function of a question, such as lambda q: score(q.item), got {oracle!r}")
    try:
        takes = inspect.signature(oracle)
    except (TypeError, ValueError):  # some that are written in C do not say
        return
    try:
        takes.bind(None)
    except TypeError:
        name = getattr(oracle, "__qualname__", type(oracle).__qualname__)
        raise InvalidProblem(
            f"an oracle is called with one question q, but {name} takes {takes}: let it take q alone, and read q.item, "
            "q.rival and q.chosen"
        ) from None


def warn_before_start(oracle: Oracle, place: Place, in_flight: int, open_: int) -> None:
    """Warn of workers that the study cannot keep busy, and of an oracle for which there is a better tool."""
    if place.workers is not None and place.workers > max(in_flight, open_):
        idle = place.workers - in_flight
        warnings.warn(
            f"{idle} of {place.workers} workers will have nothing to do: this study has at most "
            f"{counted(in_flight, 'question')} in flight, which is fixed once it has begun; to use all, make it with "
            f"in_flight={place.workers} or more",
            IdleWorkers,
            stacklevel=4,
        )
    advice = getattr(oracle, "better_tool", None)
    if isinstance(advice, str):
        warnings.warn(advice, BetterTool, stacklevel=4)


# How far it is --------------------------------------------------------------------------------------------------------


def bar(console: Console | None = None) -> AbstractContextManager[ProgressCallback]:
    """A bar over the budget, or over the rounds where there is none."""
    # Rich would draw in a notebook too, but warns where ipywidgets is not installed.
    return _notebook_bar() if console is None and _in_notebook() else _terminal_bar(console)


@contextmanager
def _terminal_bar(console: Console | None) -> Iterator[ProgressCallback]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[said]}"), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("asking", total=1.0, said="")
        yield lambda now: progress.update(task, completed=_share(now), said=_said(now))


@contextmanager
def _notebook_bar() -> Iterator[ProgressCallback]:
    ipython: Any = import_module("IPython.display")  # which has types for some of it only
    begun = time.monotonic()
    drawn = ipython.display(ipython.HTML(notebook.card("asking", notebook.bar(0.0, "done"))), display_id=True)

    def show(now: RunProgress) -> None:
        said = f"{_said(now)}, {time.monotonic() - begun:,.0f} s"
        drawn.update(ipython.HTML(notebook.card(said, notebook.bar(_share(now), "done"))))

    yield show


def _in_notebook() -> bool:
    """Whether cells show HTML: so it is in Jupyter's kernels, and not in IPython's terminal."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def _share(now: RunProgress) -> float:
    """How much is done, from 0 to 1."""
    if now.picked == now.k:
        return 1.0
    return now.picked / now.k if now.budget is None else now.answers / max(now.budget, 1)


def _said(now: RunProgress) -> str:
    of = "" if now.budget is None else f" of {now.budget:,}"
    return f"{now.picked} of {now.k} picked, {now.answers:,}{of} answers"

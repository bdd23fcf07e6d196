"""Where an oracle runs: here, in an executor, in processes of our own, or on a Dask cluster; and when it fails."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from handful.errors import BetterTool, IdleWorkers, InvalidProblem
from handful.study.questions import Question
from handful.wording import counted

Oracle = Callable[[Question], object]


class Pending(Protocol):
    """An answer on its way."""

    def result(self) -> object:
        """Wait for the answer, and give it or raise what the oracle raised."""

    def cancel(self) -> bool:
        """Ask for no answer any more, as far as that can be done."""

    def done(self) -> bool:
        """Whether the answer is there without waiting."""


class Way(Protocol):
    """Where an oracle runs."""

    @property
    def workers(self) -> int | None:
        """How many questions it can answer at once, if that is known."""

    @property
    def in_flight(self) -> int | None:
        """How many questions to have out at once, where the study was made without saying; None: it stays at 1."""

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


class Here:
    """Calls the oracle in this thread, one question after the other."""

    workers = 1
    in_flight = None

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def submit(self, question: Question) -> Pending:
        return Later(partial(self._oracle, question))


class Elsewhere:
    """Calls the oracle in an executor of `concurrent.futures`."""

    workers = None
    in_flight = None

    def __init__(self, oracle: Oracle, executor: Executor) -> None:
        self._oracle = oracle
        self._executor = executor

    def submit(self, question: Question) -> Pending:
        return self._executor.submit(self._oracle, question)


@dataclass(frozen=True)
class Failing:
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


def way_of(
    oracle: Oracle,
    items: tuple[Any, ...],
    *,
    executor: Executor | None,
    n_jobs: int | None,
    dask: Any,
    timeout: float | None,
) -> AbstractContextManager[Way]:
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
        from handful.study.processes import ProcessPool, count_of

        return ProcessPool(oracle, items, count_of(n_jobs), timeout)
    if dask is not None:
        from handful.study.cluster import DaskCluster

        return DaskCluster(oracle, items, dask)
    return nullcontext(Here(oracle) if executor is None else Elsewhere(oracle, executor))


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


def say_what_is_amiss(oracle: Oracle, way: Way, in_flight: int, open_: int) -> None:
    """Warn of workers that the study cannot keep busy, and of an oracle for which there is a better tool."""
    if way.workers is not None and way.workers > max(in_flight, open_):
        idle = way.workers - in_flight
        warnings.warn(
            f"{idle} of {way.workers} workers will have nothing to do: this study has at most "
            f"{counted(in_flight, 'question')} in flight, which is fixed once it has begun; to use all, make it with "
            f"in_flight={way.workers} or more",
            IdleWorkers,
            stacklevel=4,
        )
    advice = getattr(oracle, "better_tool", None)
    if isinstance(advice, str):
        warnings.warn(advice, BetterTool, stacklevel=4)

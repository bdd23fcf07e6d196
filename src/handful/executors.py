"""Other processes in which an oracle runs: on this machine by `loky`, on a cluster by Dask.

Oracle and items travel once, whatever they hold: functions of a notebook or of the main script too. In the questions
that follow an item is only named by its position. Questions travel in batches while a task costs more than its answers,
one by one when the oracle is slow; and one by one, too, when one of a batch ended its worker or took too long.
"""

from __future__ import annotations

import os
import pickle
import re
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import deque
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version as version_of
from types import TracebackType
from typing import TYPE_CHECKING, Any

import cloudpickle
from loky import BrokenProcessPool, ProcessPoolExecutor

from handful.errors import EvaluationFailed, HandfulError, InvalidProblem, MissingExtra, NoWorkers

if TYPE_CHECKING:
    from handful.questions import Question

VERSION = version_of("handful")
TRIES = 3  # for a question that ends its worker process
BATCH_S = 0.01  # what a process gets at once is worth about that long
CLUSTER_BATCH_S = 0.1  # a task costs a scheduler some milliseconds
RETRIES = 1  # of a task, by Dask itself
LOST = 10  # how often a batch may get lost on a cluster
LOOK_EVERY_S = 2.0  # whether any worker of a cluster is left
SAY_AFTER_S = 30.0  # that none is left
GIVE_UP_AFTER_S = 120.0  # if workers died of what they were at: questions without a worker wait no longer
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
# Loky starts a process anew that has grown by 300 MB. To load a model with the first question is no leak.
ENVIRONMENT = {**dict.fromkeys(ONE_THREAD, "1"), "LOKY_MAX_MEMORY_LEAK_SIZE": "1e18"}

_Reply = tuple[bool, Any, float]
"""Whether there is an answer; the answer, or what the oracle raised; how many seconds that took."""


def count_of(n_jobs: int) -> int:
    """How many processes `n_jobs` means: −1 is one for each core, −2 one fewer."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise InvalidProblem(f"n_jobs must be a number of processes, or −1 for one per core, got {n_jobs!r}")
    if n_jobs > 0:
        return n_jobs
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores + 1 + n_jobs)


# What travels -------------------------------------------------------------------------------------------------------


class Luggage:
    """An oracle and the items, which unpack themselves wherever they arrive, and travel on as they came."""

    def __init__(self, oracle: Any, items: tuple[Any, ...], content: bytes) -> None:
        self.oracle = oracle
        self.items = items
        self._content = content

    def __reduce__(self) -> tuple[Any, ...]:
        return unpacked, (self._content,)

    def answers(self, questions: bytes, place: str) -> list[_Reply]:
        """Ask the oracle questions whose items are positions, one after the other."""
        return [self._answer(question, place) for question in pickle.loads(questions)]

    def _answer(self, question: Question, place: str) -> _Reply:
        began = time.monotonic()
        try:
            answer = self.oracle(_mapped(question, self.items.__getitem__))
            if type(answer) not in (float, bool, int):  # which travel for sure
                pickle.loads(cloudpickle.dumps(answer))
            return True, answer, time.monotonic() - began
        except Exception as error:
            error.add_note(f"{place}:\n" + "".join(traceback.format_exception(error)))
            return False, _travelling(error), time.monotonic() - began


def packed(oracle: Any, items: tuple[Any, ...]) -> bytes:
    """Pack them, or say why they cannot travel."""
    try:
        return pickle.dumps((sys.path, cloudpickle.dumps((oracle, items))))
    except Exception as error:
        raise InvalidProblem(
            f"the oracle or the items cannot be sent to another process ({type(error).__name__}: {error}): give "
            "ones that can be pickled, and open files and connections within the oracle"
        ) from error


def unpacked(content: bytes) -> Luggage:
    """Unpack them in another process."""
    path, inner = pickle.loads(content)
    sys.path[:] = [*sys.path, *(folder for folder in path if folder not in sys.path)]
    oracle, items = pickle.loads(inner)
    return Luggage(oracle, items, content)


class Positions:
    """Names the items of questions by their positions, for whoever has the items."""

    def __init__(self, items: tuple[Any, ...]) -> None:
        self._items = items  # they must live on: they are known by their addresses
        self._positions = {id(item): position for position, item in enumerate(items)}

    def packed(self, questions: Sequence[Question]) -> bytes:
        """The questions, with positions as their items."""
        return pickle.dumps([_mapped(question, self._position) for question in questions])

    def _position(self, item: Any) -> int:
        return self._positions[id(item)]


def _mapped(question: Question, what: Any) -> Question:
    rival = None if question.rival is None else what(question.rival)
    return replace(
        question,
        item=what(question.item),
        rival=rival,
        chosen=tuple(map(what, question.chosen)),
        more=tuple(map(what, question.more)),
    )


def _travelling(error: BaseException) -> BaseException:
    """An error that can be pickled."""
    try:
        pickle.loads(cloudpickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


class _Pace:
    """How many questions make a batch worth its task, while every worker gets some."""

    def __init__(self, worth: float) -> None:
        self._worth = worth
        self._seconds = worth  # what an answer takes, about

    def note(self, replies: Sequence[_Reply]) -> None:
        """Learn from these how long an answer takes."""
        took = sum(reply[2] for reply in replies) / len(replies)
        self._seconds += 0.3 * (max(took, 1e-6) - self._seconds)

    def size(self, waiting: int, workers: int) -> int:
        """Of how many questions the next batch is."""
        fair = -(-waiting // (2 * max(1, workers)))
        return max(1, min(fair, int(self._worth / self._seconds)))


def _poison(question: Question, how: str) -> EvaluationFailed:
    """The error for a question that ends whatever works on it."""
    return EvaluationFailed(
        f"{_named(question)} ended {how}: call the oracle with seed {question.seed} to see why; all other answers are "
        "kept, and run(oracle) goes on once it is mended"
    )


def _named(question: Question) -> str:
    """A question as an error message names it."""
    about = f"{question.item}" if question.rival is None else f"{question.item} or {question.rival}"
    return f"question {question.id}, about {about} with {len(question.chosen)} chosen before it,"


# Processes of this machine ------------------------------------------------------------------------------------------

_here: Luggage | Exception | None = None  # in a worker process: what it was started with


def _start(content: bytes, parent: int) -> None:
    """Begin a worker process: it does not outlive its parent, leaves Ctrl-C to it, and prints to standard error."""
    global _here
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)
    try:
        _here = unpacked(content)
    except Exception as error:
        _here = error


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def _check() -> None:
    """In a worker process: raise what it was that could not be unpacked."""
    if isinstance(_here, Exception):
        raise _travelling(_here)


def _answer_here(questions: bytes) -> list[_Reply]:
    """In a worker process: answer the questions of a batch."""
    assert isinstance(_here, Luggage)
    return _here.answers(questions, "in a worker process")


@dataclass(eq=False)
class _Errand:
    """A question on its way to an answer."""

    question: Question
    future: Future[object]
    deaths: int = 0  # of workers that were at it, or at its batch
    alone: bool = False  # whether it travels in no batch any more


class Processes:
    """Answers questions in `jobs` processes; `submit` gives a future.

    Each process is an executor of its own. So one can be ended for a question that takes too long, and one that dies
    leaves only the questions it had in doubt: these are asked again, each alone. The third death at one question names
    it.
    """

    in_flight = "processes"

    def __init__(self, oracle: Any, items: tuple[Any, ...], jobs: int, timeout: float | None = None) -> None:
        self.workers = jobs
        self._timeout = timeout
        self._content = packed(oracle, items)
        self._positions = Positions(items)
        self._pace = _Pace(BATCH_S if timeout is None else min(BATCH_S, timeout / 4))
        self._open: deque[_Errand] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._running: set[ProcessPoolExecutor] = set()
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(jobs)]
        for thread in self._threads:
            thread.start()

    def submit(self, question: Question) -> Future[object]:
        """A future of the answer to this question."""
        errand = _Errand(question, Future())
        with self._changed:
            self._open.append(errand)
            self._changed.notify()
        return errand.future

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            running = list(self._running)
        for worker in running:
            worker.shutdown(kill_workers=True)
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        """Hand batches to one worker process until the pool closes, and start another one when it dies."""
        worker: ProcessPoolExecutor | None = None
        while batch := self._next():
            try:
                worker = worker or self._started()
                alive = self._answer(worker, batch)
            except Exception as error:  # whatever it is: whoever waits for an answer must hear of it
                failure = error
                if not isinstance(error, HandfulError):
                    failure = EvaluationFailed(f"a worker process cannot be used ({type(error).__name__}: {error})")
                    failure.__cause__ = error
                for errand in batch:
                    _fail(errand, failure)
                alive = False
            if not alive and worker is not None:
                self._end(worker)
                worker = None

    def _next(self) -> list[_Errand]:
        """What to send to a worker next; nothing when the pool closes."""
        with self._changed:
            while not self._open and not self._closed:
                self._changed.wait()
            if self._closed:
                return []
            batch = [self._open.popleft()]
            size = 1 if batch[0].alone else self._pace.size(len(self._open) + 1, self.workers)
            while len(batch) < size and self._open and not self._open[0].alone:
                batch.append(self._open.popleft())
            return batch

    def _started(self) -> ProcessPoolExecutor:
        """A new worker, at the third try at the latest: a process may be killed before it begins."""
        for tries_left in range(TRIES)[::-1]:
            with self._changed:
                worker = ProcessPoolExecutor(
                    1,
                    initializer=_start,
                    initargs=(self._content, os.getpid()),
                    env={name: value for name, value in ENVIRONMENT.items() if name not in os.environ},
                )
                self._running.add(worker)
                if self._closed:
                    raise EvaluationFailed("the run is over")
            try:
                worker.submit(_check).result()
                return worker
            except BrokenProcessPool as error:
                self._end(worker)
                if not tries_left:
                    raise EvaluationFailed(
                        f"a worker process ended before it began ({_exit_of(error)}); see its messages above"
                    ) from error
            except Exception as error:
                self._end(worker)
                raise InvalidProblem(
                    f"the oracle or the items cannot be opened in another process ({type(error).__name__}: {error})"
                ) from error
        raise AssertionError("it is started or has failed")

    def _end(self, worker: ProcessPoolExecutor) -> None:
        with self._changed:
            self._running.discard(worker)
            closed = self._closed
        if not closed:  # else whoever closes the pool does
            worker.shutdown(kill_workers=True)

    def _answer(self, worker: ProcessPoolExecutor, batch: list[_Errand]) -> bool:
        """Have a batch answered; False if the worker is gone."""
        questions = self._positions.packed([errand.question for errand in batch])
        try:
            replies = worker.submit(_answer_here, questions).result(self._timeout)
        except TimeoutError:
            self._again(batch, late=True)
            return False
        except BrokenProcessPool as error:
            for errand in batch:
                errand.deaths += 1
            self._again(batch, how=_exit_of(error))
            return False
        self._pace.note(replies)
        for errand, (fine, answer, _) in zip(batch, replies, strict=True):
            if fine:
                with suppress(InvalidStateError):  # nobody waits any more, after a run that failed elsewhere
                    errand.future.set_result(answer)
            else:
                _fail(errand, answer)
        return True

    def _again(self, batch: list[_Errand], *, late: bool = False, how: str = "") -> None:
        """The worker is gone: give up on the question if it was sent alone and that was enough, else ask again."""
        first = batch[0]
        if len(batch) == 1 and late:
            took = f"{_named(first.question)} took longer than timeout={self._timeout:g} seconds"
            _fail(first, TimeoutError(took))
        elif len(batch) == 1 and first.deaths == TRIES:
            _fail(first, _poison(first.question, f"its worker process {TRIES} times ({how})"))
        else:
            for errand in batch:
                errand.alone = True
            with self._changed:
                self._open.extendleft(reversed(batch))
                self._changed.notify_all()


def _fail(errand: _Errand, error: BaseException) -> None:
    with suppress(InvalidStateError):
        errand.future.set_exception(error)


def _exit_of(error: BrokenProcessPool) -> str:
    """With which exit code or signal a process ended, as far as loky says it."""
    found = re.search(r"(\w+)\((-?\d+)\)", str(error))
    if found is None:
        return "for reasons unknown"
    return f"exit code {found[2]}" if found[1] == "EXIT" else f"{found[1]}, signal {found[2].lstrip('-')}"


# A Dask cluster -----------------------------------------------------------------------------------------------------


def open_there(content: bytes) -> Luggage:
    """On a worker of a cluster: unpack the oracle and the items, for all tasks to come."""
    try:
        return unpacked(content)
    except Exception as error:
        raise InvalidProblem(
            f"the oracle or the items cannot be opened on a worker of the cluster ({type(error).__name__}: {error}): "
            "install what they import on every worker, or send your own files there with client.upload_file"
        ) from error


def answer_there(luggage: Luggage, questions: bytes, version: str) -> list[_Reply]:
    """On a worker of a cluster: answer the questions of a batch."""
    check_version(version)
    return luggage.answers(questions, "on a worker of the cluster")


def check_version(version: str) -> str:
    """On a worker of a cluster: raise unless it has the version that asks."""
    found = version_of("handful")
    if found != version:
        raise InvalidProblem(
            f"a worker of the cluster has handful {found}, and {version} asks: install the same version"
        )
    return version


def deaths_of(keys: list[str], dask_scheduler: Any = None) -> dict[str, int]:
    """On the scheduler: how many workers died, and were not just closed, with each of these tasks on them."""
    tasks = dask_scheduler.tasks
    return {key: tasks[key].suspicious for key in keys if key in tasks and tasks[key].suspicious}


@dataclass(eq=False)
class _Batch:
    """Questions that travel together."""

    passengers: list[_Passenger]
    alone: bool  # nothing else was on the cluster
    future: Any = None
    replies: list[_Reply] | None = None


class _Passenger:
    """A question that travels in a batch; in none until it is sent."""

    def __init__(self, cluster: Cluster, question: Question) -> None:
        self._cluster = cluster
        self.question = question
        self.batch: _Batch | None = None

    def result(self) -> object:
        fine, answer, _ = self._cluster.reply(self)
        if fine:
            return answer
        raise answer

    def done(self) -> bool:
        batch = self.batch
        return batch is not None and (batch.replies is not None or batch.future.status == "finished")

    def cancel(self) -> bool:
        if self.batch is not None and self.batch.replies is None:
            self.batch.future.cancel()
        return True


class Cluster:
    """Answers questions on the workers of a Dask cluster: a client, or the address of a scheduler.

    Oracle and items are the result of a task, which the workers pass on to each other: what is scattered would be lost
    with its last holder, a task is done again. Answers are taken in the order of the questions, so nothing depends on
    which worker was quick, died or joined late.
    """

    in_flight = "cluster"

    def __init__(self, oracle: Any, items: tuple[Any, ...], dask: Any) -> None:
        try:
            import distributed
        except ModuleNotFoundError:
            raise MissingExtra("a Dask cluster", "dask") from None
        self._killed = distributed.scheduler.KilledWorker
        self._own = not isinstance(dask, distributed.Client)
        self._content = packed(oracle, items)
        self._positions = Positions(items)
        self._buffer: list[_Passenger] = []
        self._sent: list[_Batch] = []
        self._pace = _Pace(CLUSTER_BATCH_S)
        self._deserted = False  # whether it was said that no worker is left
        self._blamed: list[Question] = []  # one of them ended workers before they were sent one at a time
        self._alone = 0  # how many of the next questions are sent one at a time
        self._client = _client(distributed, dask) if self._own else dask

    def __enter__(self) -> Cluster:
        try:
            self._check_versions()
            self._send_luggage()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    @property
    def workers(self) -> int:
        """The threads of all workers that are there now."""
        return sum(self._client.nthreads().values())

    def submit(self, question: Question) -> _Passenger:
        """Take a question, which travels once a batch is full or its answer is wanted; gives what to wait for."""
        passenger = _Passenger(self, question)
        self._buffer.append(passenger)
        if not self._alone and len(self._buffer) >= self._batch_size(len(self._buffer)):
            self._flush()
        return passenger

    def reply(self, passenger: _Passenger) -> _Reply:
        """Wait for the reply to one question."""
        if passenger.batch is None:
            if self._alone > 0:
                self._buffer.remove(passenger)
                self._send([passenger], alone=True)
                self._alone -= 1
            else:
                self._flush()
        lost = 0
        while True:
            batch = passenger.batch
            assert batch is not None
            if batch.replies is not None:
                return batch.replies[batch.passengers.index(passenger)]
            if self._buffer and not self._alone and not batch.future.done() and len(self._sent) < 2 * self.workers:
                self._flush()
            try:
                batch.replies = self._arrived(batch)
            except self._killed as error:
                if batch.alone:
                    many = error.allowed_failures + 1
                    ended = "the worker it was sent to" if many == 1 else f"all {many} workers it was sent to"
                    raise _poison(passenger.question, ended) from None
                self._one_by_one(passenger)
            except CancelledError as error:  # the scheduler has forgotten it
                lost += 1
                if lost > LOST:
                    ended = f"in nothing: it got lost on the cluster {lost} times"
                    raise _poison(passenger.question, ended) from error
                self._sent.remove(batch)
                self._send_luggage()
                self._send(batch.passengers, alone=batch.alone)
            else:
                self._sent.remove(batch)
                answered = {each.question.id for each in batch.passengers}
                self._blamed = [question for question in self._blamed if question.id not in answered]
                self._pace.note(batch.replies)

    def _arrived(self, batch: _Batch) -> list[_Reply]:
        """The replies to a batch, once they are there."""
        deserted: float | None = None  # since when no worker is left
        while True:
            try:
                replies: list[_Reply] = batch.future.result(timeout=LOOK_EVERY_S)
            except TimeoutError:
                self._known_workers = self.workers
                if batch.future.done() or self._known_workers:
                    deserted = None
                    continue
                deserted = deserted or time.monotonic()
                self._without_workers(time.monotonic() - deserted)
            else:
                batch.future.release()  # else it would be worked out again when the worker that has it dies
                return replies

    def _without_workers(self, seconds: float) -> None:
        """Warn, once, that no worker is left; if workers died of their questions, name these after two minutes."""
        if seconds >= SAY_AFTER_S and not self._deserted:
            self._deserted = True
            warnings.warn(
                "no worker is left on the cluster: the run goes on when one joins, and Ctrl-C keeps what was answered",
                NoWorkers,
                stacklevel=3,
            )
        if seconds >= GIVE_UP_AFTER_S and (suspects := self._suspects()):
            ids = ", ".join(question.id for question in suspects[1:4]) + (", …" if len(suspects) > 4 else "")
            also = f" (or one of {len(suspects) - 1} that were sent with it: {ids})" if len(suspects) > 1 else ""
            raise _poison(suspects[0], f"all workers that were left{also}, and none joined for {seconds:.0f} seconds")

    def _suspects(self) -> list[Question]:
        """The questions on which the most workers died, as far as they were not answered since."""
        deaths = self._client.run_on_scheduler(deaths_of, [batch.future.key for batch in self._sent])
        most = max(deaths.values(), default=0)
        blamed = [batch for batch in self._sent if most and deaths.get(batch.future.key) == most]
        return [each.question for batch in blamed for each in batch.passengers] or self._blamed

    def _batch_size(self, unsent: int) -> int:
        return self._pace.size(unsent + sum(len(batch.passengers) for batch in self._sent), self._known_workers)

    def _flush(self) -> None:
        buffer, self._buffer = self._buffer, []
        while buffer:
            size = self._batch_size(len(buffer))
            self._send(buffer[:size])
            buffer = buffer[size:]

    def _one_by_one(self, first: _Passenger) -> None:
        """Workers died, and Dask blames all that was on them: take everything back, and send one question at a time."""
        self._blamed = self._suspects()
        with suppress(TimeoutError, CancelledError, self._killed):  # lost with their worker
            for batch in self._sent:
                if batch.future.status == "finished":  # left there, it would be lost and blamed with the next worker
                    batch.replies = batch.future.result(timeout=LOOK_EVERY_S)
        back = [each for batch in self._sent if batch.replies is None for each in batch.passengers]
        for batch in self._sent:
            batch.future.cancel()
        self._sent = []
        for each in back:
            each.batch = None
        self._buffer = [each for each in back if each is not first] + self._buffer
        self._alone = len(self._buffer)
        self._send([first], alone=True)

    def _send(self, passengers: list[_Passenger], *, alone: bool = False) -> None:
        batch = _Batch(passengers, alone or self._alone > 0)
        questions = [each.question for each in passengers]
        batch.future = self._client.submit(
            answer_there,
            self._luggage,
            self._positions.packed(questions),
            VERSION,
            pure=False,
            retries=0 if batch.alone else RETRIES,  # else Dask would try a poison question that much longer
            key=f"handful-{questions[0].id}-{time.monotonic_ns()}",
        )
        for each in passengers:
            each.batch = batch
        self._sent.append(batch)

    def _send_luggage(self) -> None:
        self._known_workers = self.workers
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that it is large: it is sent once
            self._luggage = self._client.submit(open_there, self._content, pure=False)

    def _check_versions(self) -> None:
        for worker, found in self._client.run(check_version, VERSION, on_error="return").items():
            if isinstance(found, BaseException):
                raise InvalidProblem(
                    f"worker {worker} of the cluster cannot run handful {VERSION} ({found}): install the "
                    "same version there"
                )

    def _close(self) -> None:
        for batch in self._sent:
            if batch.replies is None:
                batch.future.cancel()
        self._sent = []
        if self._own:
            self._client.close()


def _client(distributed: Any, address: Any) -> Any:
    address = getattr(address, "scheduler_address", address)
    if not isinstance(address, str):
        raise InvalidProblem(
            f"dask= must be a distributed.Client or an address such as tcp://10.0.0.5:8786, got {address!r}"
        )
    try:
        return distributed.Client(address)
    except (OSError, ValueError) as error:
        raise InvalidProblem(
            f"no Dask scheduler answers at {address} ({error}): start one, or mend the address"
        ) from error

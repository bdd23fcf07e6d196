"""A Dask cluster as the place where an oracle runs.

Oracle and items are sent once, as a task whose result the workers pass on to each other: what is scattered would be
lost with its last holder, a task is done again. Questions travel in chunks worth a tenth of a second, for a task costs
the scheduler some milliseconds. Answers are taken in the order of the questions, so nothing depends on which worker was
quick, died or joined late.
"""

from __future__ import annotations

import hashlib
import time
import traceback
import warnings
from collections import OrderedDict
from concurrent.futures import CancelledError
from contextlib import suppress
from importlib.metadata import version as version_of
from types import TracebackType
from typing import Any

from handful.errors import InvalidProblem, MissingExtra, NoWorkers
from handful.study.parcels import Parcel, QuestionsOut, travelling, unpacked
from handful.study.processes import poison
from handful.study.questions import Question
from handful.study.setup import IN_FLIGHT
from handful.study.ways import Oracle, Pending

VERSION = version_of("handful")
CHUNK_S = 0.1
RETRIES = 1  # of a task, by Dask itself
LOST = 10  # how often a chunk may get lost with the worker that had the oracle
LOOK_EVERY_S = 2.0  # whether any worker is left
SAY_AFTER_S = 30.0  # that none is left
GIVE_UP_AFTER_S = 120.0  # if workers died of what they were at: questions without a worker wait no longer
KEPT = 4  # oracles that a worker keeps open

_Reply = tuple[bool, Any, float]
_opened: OrderedDict[str, tuple[Oracle, tuple[Any, ...]]] = OrderedDict()


def answer_chunk(parcel: Parcel, digest: str, content: bytes, version: str) -> list[_Reply]:
    """On a worker: answer the questions of a chunk, one after the other."""
    check_version(version)
    if digest not in _opened:
        _opened[digest] = _open(parcel)
        while len(_opened) > KEPT:
            _opened.popitem(last=False)
    oracle, items = _opened[digest]
    outcomes: list[_Reply] = []
    for question in unpacked(content, items):
        began = time.monotonic()
        try:
            outcomes.append((True, oracle(question), time.monotonic() - began))
        except Exception as error:
            error.add_note("on a worker of the cluster:\n" + "".join(traceback.format_exception(error)))
            outcomes.append((False, travelling(error), time.monotonic() - began))
    return outcomes


def _open(parcel: Parcel) -> tuple[Oracle, tuple[Any, ...]]:
    try:
        return parcel.opened()
    except Exception as error:
        raise InvalidProblem(
            f"the oracle or the items cannot be opened on a worker of the cluster ({type(error).__name__}: {error}): "
            "install what they import on every worker, or send your own files there with client.upload_file"
        ) from error


def keep(parcel: Parcel) -> Parcel:
    """On a worker: the oracle and the items, for the tasks to come."""
    return parcel


def check_version(version: str) -> str:
    """On a worker: raise unless it has the version that asks."""
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


class _Chunk:
    """Questions that travel together."""

    def __init__(self, errands: list[_Passenger], alone: bool) -> None:
        self.errands = errands
        self.alone = alone  # nothing else was on the cluster
        self.future: Any = None
        self.outcomes: list[_Reply] | None = None


class _Passenger:
    """A question that travels in a chunk; in none until it is sent."""

    def __init__(self, cluster: DaskCluster, question: Question) -> None:
        self._cluster = cluster
        self.question = question
        self.chunk: _Chunk | None = None

    def result(self) -> object:
        fine, answer, _ = self._cluster.outcome(self)
        if fine:
            return answer
        raise answer

    def done(self) -> bool:
        chunk = self.chunk
        return chunk is not None and (chunk.outcomes is not None or chunk.future.status == "finished")

    def cancel(self) -> bool:
        if self.chunk is not None and self.chunk.outcomes is None:
            self.chunk.future.cancel()
        return True


class DaskCluster:
    """Answers questions on the workers of a Dask cluster: a client, or the address of a scheduler."""

    in_flight = IN_FLIGHT["cluster"]

    def __init__(self, oracle: Oracle, items: tuple[Any, ...], dask: Any) -> None:
        try:
            import distributed
        except ModuleNotFoundError:
            raise MissingExtra("a Dask cluster", "dask") from None
        self._distributed = distributed
        self._own = not isinstance(dask, distributed.Client)
        self._parcel = Parcel.of(oracle, items)
        self._digest = hashlib.sha256(self._parcel.content).hexdigest()
        self._out = QuestionsOut(items)
        self._buffer: list[_Passenger] = []
        self._sent: list[_Chunk] = []
        self._seconds = CHUNK_S
        self._deserted = False  # whether it was said that no worker is left
        self._blamed: list[Question] = []  # one of them ended workers before they were sent one at a time
        self._alone = 0  # how many of the next questions are sent one at a time
        self._client = _client(distributed, dask) if self._own else dask

    def __enter__(self) -> DaskCluster:
        try:
            self._check_versions()
            self._send_parcel()
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

    def submit(self, question: Question) -> Pending:
        """Take a question, which travels once a chunk is full or its answer is wanted; gives what to wait for."""
        errand = _Passenger(self, question)
        self._buffer.append(errand)
        if not self._alone and len(self._buffer) >= self._fair_chunk():
            self._flush()
        return errand

    def outcome(self, errand: _Passenger) -> _Reply:
        """Wait for the answer to one question."""
        if errand.chunk is None:
            if self._alone > 0:
                self._buffer.remove(errand)
                self._send([errand], alone=True)
                self._alone -= 1
            else:
                self._flush()
        lost = 0
        while True:
            chunk = errand.chunk
            assert chunk is not None
            if chunk.outcomes is not None:
                return chunk.outcomes[chunk.errands.index(errand)]
            if self._buffer and not self._alone and not chunk.future.done() and len(self._sent) < 2 * self.workers:
                self._flush()
            try:
                chunk.outcomes = self._arrived(chunk)
            except self._distributed.scheduler.KilledWorker as error:
                if chunk.alone:
                    many = error.allowed_failures + 1
                    ended = "the worker it was sent to" if many == 1 else f"all {many} workers it was sent to"
                    raise poison(errand.question, ended) from None
                self._one_by_one(errand)
            except CancelledError as error:  # the scheduler has forgotten it
                lost += 1
                if lost > LOST:
                    raise poison(errand.question, f"in nothing: it got lost on the cluster {lost} times") from error
                self._forget(chunk)
                self._send_parcel()
                self._send(chunk.errands, alone=chunk.alone)
            else:
                self._forget(chunk)
                answered = {errand.question.id for errand in chunk.errands}
                self._blamed = [question for question in self._blamed if question.id not in answered]
                took = sum(outcome[2] for outcome in chunk.outcomes or ()) / max(len(chunk.errands), 1)
                self._seconds += 0.3 * (max(took, 1e-6) - self._seconds)

    def _arrived(self, chunk: _Chunk) -> list[_Reply]:
        """The outcomes of a chunk, once they are there."""
        deserted: float | None = None  # since when no worker is left
        while True:
            try:
                outcomes: list[_Reply] = chunk.future.result(timeout=LOOK_EVERY_S)
            except TimeoutError:
                self._known_workers = self.workers
                if chunk.future.done() or self._known_workers:
                    deserted = None
                    continue
                deserted = deserted or time.monotonic()
                self._without_workers(time.monotonic() - deserted)
            else:
                chunk.future.release()  # else it would be worked out again when the worker that has it dies
                return outcomes

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
            raise poison(suspects[0], f"all workers that were left{also}, and none joined for {seconds:.0f} seconds")

    def _suspects(self) -> list[Question]:
        """The questions on which the most workers died, as far as they were not answered since."""
        deaths = self._client.run_on_scheduler(deaths_of, [chunk.future.key for chunk in self._sent])
        most = max(deaths.values(), default=0)
        blamed = [chunk for chunk in self._sent if most and deaths.get(chunk.future.key) == most]
        return [errand.question for chunk in blamed for errand in chunk.errands] or self._blamed

    def _forget(self, chunk: _Chunk) -> None:
        self._sent = [other for other in self._sent if other is not chunk]

    def _fair_chunk(self) -> int:
        """How many questions make a chunk worth its task, while every worker gets some."""
        open_ = len(self._buffer) + sum(len(chunk.errands) for chunk in self._sent)
        fair = -(-open_ // (2 * max(1, self._known_workers)))
        return max(1, min(fair, int(-(-CHUNK_S // self._seconds))))

    def _flush(self) -> None:
        buffer, self._buffer = self._buffer, []
        while buffer:
            size = self._fair_chunk()
            self._send(buffer[:size])
            buffer = buffer[size:]

    def _one_by_one(self, first: _Passenger) -> None:
        """Workers died, and Dask blames all that was on them: take everything back, and send one question at a time."""
        self._blamed = self._suspects()
        with suppress(TimeoutError, CancelledError, self._distributed.scheduler.KilledWorker):  # lost with their worker
            for chunk in self._sent:
                if chunk.future.status == "finished":  # left there, it would be lost and blamed with the next worker
                    chunk.outcomes = chunk.future.result(timeout=LOOK_EVERY_S)
        open_ = [chunk for chunk in self._sent if chunk.outcomes is None]
        for chunk in self._sent:
            chunk.future.cancel()
        self._sent = []
        back = [errand for chunk in open_ for errand in chunk.errands]
        for errand in back:
            errand.chunk = None
        self._buffer = [errand for errand in back if errand is not first] + self._buffer
        self._alone = len(self._buffer)
        self._send([first], alone=True)

    def _send(self, errands: list[_Passenger], *, alone: bool = False) -> None:
        chunk = _Chunk(errands, alone or self._alone > 0)
        content = self._out.packed([errand.question for errand in errands])
        chunk.future = self._client.submit(
            answer_chunk,
            self._kept,
            self._digest,
            content,
            VERSION,
            pure=False,
            retries=0 if chunk.alone else RETRIES,  # else Dask would try a poison question that much longer
            key=f"handful-{errands[0].question.id}-{time.monotonic_ns()}",
        )
        for errand in errands:
            errand.chunk = chunk
        self._sent.append(chunk)

    def _send_parcel(self) -> None:
        self._known_workers = self.workers
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that it is large: it is sent once
            self._kept = self._client.submit(keep, self._parcel, pure=False)

    def _check_versions(self) -> None:
        for worker, found in self._client.run(check_version, VERSION, on_error="return").items():
            if isinstance(found, BaseException):
                raise InvalidProblem(
                    f"worker {worker} of the cluster cannot run handful {VERSION} ({found}): install the "
                    "same version there"
                )

    def _close(self) -> None:
        for chunk in self._sent:
            if chunk.outcomes is None:
                chunk.future.cancel()
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

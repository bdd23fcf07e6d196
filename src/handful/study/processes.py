"""A pool of worker processes that outlives its workers.

Each worker has a thread here that hands it questions and takes its answers. A worker that dies costs the question it
was at one try; the others go to whoever is free. So nothing that was answered is asked again, and a question that ends
its worker three times is named.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections import deque
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from types import TracebackType
from typing import Any

from handful.errors import EvaluationFailed, HandfulError, InvalidProblem
from handful.study.parcels import Parcel, QuestionsOut
from handful.study.process_worker import COMMAND, receive, send
from handful.study.questions import Question
from handful.study.setup import IN_FLIGHT
from handful.study.ways import Oracle

TRIES = 3  # for a question that ends its worker
CHUNK_S = 0.01  # what a worker gets at once is worth about that long
LOOK_EVERY_S = 0.02
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def count_of(n_jobs: int) -> int:
    """How many processes `n_jobs` means: −1 is one for each core, −2 one fewer."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise InvalidProblem(f"n_jobs must be a number of processes, or −1 for one per core, got {n_jobs!r}")
    if n_jobs > 0:
        return n_jobs
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores + 1 + n_jobs)


class _Errand:
    """A question on its way to an answer."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.future: Future[object] = Future()
        self.deaths = 0

    def answered(self, answer: object) -> None:
        """Give the answer to whoever waits; nobody may, after a run that failed elsewhere."""
        with suppress(InvalidStateError):
            self.future.set_result(answer)

    def failed(self, error: BaseException) -> None:
        """Say why there is no answer."""
        with suppress(InvalidStateError):
            self.future.set_exception(error)


class _Worker:
    """One process, from its start to its end."""

    def __init__(self, parcel: Parcel) -> None:
        self.at: _Errand | None = None  # what it is at, and until when it may be
        self.deadline: float | None = None
        self.late: _Errand | None = None  # for whose sake it was killed
        environment = {**dict.fromkeys(ONE_THREAD, "1"), **os.environ}
        self.process = subprocess.Popen(
            [sys.executable, "-c", COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C is for us: we end it
        )
        self._parcel = parcel

    def begin(self) -> None:
        """Send the parcel and wait until it is opened."""
        reply = self.exchange(self._parcel.content)
        if reply is None:
            raise EvaluationFailed("a worker process ended before it began; see its messages above")
        fine, error, _ = reply
        if not fine:
            raise InvalidProblem(
                f"the oracle or the items cannot be opened in another process ({type(error).__name__}: {error})"
            ) from error

    def exchange(self, content: bytes | None) -> tuple[bool, Any, float] | None:
        """Send a frame, if any, and wait for the next reply; None if the process is gone."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            if content is not None:
                send(self.process.stdin, content)
            reply = receive(self.process.stdout)
        except (OSError, ValueError):
            return None
        if reply is None:
            return None
        opened: tuple[bool, Any, float] = pickle.loads(reply)
        return opened

    def end(self) -> str:
        """Kill the process; gives its exit code or signal in words."""
        self.process.kill()
        code = self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        return f"signal {-code}" if code < 0 else f"exit code {code}"


class ProcessPool:
    """Answers questions in `jobs` processes; `submit` gives a future."""

    in_flight = IN_FLIGHT["processes"]

    def __init__(self, oracle: Oracle, items: tuple[Any, ...], jobs: int, timeout: float | None = None) -> None:
        self.workers = jobs
        self._timeout = timeout
        self._parcel = Parcel.of(oracle, items)
        self._out = QuestionsOut(items)
        self._open: deque[_Errand] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._over = threading.Event()
        self._seconds = CHUNK_S  # what an evaluation takes, about
        self._running: set[_Worker] = set()
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(jobs)]
        if timeout is not None:
            self._threads.append(threading.Thread(target=self._watch, args=(timeout,), daemon=True))
        for thread in self._threads:
            thread.start()

    def submit(self, question: Question) -> Future[object]:
        """A future of the answer to this question."""
        errand = _Errand(question)
        with self._changed:
            self._open.append(errand)
            self._changed.notify()
        return errand.future

    def __enter__(self) -> ProcessPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._closed = True
            self._over.set()
            for worker in self._running:
                worker.process.kill()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        """Hand chunks to one worker process until the pool closes, and start another one when it dies."""
        worker: _Worker | None = None
        while chunk := self._next():
            try:
                if worker is None:
                    worker = self._started()
                alive = self._answer(worker, chunk)
            except Exception as error:  # whatever it is: whoever waits for an answer must hear of it
                failure = error
                if not isinstance(error, HandfulError):
                    failure = EvaluationFailed(f"a worker process cannot be used ({type(error).__name__}: {error})")
                    failure.__cause__ = error
                for errand in chunk:
                    errand.failed(failure)
                alive = False
            if not alive and worker is not None:
                self._ended(worker)
                worker = None
        if worker is not None:
            self._ended(worker)

    def _next(self) -> list[_Errand]:
        """What to send to a worker next; nothing when the pool closes."""
        with self._changed:
            while not self._open and not self._closed:
                self._changed.wait()
            if self._closed:
                return []
            fair = -(-len(self._open) // (2 * self.workers))
            count = max(1, min(fair, int(CHUNK_S / self._seconds)))
            return [self._open.popleft() for _ in range(min(count, len(self._open)))]

    def _started(self) -> _Worker:
        """A new worker, at the third try at the latest: a process may be killed before it begins."""
        for _ in range(TRIES - 1):
            try:
                return self._begun()
            except EvaluationFailed:
                continue
        return self._begun()

    def _begun(self) -> _Worker:
        with self._changed:
            worker = _Worker(self._parcel)
            self._running.add(worker)
            if self._closed:
                worker.process.kill()
        try:
            worker.begin()
        except HandfulError:
            self._ended(worker)
            raise
        return worker

    def _ended(self, worker: _Worker) -> str:
        with self._changed:
            self._running.discard(worker)
        return worker.end()

    def _answer(self, worker: _Worker, chunk: list[_Errand]) -> bool:
        """Have a chunk answered; False if the worker is gone before its end."""
        content: bytes | None = self._out.packed([errand.question for errand in chunk])
        for n, errand in enumerate(chunk):
            self._set_clock(worker, errand)
            reply = worker.exchange(content)
            self._set_clock(worker, None)
            content = None
            if reply is None:
                self._again(worker, errand, chunk[n + 1 :])
                return False
            fine, answer, seconds = reply
            self._seconds += 0.1 * (max(seconds, 1e-6) - self._seconds)
            if fine:
                errand.answered(answer)
            else:
                errand.failed(answer)
        return True

    def _set_clock(self, worker: _Worker, errand: _Errand | None) -> None:
        """The worker begins with a question, or is done with one."""
        if self._timeout is not None:
            with self._changed:
                worker.at = errand
                worker.deadline = None if errand is None else time.monotonic() + self._timeout

    def _again(self, worker: _Worker, errand: _Errand, rest: list[_Errand]) -> None:
        """The worker is gone: blame the question it was at, and hand out the others again, first."""
        how = self._ended(worker)
        again = rest
        if worker.late is errand:
            errand.failed(TimeoutError(f"{named(errand.question)} took longer than timeout={self._timeout:g} seconds"))
        elif worker.late is not None:  # the one before it was late, and answered at the last moment
            again = [errand, *rest]
        elif errand.deaths + 1 == TRIES:
            errand.failed(poison(errand.question, f"its worker process {TRIES} times ({how})"))
        else:
            errand.deaths += 1
            again = [errand, *rest]
        with self._changed:
            self._open.extendleft(reversed(again))
            self._changed.notify_all()

    def _watch(self, timeout: float) -> None:
        """Kill workers that are at one question for too long."""
        while not self._over.wait(min(LOOK_EVERY_S, timeout / 4)):
            now = time.monotonic()
            with self._changed:
                for worker in self._running:
                    if worker.deadline is not None and worker.deadline < now:
                        worker.late, worker.deadline = worker.at, None
                        worker.process.kill()


def named(question: Question) -> str:
    """A question as an error message names it."""
    about = f"{question.item}" if question.rival is None else f"{question.item} or {question.rival}"
    return f"question {question.id}, about {about} with {len(question.chosen)} chosen before it,"


def poison(question: Question, how: str) -> EvaluationFailed:
    """The error for a question that ends whatever works on it."""
    return EvaluationFailed(
        f"{named(question)} ended {how}: call the oracle with seed {question.seed} to see why; all other answers are "
        "kept, and run(oracle) goes on once it is mended"
    )

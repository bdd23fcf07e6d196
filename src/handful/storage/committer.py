"""Many threads append, one commits: whatever is queued goes into one transaction.

A durable commit costs a flush of the disk however little it holds. Sixty-four threads that share commits store many
times more answers in a second than sixty-four that each make their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Condition, Lock, Thread, current_thread

from handful.errors import StorageError
from handful.storage.forks import belongs_to_this_process
from handful.storage.records import Record, check_follows


class Batch:
    """The records of one transaction, and the ticket of everyone who put some into it."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.done = False
        self._error: StorageError | None = None
        # Held until the batch is complete; then those who wait pass it on. An event wakes them at ten times the cost.
        self._completed = Lock()
        self._completed.acquire()
        self._calls: list[Callable[[], None]] = []

    def wait(self) -> None:
        if not self.done:
            with self._completed:
                pass
        if self._error is not None:
            # Each waiter raises its own: a shared exception would collect the tracebacks of all.
            raise type(self._error)(*self._error.args) from self._error

    def when_done(self, call: Callable[[], None]) -> None:
        """Call this once the records are stored, or will never be: from any thread, and perhaps twice."""
        self._calls.append(call)
        if self.done:
            call()

    def complete(self, error: StorageError | None = None) -> None:
        self._error = error
        self.records = []
        self.done = True
        self._completed.release()
        for call in self._calls:
            call()


class GroupCommitter:
    """A queue of records and the thread that stores them.

    When a commit fails, everyone who waits learns it, and nothing more is taken: the study's state in memory would
    otherwise run ahead of what is stored, and nobody would know.
    """

    def __init__(
        self, commit: Callable[[Sequence[Record]], None], release: Callable[[], None], next_seq: int, name: str
    ) -> None:
        self._commit = commit
        self._release = release
        self._next_seq = next_seq
        # A re-entrant lock: the garbage collector may close a forgotten journal from inside these very methods.
        self._changed = Condition()
        self._pending = Batch()
        self._latest = Batch()
        self._latest.complete()
        self._closing = False
        self._error: StorageError | None = None
        self._is_forked_copy = False
        self._thread = Thread(target=self._run, name=f"journal of {name}", daemon=True)
        belongs_to_this_process(self)
        self._thread.start()

    def append(self, records: Sequence[Record]) -> Batch:
        with self._changed:
            if self._error is not None:
                raise StorageError(
                    f"the journal takes no more records since one commit failed ({self._error}); "
                    "open the study again to go on from what is stored"
                ) from self._error
            if self._closing:
                raise StorageError("this journal is closed and takes no more records; open the study again")
            self._next_seq = check_follows(records, self._next_seq)
            if not records:
                return self._latest
            self._latest = self._pending
            self._latest.records.extend(records)
            self._changed.notify()
            return self._latest

    def flush(self) -> None:
        """Return once everything appended so far is durable."""
        self._latest.wait()

    def close(self) -> None:
        """Store what is queued, stop, release the lock. Raises if anything ever appended could not be stored."""
        if self._is_forked_copy:
            return
        with self._changed:
            closed_before, self._closing = self._closing, True
            self._changed.notify()
        if current_thread() is not self._thread:
            self._thread.join()
        if self._error is not None and not closed_before:
            raise type(self._error)(*self._error.args) from self._error

    def leave_to_parent(self) -> None:
        """In a forked child: take and wait for nothing, since the thread did not come along."""
        # Nor did other threads, which may hold the old condition and the old batches locked for ever.
        self._changed = Condition()
        self._is_forked_copy = True
        self._error = StorageError("this is a forked copy of the process that opened the journal")
        self._pending = self._latest = Batch()
        self._latest.complete(self._error)

    def _run(self) -> None:
        while (batch := self._take()) is not None:
            try:
                self._commit(batch.records)
            except Exception as error:
                self._stop(batch, error if isinstance(error, StorageError) else StorageError(repr(error)))
                return
            batch.complete()
        self._release()

    def _take(self) -> Batch | None:
        with self._changed:
            self._changed.wait_for(lambda: self._pending.records or self._closing)
            if not self._pending.records:
                return None
            batch, self._pending = self._pending, Batch()
            return batch

    def _stop(self, batch: Batch, error: StorageError) -> None:
        with self._changed:
            self._error = error
        try:
            # Before anyone learns of it, so that whoever then opens the study again finds it free.
            self._release()
        finally:
            batch.complete(error)
            self._pending.complete(error)

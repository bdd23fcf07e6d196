"""The study: ask and tell, in any order, from any thread; its journal is the only truth."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal, Self, overload

from handful import running
from handful.errors import StorageError, StudyFinished
from handful.explorers.registry import Explorer
from handful.problem import Feedback, PerItem
from handful.study import events
from handful.study.ask_tell import AskTell
from handful.study.doors import Door
from handful.study.items import Item, position_of, read_items
from handful.study.moderating import Moderating
from handful.study.opening import Clock, Exists, RecordReader, begun_or_stored, stored
from handful.study.preregistration import PREREGISTERED, Contents, record_of
from handful.study.questions import Question, Receipt
from handful.study.results import Result
from handful.study.rules import Rule
from handful.study.setup import make_setup
from handful.study.writer import Callback, Turn, Writer


class Study(Moderating[Item]):
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
        study._start(name, writer.fold.setup.ids if given is None else given, writer)
        study._read_only = read_only
        if not read_only and writer.fold.setup.is_current:
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
        if not self.fold.leases.held_by(worker):  # nobody has to wait to learn that
            return []
        with self._writer.lock:
            return [self._ask_tell.question(question) for question in self.fold.leases.held_by(worker)]

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
        self._switch(events.Paused(), self.fold.paused)

    def resume(self) -> None:
        """End a pause."""
        self._switch(events.Opened(), not self.fold.paused)

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
            if self.fold.registered is None:
                if self.finished is not None:
                    raise StudyFinished("this study is over: what it did cannot be announced any more")
                salt = token_hex(16)
                record = record_of(self.setup, self.name, salt, contents, words or {})
                self._writer.emit(events.Noted(PREREGISTERED, {"hash": record["hash"], "salt": salt}), now)
        return self.registration(contents, words)

    def registration(self, contents: Contents | None = None, words: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What a preregistration of the study would say now, with the salt that is in its journal."""
        salt = "" if self.fold.registered is None else self.fold.registered.salt
        return record_of(self.setup, self.name, salt, contents, words or {})

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Call `callback(event)` after each event, once it is durable; gives the function that ends it."""
        return self._writer.subscribe(callback)

    def close(self) -> None:
        """Let go of the storage, so that others may open the study; what it knows can still be looked at here."""
        self._closed = True
        self._writer.journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

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

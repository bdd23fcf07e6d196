"""Who counts in a study, by its rule and by hand."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager

from handful.storage import Ticket
from handful.study.ask_tell import check_worker
from handful.study.doors import Door
from handful.study.inspecting import Inspecting
from handful.study.items import Item
from handful.study.participation import Gate
from handful.study.standstill import Standstill
from handful.study.writer import AtOnce


class Moderating(Inspecting[Item]):
    """What an organizer, or whoever hosts a study, does about the people in it."""

    def _writing(self) -> AbstractContextManager[float]:
        raise NotImplementedError

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

    def exclude_all(self, workers: Iterable[str], reason: str | None = None) -> None:
        """Exclude all of these by hand, also who has not answered yet; `excluding` says what it would mean."""
        with self._writing() as now:
            self._ask_tell.participation.exclude(workers, reason, False, now)
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

    def at_once(self) -> AbstractContextManager[AtOnce | None]:
        """A block in which nothing is waited for; see `Writer.at_once`."""
        return self._writer.at_once()

    def confirm(self, ticket: Ticket) -> None:
        """Return once what was done at once is durable; raise StorageError if it could not be stored."""
        self._writer.wait(ticket)

    @property
    def standstill(self) -> Standstill:
        """Whether a cap on shares keeps everybody from going on."""
        return self._ask_tell.participation.standstill

    def let_in_by(self, gate: Gate | None) -> None:
        """Hand a question to a worker only where `gate` agrees; it is asked under the study's lock."""
        self._ask_tell.participation.gate = gate

"""Who is asked and who counts: the rule is applied to what stands in the journal, whenever something was added to it.

Everything here is called while the writer is locked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from handful.errors import InvalidAnswer, InvalidProblem
from handful.study import events
from handful.study.conduct import PRACTICE, RESERVED, WITHDREW
from handful.study.doors import Door
from handful.study.fold import Fold
from handful.study.rules import CHECKS, share_allowed
from handful.study.standstill import Standstill
from handful.study.writer import Writer

Gate = Callable[[Fold, str | None, float], str | None]
"""What keeps a worker from having one more question now, as whoever hosts the study sees it; None: nothing.

A name of `CAPS` stands for a cap on shares.
"""

FLOOR = 3
"""So many questions of a round anybody may have, however small the round is."""
CAPS = ("network", "person")


class Participation:
    """The rule of a study, and the caps on what one worker may have."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.gate: Gate | None = None
        self.standstill = Standstill()

    @property
    def _fold(self) -> Fold:
        return self._writer.fold

    def may_have_more(self, worker: str | None, now: float) -> bool:
        """Whether one more question may be handed to this worker."""
        fold = self._fold
        if fold.setup.rule is not None:
            if worker is None or not fold.conducts.may_answer(fold.workers.number_if_known(worker)):
                return False
            if not self._has_share_left(worker):
                self.standstill.kept_back("person", now)
                return False
        why = None if self.gate is None else self.gate(fold, worker, now)
        if why in CAPS:
            self.standstill.kept_back(why, now)
        elif why is None:
            self.standstill.went_on()
        return why is None

    def _has_share_left(self, worker: str) -> bool:
        """By the cap on a person's share: bound now, so that no answer has to be dropped for it."""
        fold = self._fold
        assert fold.setup.rule is not None
        number = fold.workers.number_if_known(worker)
        active = len(fold.shares.active) - fold.workers.how_many_excluded(fold.shares.active)
        share = share_allowed(fold.setup.rule.share, active)
        has = fold.shares.in_round[number] + len(fold.leases.held_by(worker))
        return has + 1 <= most_of_round(fold, share)

    def check_may_answer(self, worker: str | None) -> None:
        """Refuse an answer of somebody who was not admitted, or is out."""
        fold = self._fold
        if fold.setup.rule is None:
            return
        if worker is None:
            raise InvalidAnswer("this study has a rule of who counts: say which worker answers")
        if fold.workers.excludes(worker):
            raise InvalidAnswer(f"worker {worker} is excluded, and answers nothing any more")
        if not fold.conducts.may_answer(fold.workers.number_if_known(worker)):
            raise InvalidAnswer(f"worker {worker} is not admitted yet: nothing counts before that")

    def check_known(self, worker: str) -> None:
        """Refuse to exclude somebody of whom nothing is known: the name is probably misspelt."""
        fold = self._fold
        if not fold.workers.knows(worker) and worker not in fold.leases.holders():
            raise InvalidProblem(f"there is no worker {worker!r} in this study: see status().workers")

    def check(
        self, worker: str, check: str, right: bool, duration: int | None, revised: bool, undoable: bool, now: float
    ) -> None:
        """Note an answer to a question whose right answer is known, and what follows from it by the rule.

        While it may be undone nobody is excluded for it: `apply_rule` does so later.
        """
        if check not in (PRACTICE, *CHECKS):
            raise InvalidAnswer(f"a check is one of {', '.join((PRACTICE, *CHECKS))}, got {check!r}")
        if revised and (check == PRACTICE or not self._fold.conducts.of(self._number(worker)).checks):
            raise InvalidAnswer(f"worker {worker} has answered no check that could be changed")
        self._writer.emit(events.CheckAnswered(worker, check, bool(right), duration, revised), now)
        self.apply_rule(worker, now, undoable)

    def apply_rule(self, worker: str | None, now: float, undoable: bool = False) -> None:
        """Admit or exclude a worker, if what is known of them says so by the rule; if `undoable`, only admit."""
        fold = self._fold
        rule = fold.setup.rule
        if rule is None or worker is None or fold.workers.excludes(worker):
            return
        number = fold.workers.number_if_known(worker)
        conduct = fold.conducts.of(number)
        why = None if fold.workers.was_overruled(number) else conduct.failed(rule)
        if why is not None:
            if undoable:
                return
            self._writer.emit(events.Excluded(worker, why, True), now)
            return
        entry = rule.admission
        if entry is not None and not conduct.admitted and conduct.is_through(entry) and conduct.passes(entry):
            self._writer.emit(events.Admitted(worker), now)

    def _number(self, worker: str) -> int:
        return self._fold.workers.number_if_known(worker)

    def apply_to_all(self, now: float) -> None:
        """Apply the rule to everybody again: a process may have ended before it could."""
        for number in self._fold.conducts.numbers():
            self.apply_rule(self._fold.workers.name(number), now)

    def exclude(self, workers: Iterable[str], reason: str | None, by_rule: bool, now: float) -> None:
        """Count none of these workers' answers in the open round; by hand, not for a reason that is kept for others."""
        if reason in RESERVED and not by_rule:
            raise InvalidProblem(f"the reason {reason!r} is kept {RESERVED[reason]}: say in other words why")
        for worker in workers:
            if not self._fold.workers.excludes(worker):
                self._writer.emit(events.Excluded(worker, reason, by_rule), now)

    def leave(self, worker: str, now: float) -> None:
        """Somebody withdraws: their answers leave the open round, unless the rule says that answers are kept.

        That people may is settled before the start in every study, so it is by rule.
        """
        rule = self._fold.setup.rule
        self.check_known(worker)
        if rule is not None and rule.withdrawal == "keep":
            return
        if not self._fold.workers.has_withdrawn(worker):  # who was excluded before must not be restored after this
            self._writer.emit(events.Excluded(worker, WITHDREW, True), now)

    def change_door(self, door: Door, reason: str | None, now: float) -> None:
        """Let people come in another way from now on."""
        if self._fold.door is None:
            raise InvalidProblem("this study was begun without a door: nothing is known of how people come to it")
        if door != self._fold.door:
            self._writer.emit(events.DoorChanged(door.to_dict(), reason), now)


def most_of_round(fold: Fold, share: float) -> float:
    """How many answers of the open round somebody may give who may give this share of it.

    Of what the round may cost; where there is no budget, of what was asked in it so far.
    """
    limit = fold.exploration.limit
    of = limit if limit >= 0 else len(fold.questions) - fold.exploration.first
    return max(float(FLOOR), share * of) if share < 1 else float("inf")

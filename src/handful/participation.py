"""Whether a cap on shares of a round keeps everybody from going on, and which."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from handful import events
from handful.errors import InvalidAnswer, InvalidProblem
from handful.journal import Writer
from handful.questions import ANSWERED, LATE, PROVISIONAL
from handful.rules import CHECKS, Door, share_allowed
from handful.state import State
from handful.wording import counted
from handful.workers import PRACTICE, RESERVED, WITHDREW

if TYPE_CHECKING:
    from handful.state import State


LATELY_S = 60.0
PATIENCE_S = 120.0
"""For so long nobody could go on, before it is told."""


class Standstill:
    """Since when nobody has got a question, and when each cap last kept somebody from getting one. Not stored."""

    def __init__(self) -> None:
        self._kept_back: dict[str, float] = {}
        self._since: float | None = None  # when somebody was first kept back after the last who went on

    def kept_back(self, cap: str, now: float) -> None:
        """A cap kept somebody from getting a question."""
        self._kept_back[cap] = now
        if self._since is None:
            self._since = now

    def went_on(self) -> None:
        """Somebody may have a question."""
        self._since = None

    def cap(self, now: float) -> str | None:
        """The cap that has kept those who are here waiting for long, while nobody went on; None if there is none."""
        since = self._since  # another thread may change it at any moment, as it may what is copied below
        if since is None:
            return None
        if now - since < PATIENCE_S:
            return None
        return next((cap for cap, when in self._kept_back.copy().items() if when > now - LATELY_S), None)


_COSTS = (
    "By hand this is a choice of yours: the certificate will claim nothing, neither of what was proved until now nor "
    "of what comes."
)


@dataclass(frozen=True)
class Excluding:
    """What excluding these workers would mean. Who is excluded already is not among them."""

    workers: tuple[str, ...]
    answers: int  # that they gave in all
    leaving: int  # of those, how many count in the open round and would no more
    rounds: tuple[int, ...]  # the decided rounds that they answered in, which stand
    over: bool = False  # whether the study is finished: then there is no open round

    @property
    def words(self) -> str:
        """What excluding would mean, as sentences."""
        if not self.workers:
            return "Nobody would be excluded."
        who = self.workers[0] if len(self.workers) == 1 else f"{len(self.workers):,} people"
        said = f"{who} gave {counted(self.answers, 'answer')}"
        if self.over:
            said += ". The study is over: its picks stand; only the certificate changes."
        else:
            said += f"; {self.leaving:,} of them would no longer count in the open round."
        if self.rounds:
            stand = (
                "decided round with answers of theirs stands"
                if len(self.rounds) == 1
                else ("decided rounds with answers of theirs stand")
            )
            said += f" {len(self.rounds):,} {stand}: {', '.join(map(str, self.rounds))}."
            said += " To decide without them, begin a new study from the picks before."
        return f"{said} {_COSTS}"


def excluding_of(state: State, workers: Iterable[str], over: bool = False) -> Excluding:
    """What excluding these workers would mean, also when the study is `over`; the writer is locked meanwhile."""
    names = tuple(name for name in dict.fromkeys(workers) if not state.workers.excludes(name))
    numbers = [number for name in names if (number := state.workers.number_if_known(name)) >= 0]
    questions = state.questions
    theirs = np.isin(np.array(questions.worker), numbers)
    standing, round_ = np.array(questions.standing)[theirs], np.array(questions.round)[theirs]
    given = np.isin(standing, (ANSWERED, PROVISIONAL, LATE))
    open_ = (round_ == state.exploration.round) & (standing != LATE)
    before = {closed.closing.round for closed in state.rounds} & set(round_[given].tolist())
    leaving = 0 if over else int((given & open_).sum())
    return Excluding(names, int(given.sum()), leaving, tuple(sorted(before)), over)


Gate = Callable[[State, str | None, float], str | None]
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
    def _state(self) -> State:
        return self._writer.state

    def may_have_more(self, worker: str | None, now: float) -> bool:
        """Whether one more question may be handed to this worker."""
        state = self._state
        if state.setup.rule is not None:
            if worker is None or not state.conducts.may_answer(state.workers.number_if_known(worker)):
                return False
            if not self._has_share_left(worker):
                self.standstill.kept_back("person", now)
                return False
        why = None if self.gate is None else self.gate(state, worker, now)
        if why in CAPS:
            self.standstill.kept_back(why, now)
        elif why is None:
            self.standstill.went_on()
        return why is None

    def _has_share_left(self, worker: str) -> bool:
        """By the cap on a person's share: bound now, so that no answer has to be dropped for it."""
        state = self._state
        assert state.setup.rule is not None
        number = state.workers.number_if_known(worker)
        active = len(state.shares.active) - state.workers.how_many_excluded(state.shares.active)
        share = share_allowed(state.setup.rule.share, active)
        has = state.shares.in_round[number] + len(state.leases.held_by(worker))
        return has + 1 <= most_of_round(state, share)

    def check_may_answer(self, worker: str | None) -> None:
        """Refuse an answer of somebody who was not admitted, or is out."""
        state = self._state
        if state.setup.rule is None:
            return
        if worker is None:
            raise InvalidAnswer("this study has a rule of who counts: say which worker answers")
        if state.workers.excludes(worker):
            raise InvalidAnswer(f"worker {worker} is excluded, and answers nothing any more")
        if not state.conducts.may_answer(state.workers.number_if_known(worker)):
            raise InvalidAnswer(f"worker {worker} is not admitted yet: nothing counts before that")

    def check_known(self, worker: str) -> None:
        """Refuse to exclude somebody of whom nothing is known: the name is probably misspelt."""
        state = self._state
        if not state.workers.knows(worker) and worker not in state.leases.holders():
            raise InvalidProblem(f"there is no worker {worker!r} in this study: see status().workers")

    def check(
        self, worker: str, check: str, right: bool, duration: int | None, revised: bool, undoable: bool, now: float
    ) -> None:
        """Note an answer to a question whose right answer is known, and what follows from it by the rule.

        While it may be undone nobody is excluded for it: `apply_rule` does so later.
        """
        if check not in (PRACTICE, *CHECKS):
            raise InvalidAnswer(f"a check is one of {', '.join((PRACTICE, *CHECKS))}, got {check!r}")
        if revised and (check == PRACTICE or not self._state.conducts.of(self._number(worker)).checks):
            raise InvalidAnswer(f"worker {worker} has answered no check that could be changed")
        self._writer.emit(events.CheckAnswered(worker, check, bool(right), duration, revised), now)
        self.apply_rule(worker, now, undoable)

    def apply_rule(self, worker: str | None, now: float, undoable: bool = False) -> None:
        """Admit or exclude a worker, if what is known of them says so by the rule; if `undoable`, only admit."""
        state = self._state
        rule = state.setup.rule
        if rule is None or worker is None or state.workers.excludes(worker):
            return
        number = state.workers.number_if_known(worker)
        conduct = state.conducts.of(number)
        why = None if state.workers.was_overruled(number) else conduct.failed(rule)
        if why is not None:
            if undoable:
                return
            self._writer.emit(events.Excluded(worker, why, True), now)
            return
        entry = rule.admission
        if entry is not None and not conduct.admitted and conduct.is_through(entry) and conduct.passes(entry):
            self._writer.emit(events.Admitted(worker), now)

    def _number(self, worker: str) -> int:
        return self._state.workers.number_if_known(worker)

    def apply_to_all(self, now: float) -> None:
        """Apply the rule to everybody again: a process may have ended before it could."""
        for number in self._state.conducts.numbers():
            self.apply_rule(self._state.workers.name(number), now)

    def exclude(self, workers: Iterable[str], reason: str | None, by_rule: bool, now: float) -> None:
        """Count none of these workers' answers in the open round; by hand, not for a reason that is kept for others."""
        if reason in RESERVED and not by_rule:
            raise InvalidProblem(f"the reason {reason!r} is kept {RESERVED[reason]}: say in other words why")
        for worker in workers:
            if not self._state.workers.excludes(worker):
                self._writer.emit(events.Excluded(worker, reason, by_rule), now)

    def leave(self, worker: str, now: float) -> None:
        """Somebody withdraws: their answers leave the open round, unless the rule says that answers are kept.

        That people may is settled before the start in every study, so it is by rule.
        """
        rule = self._state.setup.rule
        self.check_known(worker)
        if rule is not None and rule.withdrawal == "keep":
            return
        if not self._state.workers.has_withdrawn(worker):  # who was excluded before must not be restored after this
            self._writer.emit(events.Excluded(worker, WITHDREW, True), now)

    def change_door(self, door: Door, reason: str | None, now: float) -> None:
        """Let people come in another way from now on."""
        if self._state.door is None:
            raise InvalidProblem("this study was begun without a door: nothing is known of how people come to it")
        if door != self._state.door:
            self._writer.emit(events.DoorChanged(door.to_dict(), reason), now)


def most_of_round(state: State, share: float) -> float:
    """How many answers of the open round somebody may give who may give this share of it.

    Of what the round may cost; where there is no budget, of what was asked in it so far.
    """
    limit = state.exploration.limit
    of = limit if limit >= 0 else len(state.questions) - state.exploration.first
    return max(float(FLOOR), share * of) if share < 1 else float("inf")

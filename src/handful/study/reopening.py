"""Reopening a round: what was decided from it on is forgotten, and its answers that still count are folded again.

Later answers were given about other picks: they are kept, and count no more.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from handful.errors import InvalidProblem, StorageCorrupt
from handful.explorers.protocol import ASKED, DONE, LATE_TOLD, drop
from handful.problem import Problem
from handful.study.believing import BelievingExploration
from handful.study.columns import arrays_of
from handful.study.editions import state_after
from handful.study.events import RoundClosed
from handful.study.questions import ANSWERED, LATE, PROVISIONAL, UNANSWERED, VOID, Questions
from handful.study.setup import Setup
from handful.study.workers import Workers

if TYPE_CHECKING:
    from handful.study.closed_round import ClosedRound
    from handful.study.fold import Fold


_MOST_BYTES = (
    2**28
)  # are kept of what was before each round; beyond that a round reopened now starts from the picks alone


class CopyMissing(Exception):
    """A journal reopens a round with what was known before it, which is not kept: read it again and `keep` that."""

    def __init__(self, round_: int) -> None:
        super().__init__(f"what was before round {round_} is not kept")
        self.round = round_


@dataclass(frozen=True)
class Reopening:
    """What reopening a round would mean. `needed`: answers that deciding it and the rounds after it took, but for those
    kept, or all that are left where a later one was filled in without any; `missing`: how many of these the budget does
    not cover.
    """

    round: int
    lost: tuple[str, ...]  # the picks, by their names
    kept: int  # answers that would be folded again
    needed: int
    missing: int

    @property
    def words(self) -> str:
        """What reopening would mean, as one sentence."""
        said = f"Redoing round {self.round} forgets {', '.join(self.lost)}; {self.kept:,} answers are counted again"
        if not self.needed:
            return f"{said}, and as far as can be told no more are needed."
        said += f", and about {self.needed:,} more are needed"
        return said + (f", {self.missing:,} of which the budget does not cover." if self.missing else ".")


class ReopenableExploration(BelievingExploration):
    """The explorer through its rounds, with what it was before each of them."""

    def __init__(self, setup: Setup, questions: Questions, workers: Workers) -> None:
        self._history: dict[int, tuple[list[np.ndarray] | None, array[int]]] = {}
        self._kept = frozenset[int]()
        super().__init__(setup, questions, workers)

    def adopt(self, edition: int, closings: Sequence[RoundClosed], spent: int) -> None:
        """Go on by another edition: the picks stay, and the open round begins anew. What is in flight will be late."""
        self.catch_up()
        self._history = {}  # of other arrays than those to come
        self.edition, self.adopted = edition, True
        self._state = state_after(self._explorer, self._problem, edition, closings, self.withdrawn)
        self._look()
        started, self.round = self.started, self.round - 1
        self._open_next(spent)
        self.started = started

    def begin_anew(self, problem: Problem) -> None:
        """Have this problem from the start instead, before anything was asked."""
        self.catch_up()
        self._problem, self._history, self._proposal = problem, {}, None
        self._state = state_after(self._explorer, problem, self.edition, (), self.withdrawn)
        self._look()
        self.round -= 1
        self._open_next(0)

    def _open_next(self, spent: int) -> None:
        super()._open_next(spent)
        large = self._problem.rounds * sum(array_.nbytes for array_ in self._before) > _MOST_BYTES
        self._history[self.round] = None if large and self.round not in self._kept else self._before, self._log

    def keep(self, rounds: frozenset[int]) -> None:
        """Keep what is before these rounds, however large it is; called in the first round."""
        self._kept = rounds
        if self.round in rounds:
            self._history[self.round] = self._before, self._log

    def lacks_copy(self, round_: int) -> bool:
        """Whether what was before a round was too large to keep."""
        return round_ in self._history and self._history[round_][0] is None

    def refold(self) -> None:
        """Go through the open round again, before anything else happens in it: the answers that count are others now.

        That is done once, however many say so one after another: nothing is counted for the first time between them.
        """
        if self._steps:
            self.catch_up()
        self._stale = not self.all_picked
        if self._stale and self._any_waits_to_count():
            self.catch_up()

    def _any_waits_to_count(self) -> bool:
        """Whether there are answers that were not counted only because the round was decided."""
        standing = self._questions.standing
        return bool(self._too_late) or any(line and standing[line[0]] in (ANSWERED, VOID) for line in self._lines)

    @property
    def all_out(self) -> bool:
        """Whether as many questions are unanswered as may be, and the round could still pay for one more."""
        r = self.state.board.round[0]
        full = r["asked"] - r["counted"] >= r["in_flight"] and (r["limit"] < 0 or r["asked"] < r["limit"])
        return bool(full) and not self.decided and not self.all_picked

    def reopen(
        self, round_: int, questions: range, closings: Sequence[RoundClosed], spent: int, *, from_picks: bool
    ) -> None:
        """Go back to the start of a round and through its `questions` again; `spent` is what all others cost.

        `closings` are of the rounds before it. `from_picks`: nothing else is known at its start.
        """
        self.catch_up()
        if self.lacks_copy(round_) and not from_picks:
            raise CopyMissing(round_)
        before, log = self._history.get(round_, (None, array("q")))
        if before is None or from_picks:  # it was by another edition of the rules, or was too large to keep
            self._state = state_after(self._explorer, self._problem, self.edition, closings, self.withdrawn)
            before = [array_.copy() for array_ in arrays_of(self.state)]
            self._look()
        self._history = {known: part for known, part in self._history.items() if known < round_}
        own = [question for question in questions if self._questions.round[question] == round_]
        self._proposal, self._too_late = None, []
        self._lines.clear()
        self.round, self.first, self.started = round_, questions.start, questions.start
        self.seen.begin(round_)
        self._before, self._spent_before = before, spent
        for array_, was in zip(arrays_of(self.state), before, strict=True):
            array_[...] = was
        for item in self.withdrawn:
            drop(self.state, item)
        self._open_board()
        self.limit = int(self._limit[0])
        self._log = _log_again(log, own)
        self._history[round_] = self._before, self._log
        counted = {entry // 4 for entry in self._log if entry % 4 == DONE}
        for question in own:
            if question in counted:
                continue
            if self._in_order:
                self._lines.of(question).append(question)
            elif self._questions.standing[question] in (ANSWERED, VOID):
                self._too_late.append(question)
        self.refold()


def _log_again(log: array[int], own: list[int]) -> array[int]:
    """A round's log without what came late in it, and with all that was asked in it."""
    asked = {entry // 4 for entry in log if entry % 4 == ASKED}
    earlier = own[0] if own else 0
    kept = [entry for entry in log if entry % 4 != LATE_TOLD or entry // 4 < earlier]
    return array("q", [4 * question + ASKED for question in own if question not in asked] + kept)


def reopen(fold: Fold, round_: int, from_picks: bool) -> None:
    """Apply the event `Reopened` to a fold."""
    at = round_ - len(fold.setup.problem.chosen) - 1
    if not 0 <= at < len(fold.rounds):
        raise StorageCorrupt(f"the journal reopens round {round_}, which was not closed: restore it from a backup")
    closed, questions, standing = fold.rounds[at], fold.questions, fold.questions.standing
    del fold.rounds[at:]
    fold.closed = False
    fold.leases.forget_waiting()
    for question in range(closed.questions.start, len(questions)):
        if questions.round[question] == round_ and question < closed.questions.stop:
            if standing[question] == LATE:
                standing[question] = ANSWERED
            fold.leases.wait_again(question)
        elif standing[question] == UNANSWERED:
            fold.leases.drop(question)
            standing[question] = VOID
        elif standing[question] in (ANSWERED, PROVISIONAL):
            fold.provisional.drop(question)
            standing[question] = LATE
    own = _own(fold, closed)
    pending = sum(question in fold.leases for question in own)
    given = [question for question in own if standing[question] in (ANSWERED, PROVISIONAL)]
    questions.go_back_to(round_)
    before = [known.closing for known in fold.rounds]
    spent = fold.spent - pending - len(given)
    fold.exploration.reopen(round_, closed.questions, before, spent, from_picks=from_picks)
    fold.shares.again(Counter(questions.worker[question] for question in given if questions.worker[question] >= 0))


def reopening_of(fold: Fold, round_: int, more: int = 0) -> Reopening:
    """What reopening a round would mean, with so many answers more than the budget has."""
    at = round_ - len(fold.setup.problem.chosen) - 1
    if not 0 <= at < len(fold.rounds):
        raise InvalidProblem(f"round {round_} is not one that is over: only such a round can be redone")
    excluded, standing = set(fold.workers.excluded), fold.questions.standing
    took = kept = 0
    for closed in fold.rounds[at:]:
        given = [question for question in _own(fold, closed) if standing[question] in (ANSWERED, LATE)]
        took += len(given)
        if closed.closing.round == round_:
            kept = sum(fold.questions.worker[question] not in excluded for question in given)
    needed = took - kept
    left = None if fold.budget is None else fold.budget + more - fold.spent
    if left is not None and any(closed.closing.ended == "filled" for closed in fold.rounds[at:]):
        needed = max(needed, left)
    lost = tuple(fold.setup.ids[closed.closing.pick] for closed in fold.rounds[at:])
    return Reopening(round_, lost, kept, needed, 0 if left is None else max(0, needed - left))


def _own(fold: Fold, closed: ClosedRound) -> list[int]:
    """The questions of a round, without those of later ones that were asked before it was reopened."""
    return [question for question in closed.questions if fold.questions.round[question] == closed.closing.round]

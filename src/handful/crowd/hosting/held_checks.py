"""Checks in people's hands. As with a question, a lease ends, a page is closed, a pick is decided: then it is let go.

It is known in memory only. What somebody holds whom this process has not seen yet is drawn again as it was.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from handful.crowd.hosting.presence import OpenPages
from handful.study.fold import Fold
from handful.study.questions import UNANSWERED, Question

FIRST = 1 << 44
"""Numbers from here on are those of checks; no study has so many questions."""
_NTH, _ROUNDS, _TURNS = 1 << 20, 1 << 10, 1 << 17
_PAST = 64  # checks that somebody may still answer late
_HANDED_OUT = 4096  # questions that are remembered, to say whether a check would have gone to others


def check_name(nth: int, round_: int, turn: int) -> str:
    """What a check is called: the so many-th of a worker, in this round, at this turn if others were let go before."""
    return f"q{FIRST + nth % _NTH + _NTH * (round_ % _ROUNDS + _ROUNDS * (turn % _TURNS))}"


def nth_of(question: str) -> int:
    """How many checks come before this one."""
    return (int(question[1:]) - FIRST) % _NTH


@dataclass
class HeldCheck:
    """A check as it was shown. It stands before all questions from the number `before` on."""

    name: str
    round: int
    chosen: tuple[int, ...]
    cards: list[tuple[int, int]]
    before: int
    expires: float
    again: bool = False  # whether it was drawn again after a restart: the page may show what it showed before
    let_go: float | None = None  # since when others may have it; ∞: nobody else gets it
    answered: bool = False


@dataclass
class Holding:
    """What one worker holds, held and skipped."""

    now: float  # when they were here last
    turns: int  # how often something was let go, from a number that no process before this one used
    turn: int = 0
    due: int = 0  # no check comes before so many answers, because one was skipped
    owed: int = 0  # so many were let go since one was answered
    ahead: int = 0  # so much they held before anything new was asked for
    recovering: bool = True  # this process has shown them nothing yet
    held: dict[str, HeldCheck] = field(default_factory=dict)
    past: dict[str, HeldCheck] = field(default_factory=dict)

    def known(self, question: str) -> HeldCheck | None:
        """A check that was shown of late, or None."""
        return self.held.get(question) or self.past.get(question)

    def end(self, question: str, let_go: float | None) -> HeldCheck | None:
        """Take a check from the worker: others may have it from `let_go` on, or it is answered where that is None."""
        check = self.held.pop(question, None)
        if check is not None:
            check.let_go = let_go
            self.past[question] = check
            while len(self.past) > _PAST:
                del self.past[next(iter(self.past))]
        return check

    def next_turn(self) -> None:
        """What is drawn now is called otherwise than what was let go."""
        self.turns += 1
        self.turn = self.turns


class HeldChecks:
    """Who holds which checks. What belongs to one worker is done under that worker's lock."""

    def __init__(self, fold: Callable[[], Fold]) -> None:
        self._fold = fold
        self._of: dict[str, Holding] = {}
        self._asked = -math.inf  # when anybody was last given questions: then leases end
        self._handed_out: deque[tuple[float, str, int]] = deque(maxlen=_HANDED_OUT)

    def of(self, worker: str, now: float = 0.0) -> Holding:
        """What this worker holds."""
        holding = self._of.get(worker)
        if holding is None:
            holding = self._of[worker] = Holding(now, int(now) % _TURNS)
        return holding

    def known(self, worker: str, question: str) -> HeldCheck | None:
        """A check that this worker was shown of late, or None."""
        holding = self._of.get(worker)
        return None if holding is None else holding.known(question)

    def asked(self, worker: str, questions: Iterable[Question]) -> None:
        """The study was asked for questions, and gave these."""
        now = self.of(worker).now
        self._asked = max(self._asked, now)
        self._handed_out.extend((now, worker, int(question.id[1:])) for question in questions)

    def begin(self, worker: str, now: float, pages: OpenPages | None) -> None:
        """Somebody is here: let go of what they would hold no more if it were a question."""
        holding, fold = self.of(worker, now), self._fold()
        holding.now, holding.ahead = now, 0
        # Whoever holds a question still was not passed on yet, which is done soon after they are named as gone.
        left = None if pages is None or fold.leases.held_by(worker) else pages.left(worker)
        for check in list(holding.held.values()):
            if check.expires <= self._asked or left is not None:
                holding.end(check.name, check.expires if check.expires <= self._asked else left)
                holding.next_turn()
                holding.owed += 1
        self.let_go_decided(worker)

    def let_go_decided(self, worker: str) -> None:
        """Let go of what is of an earlier round than the open one, or shows what was withdrawn since."""
        holding, exploration = self.of(worker), self._fold().exploration
        for check in list(holding.held.values()):
            items = {item for _, item in check.cards}
            if check.round < exploration.round or items & exploration.withdrawn:
                holding.end(check.name, math.inf)
                holding.ahead = max(0, holding.ahead - 1)
                if check.round >= exploration.round:
                    holding.next_turn()

    def was_passed_on(self, worker: str, check: HeldCheck) -> bool:
        """Whether somebody else would have answered it: as they answered what they were given when it was let go."""
        if check.let_go is None:
            return False
        for when, who, question in list(self._handed_out):
            if when >= check.let_go and who != worker:
                return self._fold().questions.standing[question] != UNANSWERED
        return False

    def comes_back(self, worker: str) -> HeldCheck | None:
        """A check that was let go, where a question would come back too: nothing else is left to ask, for anybody."""
        fold, past = self._fold(), self.of(worker).past
        if not fold.exploration.all_out or fold.leases.any_waiting:
            return None
        for check in reversed(past.values()):
            free = not check.answered and check.let_go not in (None, math.inf)
            if free and check.round == fold.exploration.round and not self.was_passed_on(worker, check):
                return past.pop(check.name)
        return None

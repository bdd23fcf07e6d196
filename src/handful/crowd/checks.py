"""Checks in people's hands. As with a question, a lease ends, a page is closed, a pick is decided: then it is let go.

It is known in memory only. What somebody holds whom this process has not seen yet is drawn again as it was.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from handful.crowd import messages
from handful.crowd.cards import Said, Showing
from handful.crowd.refusals import Refusal, not_found
from handful.crowd.session import Sessions
from handful.crowd.tokens import Worker
from handful.questions import UNANSWERED, Question
from handful.rules import CHECKS, GOLD, Checks, Rule
from handful.state import State
from handful.study import Study

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

    def __init__(self, state: Callable[[], State]) -> None:
        self._state = state
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

    def begin(self, worker: str, now: float, pages: Sessions | None) -> None:
        """Somebody is here: let go of what they would hold no more if it were a question."""
        holding, state = self.of(worker, now), self._state()
        holding.now, holding.ahead = now, 0
        # Whoever holds a question still was not passed on yet, which is done soon after they are named as gone.
        left = None if pages is None or state.leases.held_by(worker) else pages.left(worker)
        for check in list(holding.held.values()):
            if check.expires <= self._asked or left is not None:
                holding.end(check.name, check.expires if check.expires <= self._asked else left)
                holding.next_turn()
                holding.owed += 1
        self.let_go_decided(worker)

    def let_go_decided(self, worker: str) -> None:
        """Let go of what is of an earlier round than the open one, or shows what was withdrawn since."""
        holding, exploration = self.of(worker), self._state().exploration
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
                return self._state().questions.standing[question] != UNANSWERED
        return False

    def comes_back(self, worker: str) -> HeldCheck | None:
        """A check that was let go, where a question would come back too: nothing else is left to ask, for anybody."""
        state, past = self._state(), self.of(worker).past
        if not state.exploration.all_out or state.leases.any_waiting:
            return None
        for check in reversed(past.values()):
            free = not check.answered and check.let_go not in (None, math.inf)
            if free and check.round == state.exploration.round and not self.was_passed_on(worker, check):
                return past.pop(check.name)
        return None


_FINE = 1 << 30
_OWED = 2
_LATE = 64  # questions that what a check shows is taken from


@dataclass(frozen=True)
class ShownQuestion:
    """A question or a check, by the name that its token stands for, and as a worker sees it."""

    question: str
    message: messages.Pair | messages.Choice


@dataclass(frozen=True)
class Verdict:
    """What kind of check was answered, whether rightly, and what was said."""

    kind: str
    right: bool
    said: Said


class DrawnChecks:
    """The checks of one study. What is held and what was skipped is known in memory only."""

    def __init__(self, study: Study, showing: Showing) -> None:
        self.study, self._showing = study, showing
        self._deck, self._options = showing.deck, showing.options
        self._held = HeldChecks(lambda: self._state)
        self._drawn: dict[str, tuple[int, int]] = {}  # of so many checks of a worker, when the last one comes
        self._answers: dict[str, tuple[str, Said]] = {}  # the last check that each worker answered

    @property
    def _rule(self) -> Rule | None:
        return self.study.setup.rule

    @property
    def _state(self) -> State:
        return self.study.state

    @property
    def any(self) -> bool:
        """Whether this study has checks."""
        return bool(self._deck.spoiled)

    @property
    def before_admission(self) -> int:
        """How many checks come before anything counts."""
        rule = self._rule
        return 0 if rule is None or rule.admission is None else rule.admission.checks

    def extra(self, answers: int) -> int:
        """How many checks somebody is shown who gives so many answers, on average."""
        rule = self._rule
        if rule is None:
            return 0
        return self.before_admission + (0 if rule.checks is None else round(answers / rule.checks.every))

    def answered(self, worker: str) -> int:
        """How many checks this worker has answered."""
        return self._state.conducts.checks_of(self._state.workers.number_if_known(worker))

    @staticmethod
    def is_check(question: str) -> bool:
        """Whether a token stood for a check."""
        return int(question[1:]) >= FIRST

    # When

    def begin(self, worker: Worker, now: float, pages: Sessions | None) -> None:
        """Somebody is here; what they held goes with the questions they held. `pages`: None where none is passed on."""
        if self.any:
            self._held.begin(worker.id, now, pages)

    def asked(self, worker: Worker, questions: list[Question]) -> list[Question]:
        """The questions that the study gave when it was asked: checks are let go when the leases of questions end."""
        if self.any:
            self._held.asked(worker.id, questions)
        return questions

    def room(self, worker: Worker, answers: int, held: int, want: int) -> int:
        """How many questions more there should be, of somebody who has given so many answers and holds so many."""
        if not self.any:
            return max(0, want - held)
        holding = self._held.of(worker.id)
        holding.ahead = held + len(holding.held)
        return max(0, want - holding.ahead - len(self._places(worker, answers, want)))

    def _places(self, worker: Worker, answers: int, want: int) -> list[int]:
        """Where among the next questions, from 0 on, new checks stand: behind all that is held."""
        rule, done, holding = self._rule, self.answered(worker.id), self._held.of(worker.id)
        if rule is None:
            return []
        first = 0 if holding.recovering and holding.ahead < want else holding.ahead
        if done < self.before_admission:
            return list(range(first, min(want, first + self.before_admission - done - len(holding.held))))
        # Whoever lets one check after the other go is soon shown nothing else: else who always waits would answer none.
        more = (1 if holding.owed < _OWED else want) - len(holding.held)
        if rule.checks is None or more <= 0:
            return []
        at = max(first, self._due(worker, done, rule.checks) - answers)
        return list(range(at, min(want, at + more)))

    def _due(self, worker: Worker, done: int, checks: Checks) -> int:
        """After how many answers the next check comes."""
        known, drawn = self._drawn.get(worker.id, (self.before_admission, 0))
        if known > done + 1:
            known, drawn = self.before_admission, 0
        for n in range(known, done + 1):
            drawn += _gap(worker, n, checks)
        self._drawn[worker.id] = done + 1, drawn
        return max(drawn, self._held.of(worker.id).due)

    def among(self, worker: Worker, questions: list[Question], answers: int, want: int) -> list[ShownQuestion]:
        """What a worker sees, in order: these questions, and among them the checks that are held and that are due."""
        shown = [ShownQuestion(question.id, self._showing.shown(worker, question)) for question in questions]
        if not self.any:
            return shown
        self._held.let_go_decided(worker.id)  # the answer that they just gave may have decided the pick
        holding, places = self._held.of(worker.id), self._places(worker, answers, want)
        order = [(int(question.id[1:]), True) for question in questions]
        for check in holding.held.values():
            at = next((at for at, other in enumerate(order) if other > (check.before, False)), len(order))
            order.insert(at, (check.before, False))
            shown.insert(at, ShownQuestion(check.name, self.shown(worker, check.name)))
        for at in places:
            if at <= len(shown):
                before = order[at][0] if at < len(order) else len(self._state.questions)
                check = self._held.comes_back(worker.id) or self._new(worker, before)
                check.expires, check.let_go = holding.now + self.study.setup.lease_s, None
                holding.held[check.name] = check
                order.insert(at, (before, False))
                shown.insert(at, ShownQuestion(check.name, self.shown(worker, check.name)))
        holding.recovering = False
        return shown

    def _new(self, worker: Worker, before: int) -> HeldCheck:
        """The check that comes next."""
        holding, round_ = self._held.of(worker.id), self._state.exploration.round
        done = self.answered(worker.id)
        name = check_name(done + len(holding.held), round_, holding.turn)
        again = holding.recovering and done + self._state.workers.answers_of(worker.id) > 0
        return HeldCheck(name, round_, self._state.chosen, self._cards(worker, int(name[1:])), before, 0.0, again)

    # What

    def shown(self, worker: Worker, question: str) -> messages.Pair | messages.Choice:
        """A check that the worker holds, as they see it: while it is held it stays as it is."""
        check = self._held.of(worker.id).held[question]
        chosen = [self._deck.card(worker, at) for at in check.chosen]
        cards, token, round_ = check.cards, worker.token(question), check.round
        places = worker.places(question, len(cards))
        seen = [(cards[at][0], self._deck.card(worker, cards[at][0], question, cards[at][1])) for at in places]
        if self._options == 2:
            return messages.Pair(token=token, round=round_, chosen=chosen, left=seen[0][1], right=seen[1][1])
        options = [messages.Option(id=self._deck.option(worker, at, question), **dict(card)) for at, card in seen]
        return messages.Choice(token=token, round=round_, chosen=chosen, options=options)

    def _kind(self, worker: Worker, number: int) -> str:
        rule = self._rule
        kinds = CHECKS if rule is None or rule.checks is None else rule.checks.kinds
        if not self._deck.instructed:
            return GOLD
        return kinds[worker.draw("kind", number - FIRST, len(kinds))]

    def _cards(self, worker: Worker, number: int) -> list[tuple[int, int]]:
        """The number of each card and of the item whose words it bears, the right card first.

        The items are those of a question that was asked of late: else a check would show what others do not.
        """
        drawing = _Drawing(worker, number - FIRST)
        gone = {*self._state.chosen, *self._state.exploration.withdrawn}
        left = [at for at in range(self._deck.items) if at not in gone] or list(range(self._deck.items))
        items = self._of_late(worker, drawing, gone) or drawing.some(
            left or list(range(self._deck.items)), self._options
        )
        items = drawing.some(items, len(items))
        if self._kind(worker, number) == GOLD:
            copies = [self._deck.spoiled.get(item) for item in items[1:]]
            free = [copy for copy in self._deck.spoiled.values() if copy not in copies]
            others = drawing.some(free or list(self._deck.spoiled.values()), len(items))
            spoiled = [own if own is not None else other for own, other in zip(copies, others, strict=False)]
            return [(items[0], items[0]), *zip(spoiled, items[1:], strict=True)]
        right = self._deck.instructed[worker.draw("card", number - FIRST, len(self._deck.instructed))]
        return [(right, items[0]), *((item, item) for item in items[1:])]

    def _of_late(self, worker: Worker, drawing: _Drawing, gone: set[int]) -> list[int]:
        """The items of a question of this round from before the worker's last answer, somebody else's if there is one.

        None before that. So a check is the same after a restart until the worker has answered.
        """
        questions, mine = self._state.questions, self._state.workers.number_if_known(worker.id)
        started = self._state.exploration.first
        by = np.asarray(questions.worker[started:])  # of a copy: others go on asking
        own = np.flatnonzero(by == mine) if mine >= 0 else by[:0]
        if not len(own):
            return []
        window = range(max(0, int(own[-1]) + 1 - _LATE), int(own[-1]) + 1)
        asked = [at for at in window if not gone & set(questions.options(started + at))]
        others = [at for at in asked if by[at] != mine] or asked
        return list(questions.options(started + drawing.one("like", others))) if others else []

    # Answers

    def judge(self, worker: Worker, question: str, chosen: messages.Chosen) -> Verdict:
        """Whether this is the right answer."""
        number = int(question[1:])
        kind = self._kind(worker, number)
        if self._options == 2:
            if chosen.side is None:
                raise Refusal(422, "no_side", "This study shows two at a time: answer with side, left or right.")
            first_is_right = worker.places(question, 2)[0] == 0
            return Verdict(kind, (chosen.side == "left") == first_is_right, Said(side=chosen.side))
        at = worker.card_number(chosen.option or "", question)
        if at is None or not self._may_show(worker, question, at):
            raise Refusal(422, "not_an_option", "Answer with option, the id of one of the options that were shown.")
        right = at < self._deck.items if kind == GOLD else at in self._deck.instructed
        return Verdict(kind, right, Said(option=chosen.option))

    def _may_show(self, worker: Worker, question: str, card: int) -> bool:
        """Whether the worker may have seen this card in this check: what was shown before a restart is not known."""
        check = self._held.known(worker.id, question)
        return check is None or check.again or card in [shown for shown, _ in check.cards]

    def take(
        self, worker: Worker, question: str, verdict: Verdict, took: int | None, undoable: bool
    ) -> tuple[Said, bool]:
        """Store an answer; gives what is stored, and whether it had been answered before, as if by others if let go."""
        holding, nth, done = self._held.of(worker.id), nth_of(question), self.answered(worker.id)
        check = holding.known(question)
        if nth > done and check is None:
            raise not_found()
        if check.answered if check is not None else nth < done:
            before, said = self._answers.get(worker.id, ("", verdict.said))
            return said if before == question else verdict.said, True
        if check is not None and self._held.was_passed_on(worker.id, check):
            return self._said_by_others(worker, check), True
        self.study.check(worker.id, verdict.kind, verdict.right, took, undoable=undoable)
        if check is None:  # it was shown before a restart, and may have been drawn again since
            check = next((other for other in holding.held.values() if nth_of(other.name) == nth), None)
        if check is not None:
            holding.end(check.name, check.let_go)
            check.answered = True
        holding.turn, holding.owed = (holding.turn if holding.held else 0), 0
        self._answers[worker.id] = question, verdict.said
        return verdict.said, False

    def _said_by_others(self, worker: Worker, check: HeldCheck) -> Said:
        """What others would have said: any of what it shows."""
        at = worker.draw("others", int(check.name[1:]) - FIRST, len(check.cards))
        if self._options == 2:
            return Said(side="right" if at else "left")
        return Said(option=self._deck.option(worker, check.cards[at][0], check.name))

    def was_last(self, worker: Worker, question: str) -> bool:
        """Whether this is the last check that the worker answered."""
        return self._answers.get(worker.id, ("", None))[0] == question

    def revise(self, worker: Worker, question: str, verdict: Verdict) -> Said:
        """Replace the last answer."""
        self.study.check(worker.id, verdict.kind, verdict.right, revised=True, undoable=True)
        self._answers[worker.id] = question, verdict.said
        return verdict.said

    def skip(self, worker: Worker, question: str, answers: int) -> bool:
        """Show another check later instead; False for one that is not at hand any more, which changes nothing."""
        holding = self._held.of(worker.id)
        was_shown_before = holding.recovering and nth_of(question) == self.answered(worker.id)  # a restart
        if holding.end(question, holding.now) is None and not was_shown_before:
            return False
        every = 12 if self._rule is None or self._rule.checks is None else self._rule.checks.every
        holding.due = answers + 1 + worker.draw("again", holding.turn, every)
        holding.next_turn()
        return True


def _gap(worker: Worker, number: int, checks: Checks) -> int:
    return checks.gap((1 + worker.draw("gap", number, _FINE)) / (_FINE + 1))


class _Drawing:
    """Draws from one worker's key for one check."""

    def __init__(self, worker: Worker, number: int) -> None:
        self._worker, self._number = worker, number

    def one(self, purpose: str, of: list[int]) -> int:
        """One of these, any as likely."""
        return of[self._worker.draw(purpose, self._number, len(of))]

    def some(self, of: list[int], how_many: int) -> list[int]:
        """So many of these in any order, all different where there are enough."""
        drawn: list[int] = []
        while len(drawn) < how_many:
            left = [at for at in of if at not in drawn] or of
            drawn.append(left[self._worker.draw(f"one of {len(drawn)}", self._number, len(left))])
        return drawn

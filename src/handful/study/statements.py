"""What is said of each pick, in plain words: how often it won, and what the belief says of it.

Every page, sheet, report and terminal says it with the words of `PickStatement.sentences`. What is proved is in the
certificate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal

import numpy as np

from handful.explorers.strengths import standing_of
from handful.numbers import about, percent_at_least
from handful.problem import Floats, Values
from handful.study.certifying import excluded_answers
from handful.study.closed_round import ClosedRound
from handful.study.fold import Fold
from handful.study.items import Item, plain_item
from handful.study.questions import ANSWERED
from handful.study.verdict import FEWEST_MEETINGS, NO_WINS, Wins, runner_up_of, wins_in
from handful.wording import counted, listed

Basis = Literal["answers", "cut short", "filled", "given"]
CUT_SHORT = "Decided by the answers so far: its round was cut short when the study was finished early."
FILLED = "Filled in when the study was finished early: no round of its own decided this place."
GIVEN = "Chosen before the study began."
TOO_FEW = "There were too few answers to tell it from most of the others."
NEAR_TIES = 2
"""So many are named at most."""


@dataclass(frozen=True)
class Believed(Generic[Item]):
    """By the model of the answers, the pick is with probability `chance` among the best `best_of` of `candidates`.

    `near_ties` are those that may well be better, the likeliest first. It is a belief, and claims nothing.
    """

    chance: float
    best_of: int
    candidates: int
    near_ties: tuple[Item, ...]

    @property
    def sure(self) -> bool:
        """Whether no whole percent below 100 says it: nothing is said to be certain."""
        return self.chance > 0.99

    @property
    def tells_little(self) -> bool:
        """Whether it is only said to be among more than half of the candidates: that is no statement to people."""
        return self.best_of > 1 and 2 * self.best_of > self.candidates

    @property
    def percent(self) -> str:
        """The chance in whole percent, rounded down."""
        return percent_at_least(self.chance)

    def sentence(self, name: Callable[[Item], str] = str) -> str:
        """What is believed, in a whole sentence; where that tells little, why."""
        if self.tells_little:
            return TOO_FEW
        place = "the best" if self.best_of == 1 else f"among the best {self.best_of:,}"
        likely = "more than 99%" if self.sure else self.percent
        said = f"By the model, {likely} likely {place} of {self.candidates:,}"
        return (
            f"{said}; near-tie with {listed([name(item) for item in self.near_ties])}."
            if self.near_ties
            else f"{said}."
        )

    def to_dict(self) -> dict[str, Any]:
        """For a program: plain JSON."""
        near = [plain_item(item) for item in self.near_ties]
        return {"chance": self.chance, "best_of": self.best_of, "candidates": self.candidates, "near_ties": near}


@dataclass(frozen=True)
class PickStatement(Generic[Item]):
    """One pick, and what the answers say of it.

    `basis` is what it rests on: "answers" of its round; "cut short", the answers of a round that the end of the study
    cut short; "filled" from what was known when the study was finished early; or "given" before the start. `wins` are
    of its own round, `wins_before` of all rounds before it, and `against` those over the runner-up. `of_several`:
    questions showed several options. `believed` is what the explorer's belief says of it, if it has one. `mean` is of
    answers that are numbers; `afresh`: of those that were given once it was picked, to
    prove the whole. `left_out` are answers of its round that count no more.
    """

    item: Item
    basis: Basis
    wins: Wins = NO_WINS
    wins_before: Wins = NO_WINS
    runner_up: Item | None = None
    against: Wins = NO_WINS
    of_several: bool = False
    believed: Believed[Item] | None = None
    mean: float | None = None
    answers: int = 0
    afresh: bool = False
    left_out: int = 0

    @property
    def cut_short(self) -> bool:
        """Whether its round was cut short when the study was finished early."""
        return self.basis == "cut short"

    @property
    def filled(self) -> bool:
        """Whether it was filled in when the study was finished early."""
        return self.basis == "filled"

    def sentences(self, name: Callable[[Item], str] = str) -> tuple[str, ...]:
        """What is said of it, in whole sentences; `name` is what items are called."""
        if self.basis == "given":
            return (GIVEN,)
        said = (FILLED,) if self.filled else (CUT_SHORT,) if self.cut_short else ()
        believed = "" if self.believed is None else self.believed.sentence(name)
        return (*said, *filter(None, (self._counts(), self._left_out(), believed, self._runner_up(name))))

    def _counts(self) -> str:
        """How often it won."""
        if self.mean is not None:
            what = "given after it was picked" if self.afresh else "by which it was picked (so it is likely too high)"
            return f"Mean answer {about(self.mean)}, of {counted(self.answers, 'answer')} {what}."
        noun = "showing" if self.of_several else "comparison"
        if self.wins.of:
            return f"Won {self.wins.won:,} of {counted(self.wins.of, noun)}."
        if self.wins_before.of:
            return f"Won {self.wins_before.won:,} of {counted(self.wins_before.of, noun)} in the rounds before."
        return "" if self.filled else "No answer of its round was about it."

    def _left_out(self) -> str:
        """That the numbers are of what is left of its round."""
        if not self.left_out:
            return ""
        return f"{counted(self.left_out, 'answer')} of its round {'counts' if self.left_out == 1 else 'count'} no more."

    def _runner_up(self, name: Callable[[Item], str]) -> str:
        """Who came second, and how the two did against each other."""
        if self.runner_up is None:
            return ""
        if self.against.of < FEWEST_MEETINGS:
            return f"The runner-up was {name(self.runner_up)}."
        met, won = counted(self.against.of, "time"), f"{self.against.won:,}"
        return f"Seen beside the runner-up, {name(self.runner_up)}, it was preferred {won} of {met}."

    def to_dict(self) -> dict[str, Any]:
        """For a program: plain JSON."""
        return {
            "item": plain_item(self.item),
            "basis": self.basis,
            "won": self.wins.won,
            "shown": self.wins.of,
            "won_before": self.wins_before.won,
            "shown_before": self.wins_before.of,
            "runner_up": None if self.runner_up is None else plain_item(self.runner_up),
            "won_against_runner_up": self.against.won,
            "lost_against_runner_up": self.against.of - self.against.won,
            "believed": None if self.believed is None else self.believed.to_dict(),
            "mean": self.mean,
            "afresh": self.afresh,
            "left_out": self.left_out,
            "sentences": list(self.sentences()),
        }


def statements_of(fold: Fold, items: tuple[Item, ...]) -> tuple[PickStatement[Item], ...]:
    """What is said of every pick, in the order picked."""
    given = tuple(PickStatement(items[i], "given") for i in fold.setup.problem.chosen)
    return (*given, *(_statement(fold, closed, items) for closed in fold.rounds))


def _statement(fold: Fold, closed: ClosedRound, items: tuple[Item, ...]) -> PickStatement[Item]:
    pick, filled = closed.closing.pick, closed.closing.ended == "filled"
    second = -1 if filled else runner_up_of(closed)
    basis: Basis = "filled" if filled else "cut short" if closed.closing.ended == "closed" else "answers"
    runner_up, left_out = None if second < 0 else items[second], excluded_answers(fold, closed)
    if isinstance(fold.setup.problem.feedback, Values):
        fresh = _fresh_answers(fold, closed.closing.round, pick)
        number = len(fresh) or int(closed.answers[pick])
        mean = float(fresh.mean()) if len(fresh) else float(closed.means[pick]) if number else None
        said = PickStatement(items[pick], basis, runner_up=runner_up, mean=mean, answers=number, left_out=left_out)
        return replace(said, afresh=len(fresh) > 0)
    wins, against = wins_in(fold, closed.questions, pick, second)
    before, _ = wins_in(fold, range(closed.questions.start), pick, second)
    believed = None if filled else _believed(closed, items)
    several = fold.questions.names_one
    return PickStatement(items[pick], basis, wins, before, runner_up, against, several, believed, left_out=left_out)


def _fresh_answers(fold: Fold, round_: int, pick: int) -> Floats:
    """What was answered about a pick, given those before it, once all were picked; empty where no audit asked."""
    asked, last = fold.questions, fold.rounds[-1].questions
    here, given = slice(last.start, last.stop), round_ - 1 - len(fold.setup.problem.chosen)
    about_it = (np.asarray(asked.item[here]) == pick) & (np.asarray(asked.given[here]) == given)
    answers: Floats = np.asarray(asked.answer[here])[about_it & (np.asarray(asked.standing[here]) == ANSWERED)]
    return answers


def _believed(closed: ClosedRound, items: tuple[Item, ...]) -> Believed[Item] | None:
    standing = standing_of(closed.view, closed.closing.pick, runners_up=NEAR_TIES)
    if standing is None:
        return None
    near = tuple(items[runner_up.item] for runner_up in standing.runners_up if runner_up.near)
    return Believed(standing.chance, standing.best_of, standing.candidates, near)

"""How the picks did, in plain words: what people answered, to be said before what that proves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handful.problem import Ints, Values
from handful.study.closed_round import ClosedRound
from handful.study.fold import Fold
from handful.study.questions import ANSWERED
from handful.wording import counted


@dataclass(frozen=True)
class Wins:
    """Comparisons that were won, of how many; or questions in which an item was named."""

    won: int = 0
    of: int = 0

    def __add__(self, other: Wins) -> Wins:
        return Wins(self.won + other.won, self.of + other.of)

    @property
    def share(self) -> str:
        """The share won, in percent."""
        return f"{100 * self.won / self.of:.0f}%"


NO_WINS = Wins()
FEWEST_MEETINGS = 5
"""Answers that decide between a pick and the runner-up, before their number is told: of fewer it says nothing."""


def verdict_of(fold: Fold) -> str:
    """What the comparisons that counted say of the picks; nothing while there is nothing to say.

    A pick is chosen for winning, so this says how it did and not how it would do: what may be claimed is in the
    certificate. Of places that were filled in it says nothing: no answer was given to decide them.
    """
    if isinstance(fold.setup.problem.feedback, Values):
        return ""
    everybody, closest = Wins(), Wins()
    decided = [closed for closed in fold.rounds if closed.closing.ended != "filled"]
    for closed in decided:
        against_all, against_closest = wins_in(fold, closed.questions, closed.closing.pick, runner_up_of(closed))
        everybody, closest = everybody + against_all, closest + against_closest
    if not everybody.of:
        return ""
    many = len(decided) > 1
    picks = _picks(len(decided), len(fold.rounds) - len(decided))
    if fold.questions.names_one:
        return _named_so_often(picks, everybody, closest, many)
    were, rival = ("they were", "rival of each round") if many else ("it was", "rival")
    if everybody.of == 1:
        return f"{picks} {'won' if everybody.won else 'lost'} the one comparison {were} in."
    said = f"{picks} won {everybody.won:,} of the {everybody.of:,} comparisons {were} in ({everybody.share})"
    if closest.of >= FEWEST_MEETINGS:
        said += f", and {closest.won:,} of the {closest.of:,} against the closest {rival} ({closest.share})"
    return f"{said}."


def _picks(decided: int, filled: int) -> str:
    """Of which picks it speaks: where some were filled in, of the others."""
    if not filled:
        return "The picks" if decided > 1 else "The pick"
    return f"The {decided:,} picks that answers decided" if decided > 1 else "The pick that answers decided"


def _named_so_often(picks: str, everybody: Wins, closest: Wins, many: bool) -> str:
    """What questions with several options say of the picks."""
    were, them, rival = ("were", "them", "rival of each round") if many else ("was", "it", "rival")
    said = f"{picks} {were} named in {everybody.won:,} of the {everybody.of:,} questions that showed {them}"
    said += f" ({everybody.share})"
    if closest.of >= FEWEST_MEETINGS:
        lost = closest.of - closest.won
        said += f". Where the closest {rival} was shown too, the pick was named {_times(closest.won)}"
        said += f" and the rival {_times(lost)}"
    return f"{said}."


def _times(number: int) -> str:
    return counted(number, "time")


def wins_in(fold: Fold, numbers: range, pick: int, second: int) -> tuple[Wins, Wins]:
    """Of these questions, by the answers that count: how often an item won, and how often against another."""
    questions, here = fold.questions, slice(numbers.start, numbers.stop)
    counts = np.asarray(questions.standing[here]) == ANSWERED
    counts &= ~np.isin(np.asarray(questions.worker[here], dtype=np.int64), fold.workers.excluded)
    if questions.names_one:
        return _choices(fold, np.asarray(numbers)[counts], pick, second)
    item, rival, answer = (
        np.asarray(column[here])[counts] for column in (questions.item, questions.rival, questions.answer)
    )
    won = np.where(item == pick, answer > 0.5, answer <= 0.5)
    other = np.where(item == pick, rival, item)
    among = (item == pick) | (rival == pick)
    return _count(won[among]), _count(won[among & (other == second)])


def _choices(fold: Fold, numbers: Ints, pick: int, second: int) -> tuple[Wins, Wins]:
    """With several options: how often the pick was named, and how often rather than the second best."""
    everybody, closest = Wins(), Wins()
    for number in numbers:
        options, named = fold.questions.options(number), int(fold.questions.answer[number])
        if pick in options:
            everybody += Wins(int(named == pick), 1)
            if second in options and named in (pick, second):
                closest += Wins(int(named == pick), 1)
    return everybody, closest


def runner_up_of(closed: ClosedRound) -> int:
    """The item that was thought second best when the round closed; -1 where nothing was known."""
    means = closed.view.mean.copy()
    means[closed.closing.pick] = np.nan
    return int(np.nanargmax(means)) if np.isfinite(means).any() else -1


def _count(won: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Wins:
    return Wins(int(won.sum()), len(won))

"""What excluding some workers by hand would mean, to be seen before it is done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from handful.study.questions import ANSWERED, LATE, PROVISIONAL
from handful.wording import counted

if TYPE_CHECKING:
    from handful.study.fold import Fold


@dataclass(frozen=True)
class Excluding:
    """What excluding these workers would mean. Who is excluded already is not among them."""

    workers: tuple[str, ...]
    answers: int  # that they gave in all
    leaving: int  # of those, how many count in the open round and would no more
    rounds: tuple[int, ...]  # the decided rounds that they answered in, which stand

    @property
    def words(self) -> str:
        """What excluding would mean, as sentences."""
        if not self.workers:
            return "Nobody would be excluded."
        people = "1 person" if len(self.workers) == 1 else f"{len(self.workers):,} people"
        gave = f"{people} gave {counted(self.answers, 'answer')}"
        said = f"{gave}; {self.leaving:,} of them would no longer count in the open round."
        if self.rounds:
            said += f" Rounds they also answered in stand as decided: {', '.join(map(str, self.rounds))}."
            said += f" To decide these without them, redo round {self.rounds[0]} afterwards."
        return said + " This is by hand: the certificate will claim no confidence."


def excluding_of(fold: Fold, workers: Iterable[str]) -> Excluding:
    """What excluding these workers would mean; the writer is locked meanwhile."""
    names = tuple(name for name in dict.fromkeys(workers) if not fold.workers.excludes(name))
    numbers = [number for name in names if (number := fold.workers.number_if_known(name)) >= 0]
    questions = fold.questions
    theirs = np.isin(np.array(questions.worker), numbers)
    standing, round_ = np.array(questions.standing)[theirs], np.array(questions.round)[theirs]
    given = np.isin(standing, (ANSWERED, PROVISIONAL, LATE))
    open_ = (round_ == fold.exploration.round) & (standing != LATE)
    before = {closed.closing.round for closed in fold.rounds} & set(round_[given].tolist())
    leaving = 0 if fold.closed else int((given & open_).sum())
    return Excluding(names, int(given.sum()), leaving, tuple(sorted(before)))

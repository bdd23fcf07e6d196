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


def excluding_of(fold: Fold, workers: Iterable[str], over: bool = False) -> Excluding:
    """What excluding these workers would mean, also when the study is `over`; the writer is locked meanwhile."""
    names = tuple(name for name in dict.fromkeys(workers) if not fold.workers.excludes(name))
    numbers = [number for name in names if (number := fold.workers.number_if_known(name)) >= 0]
    questions = fold.questions
    theirs = np.isin(np.array(questions.worker), numbers)
    standing, round_ = np.array(questions.standing)[theirs], np.array(questions.round)[theirs]
    given = np.isin(standing, (ANSWERED, PROVISIONAL, LATE))
    open_ = (round_ == fold.exploration.round) & (standing != LATE)
    before = {closed.closing.round for closed in fold.rounds} & set(round_[given].tolist())
    leaving = 0 if over else int((given & open_).sum())
    return Excluding(names, int(given.sum()), leaving, tuple(sorted(before)), over)

"""Which answers compare two items that the same person had compared before in the round.

`duels` asks nobody the same twice while something else can be asked; other explorers, and those who answer without a
name, know nothing of that. A question is marked by what was answered, not by what was asked: of several options, only
the one that was named is compared with the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from handful.problem import Ints
from handful.study.questions import ANSWERED, LATE, PROVISIONAL

if TYPE_CHECKING:
    from handful.study.fold import Fold

WITH_ANSWER = (ANSWERED, PROVISIONAL, LATE)


def repeated_questions(fold: Fold) -> Ints:
    """Their numbers, in order; of those who answered without a name there are none.

    The columns cannot grow meanwhile: give a snapshot where answers may come in.
    """
    questions = fold.questions
    worker, rival = np.asarray(questions.worker, np.int64), np.asarray(questions.rival, np.int64)
    here = np.flatnonzero((worker >= 0) & (rival >= 0) & np.isin(np.asarray(questions.standing), WITH_ANSWER))
    round_ = np.asarray(questions.round, np.int64)[here]
    if not len(here):
        return here
    item = np.asarray(questions.item, np.int64)
    if questions.names_one:
        options = questions.rows_of_options(range(len(questions)))[here]
        named = np.asarray(questions.answer)[here].astype(np.int64)
        row, column = np.nonzero((options >= 0) & (options != named[:, None]))
        one, other, question, of = named[row], options[row, column], here[row], round_[row]
    else:
        one, other, question, of = item[here], rival[here], here, round_
    low, high = np.minimum(one, other), np.maximum(one, other)
    compared = np.stack([worker[question], of, low, high])
    order = np.lexsort((question, *compared))
    same = (compared[:, order[1:]] == compared[:, order[:-1]]).all(axis=0)
    return np.unique(question[order[1:][same]])

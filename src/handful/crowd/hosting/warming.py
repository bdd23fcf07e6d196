"""Compiling explorers before the first person waits for it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from handful import Preferences, Study

_TURNS = 60  # enough for a round to end, unless there are very many


def warm_up(studies: Iterable[Study]) -> None:
    """Let their explorers be compiled before the first person waits for it: some seconds, and only the first time.

    The budget is such that nothing has to be warned of.
    """
    for explorer, k, options in {
        (study.setup.explorer, study.setup.problem.k, study.setup.problem.feedback.options) for study in studies
    }:
        known = Preferences(options=options)
        study = Study(range(k + 2), k, feedback=known, explorer=explorer, budget=k * (k + 2), in_flight=2)
        who = "somebody"
        for question in chain.from_iterable(study.ask(2, who) for _ in range(_TURNS)):
            study.tell(question.id, min(question.options) if options > 2 else question.item < question.rival, who)
            if who == "somebody":
                study.leave(who)  # the round is gone through again, as when anybody withdraws
                who = "another"
        study.status()

"""Compiling explorers before the first person waits for it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from handful import Preferences, Study
from handful.study.questions import Question


def warm_up(studies: Iterable[Study]) -> None:
    """Let their explorers be compiled before the first person waits for it: some seconds, and only the first time."""
    for explorer, k, options in {
        (study.setup.explorer, study.setup.problem.k, study.setup.problem.feedback.options) for study in studies
    }:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            known = Preferences(options=options)
            study = Study(range(k + 2), k, feedback=known, explorer=explorer, budget=12, in_flight=2)
            study.run(_first if options > 2 else lambda question: question.item < question.rival)
            study.status()


def _first(question: Question) -> object:
    """The option of the lowest number."""
    return min(question.options)

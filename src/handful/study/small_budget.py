"""The warning that a budget is small, and how whoever makes studies in threads hears it instead."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from handful.errors import SmallBudget

if TYPE_CHECKING:
    from handful.study.fold import Fold

_heard: ContextVar[list[str] | None] = ContextVar("heard", default=None)


@contextmanager
def small_budgets_heard() -> Iterator[list[str]]:
    """What studies that are made in here would warn of. `warnings.catch_warnings` would act on all threads."""
    heard: list[str] = []
    before = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(before)


def warn_of_small_budget(fold: Fold) -> None:
    """With fewer answers than candidates some items are never looked at, and with several options, of which each
    answer tells something, with fewer places than candidates: that may be meant, so it is a warning.
    """
    problem, answers = fold.setup.problem, fold.exploration.limit
    candidates, options = problem.candidates, problem.feedback.options
    if answers < 0 or candidates < 2 or fold.exploration.round > problem.k:
        return
    if answers == 0:
        told = f"no answer, and its pick is drawn by chance; {problem.rounds} answers are one for each round"
    elif options <= 2 and answers < candidates:
        told = (
            f"{answers} answers for {candidates} candidates: some will never be asked about; "
            f"{candidates * problem.rounds} answers are one per candidate and round"
        )
    elif options > 2 and answers * options < candidates:
        told = (
            f"{answers} answers, each to {options} candidates of {candidates}: some will never be shown; "
            f"{-(-candidates // options) * problem.rounds} answers have room for every candidate in each round"
        )
    else:
        return
    told = f"the budget gives the first round {told}"
    heard = _heard.get()
    if heard is None:
        warnings.warn(told, SmallBudget, stacklevel=5)
    else:
        heard.append(told)

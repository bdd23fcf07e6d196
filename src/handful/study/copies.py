"""Questions that others hold for long do not block: somebody who waits is asked the same in a question of their own."""

from __future__ import annotations

from collections.abc import Callable

from handful.study.events import Asked
from handful.study.fold import Fold


def may_have_copy(fold: Fold, worker: str | None) -> bool:
    """Whether somebody is named and holds no question."""
    return worker is not None and not fold.leases.held_by(worker)


def copy_of_held(fold: Fold, worker: str | None, may: Callable[[int], bool]) -> Asked | None:
    """A new question with the content of the one that was held longest, of those that somebody who holds none may have.

    Both answers count, if both come. None where another question may be proposed, or the budget would not cover it.
    """
    if not fold.setup.copies_held or worker is None or not fold.exploration.all_out or not may_have_copy(fold, worker):
        return None
    held = fold.leases.held_longest(fold.exploration.first, worker, may)
    if held is None or (fold.budget is not None and fold.spent >= fold.budget):
        return None
    of = fold.questions
    return Asked(len(of), of.item[held], of.rival[held], worker, of.more_of(held), of.given[held], held)

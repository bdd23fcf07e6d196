"""Places that are left when a study is finished early: they are filled from what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from handful.explorers.board import first_order
from handful.problem import Ints
from handful.study.editions import record
from handful.study.events import RoundClosed

if TYPE_CHECKING:
    from handful.study.fold import Fold

Flags = NDArray[np.bool_]


def can_fill(fold: Fold) -> bool:
    """Whether anything at all is known: an answer, or a prior."""
    return fold.answers > 0 or fold.setup.problem.prior is not None


def fill(fold: Fold, recorded: int | None = None) -> None:
    """Close the open round with the candidate of which the best mean is known.

    A journal may record another one of those that are equal: the first in the list was taken before ties were drawn.
    """
    fold.exploration.catch_up()
    best = _best_known(fold)
    drawn = next(int(i) for i in _order_of(fold) if best[i])
    pick = recorded if recorded is not None and recorded == np.argmax(best) else drawn
    record(fold.exploration.state.board, RoundClosed(fold.exploration.round, "filled", (pick,), pick))


def _order_of(fold: Fold) -> Ints:
    """All items in the order that decides between equals, which says nothing of how they were listed."""
    problem = fold.setup.problem
    return first_order(problem.size, problem.seed)


def _best_known(fold: Fold) -> Flags:
    """Which candidates are of the best mean in the latest round that knows of any, and of those of the best prior."""
    candidates: Flags = fold.exploration.state.board.items["where"] >= 0
    for view in (fold.exploration.view(), *(closed.view for closed in reversed(fold.rounds))):
        known = candidates & np.isfinite(view.mean)
        if known.any():
            candidates = known & (view.mean == view.mean[known].max())
            break
    prior = fold.setup.problem.prior
    if prior is None:
        return candidates
    scores = np.where(candidates, np.array(prior), -np.inf)
    best: Flags = candidates & (scores == scores.max())
    return best

"""Places that are left when a study is finished early: they are filled from what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from handful.study.editions import record
from handful.study.events import RoundClosed

if TYPE_CHECKING:
    from handful.study.fold import Fold


def can_fill(fold: Fold) -> bool:
    """Whether anything at all is known: an answer, or a prior."""
    return fold.answers > 0 or fold.setup.problem.prior is not None


def fill(fold: Fold) -> None:
    """Close the open round with the candidate of which the best mean is known."""
    fold.exploration.catch_up()
    pick = _best_known(fold)
    record(fold.exploration.state.board, RoundClosed(fold.exploration.round, "filled", (pick,), pick))


def _best_known(fold: Fold) -> int:
    """The candidate of best mean in the latest round that knows of any; ties go to the best prior, or to the first."""
    candidates = fold.exploration.state.board.items["where"] >= 0
    for view in (fold.exploration.view(), *(closed.view for closed in reversed(fold.rounds))):
        known = candidates & np.isfinite(view.mean)
        if known.any():
            candidates = known & (view.mean == view.mean[known].max())
            break
    prior = fold.setup.problem.prior
    scores = np.zeros(len(candidates)) if prior is None else np.array(prior)
    return int(np.argmax(np.where(candidates, scores, -np.inf)))

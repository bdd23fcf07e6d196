"""What the tests of studies share: a small world, a clock, and a picture of everything a study knows."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np

from handful import Study
from handful.objectives import Coverage
from handful.study.fold import Fold
from handful.study.replaying import fold_of


def coverage(size: int, seed: int = 1) -> Coverage:
    rng = np.random.default_rng(seed)
    return Coverage(rng.uniform(0, 2, 8), rng.uniform(0, 0.6, (size, 8)))


@dataclass
class Clock:
    """Time that passes when told to."""

    now: float = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


def picture(fold: Fold) -> dict[str, Any]:
    """A copy of everything a fold knows, to the bit."""
    exploration = fold.exploration
    return {
        "arrays": [part.tobytes() for part in exploration.arrays()],
        "before": [part.tobytes() for part in exploration._before],
        "log": exploration._log.tolist(),
        "lines": {about: list(line) for about, line in exploration._lines.by_item.items() if line},
        "too late": list(exploration._too_late),
        "round": (exploration.round, exploration.first, exploration.limit, exploration.budget),
        "withdrawn": sorted(exploration.withdrawn),
        "questions": {n: column.tobytes() for n, column in vars(fold.questions).items() if isinstance(column, array)},
        "workers": {name: list(value) for name, value in vars(fold.workers).items()},
        "leases": (repr(fold.leases._open), list(fold.leases._waiting)),
        "provisional": dict(fold.provisional),
        "rounds": [
            [r.closing, r.questions, r.excluded_by_hand]
            + [part.tobytes() for part in (r.answers, r.view.mean, r.view.lower, r.view.upper)]
            for r in fold.rounds
        ],
        "conducts": repr(fold.conducts._of),
        "shares": {name: list(value) for name, value in vars(fold.shares).items()},
        "flags": (fold.answers, fold.paused, fold.closed, list(fold.doors), fold.certificate, fold.certified),
    }


def live(study: Study) -> dict[str, Any]:
    """What the study in memory knows."""
    return picture(study.fold)


def folded(study: Study) -> dict[str, Any]:
    """What its journal says."""
    return picture(fold_of(study._writer.journal.read)[0])

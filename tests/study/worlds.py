"""What the tests of studies share: a small world, a clock, and a picture of everything a study knows."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np

from handful import Study
from handful.journal import replayed
from handful.objectives import Coverage
from handful.state import State


def coverage(size: int, seed: int = 1) -> Coverage:
    rng = np.random.default_rng(seed)
    return Coverage(rng.uniform(0, 2, 8), rng.uniform(0, 0.6, (size, 8)))


@dataclass
class Clock:
    """Time that passes when told to."""

    now: float = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


def picture(state: State) -> dict[str, Any]:
    """A copy of everything a fold knows, to the bit."""
    exploration = state.exploration
    return {
        "arrays": [part.tobytes() for part in exploration.arrays()],
        "before": [part.tobytes() for part in exploration._before],
        "log": exploration._log.tolist(),
        "lines": {about: list(line) for about, line in exploration._lines.by_item.items() if line},
        "too late": list(exploration._too_late),
        "round": (exploration.round, exploration.first, exploration.limit, exploration.budget),
        "withdrawn": sorted(exploration.withdrawn),
        "questions": {n: column.tobytes() for n, column in vars(state.questions).items() if isinstance(column, array)},
        "workers": {name: list(value) for name, value in vars(state.workers).items()},
        "leases": (repr(state.leases._open), list(state.leases._waiting)),
        "provisional": dict(state.provisional),
        "rounds": [
            [r.closing, r.questions, r.excluded_by_hand]
            + [part.tobytes() for part in (r.answers, r.view.mean, r.view.lower, r.view.upper)]
            for r in state.rounds
        ],
        "conducts": repr(state.conducts._of),
        "shares": {name: list(value) for name, value in vars(state.shares).items()},
        "flags": (state.answers, state.paused, state.closed, list(state.doors), state.certificate, state.certified),
    }


def live(study: Study) -> dict[str, Any]:
    """What the study in memory knows."""
    return picture(study.state)


def folded(study: Study) -> dict[str, Any]:
    """What its journal says."""
    return picture(replayed(study._writer.journal.read)[0])

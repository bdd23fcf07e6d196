"""The paper's yardsticks with exact gains: GREEDY, lazy greedy and RANDOM, for any objective of the core.

Simulations, prices and figures divide by their values. `handful.exact` is for users who can compute their function: it
has constraints, certificates and variants. Here nothing can be set, so that what is measured against stays the same.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.core.checks import whole
from handful.core.draws import ORDER, question_seed
from handful.core.objective import Objective
from handful.errors import InvalidProblem


@dataclass(frozen=True)
class Selection:
    """A set in the order picked, its value, the gain of each pick, and how many gains were evaluated."""

    chosen: tuple[int, ...]
    value: float
    gains: tuple[float, ...]
    evaluations: int


def greedy(objective: Objective, k: int) -> Selection:
    """Exact greedy (Nemhauser, Wolsey, Fisher 1978): the largest gain each time, ties to the lowest index."""
    _check(objective, k)
    progress, evaluations = objective.start(), 0
    gains: list[float] = []
    for _ in range(k):
        now = progress.gains()
        now[list(progress.chosen)] = -np.inf
        best = int(np.argmax(now))
        evaluations += objective.size - len(progress.chosen)
        gains.append(float(now[best]))
        progress.add(best)
    return Selection(progress.chosen, progress.value, tuple(gains), evaluations)


def lazy_greedy(objective: Objective, k: int) -> Selection:
    """The same set with fewer evaluations (Minoux 1978): gains only fall, so an old gain is an upper bound."""
    _check(objective, k)
    progress = objective.start()
    gains: list[float] = []
    heap = [(-float(gain), item, 0) for item, gain in enumerate(progress.gains())]
    heapq.heapify(heap)
    evaluations = len(heap)
    while len(gains) < k:
        bound, item, seen = heap[0]
        if seen == len(gains):
            heapq.heappop(heap)
            gains.append(-bound)
            progress.add(item)
        else:
            heapq.heapreplace(heap, (-progress.gain(item), item, len(gains)))
            evaluations += 1
    return Selection(progress.chosen, progress.value, tuple(gains), evaluations)


def random_set(objective: Objective, k: int, seed: int = 0) -> Selection:
    """RANDOM: k items without looking."""
    _check(objective, k)
    wide: Any = np.uint64(whole("seed", seed, 0))  # compiled code takes a Python int for a signed one
    order = sorted(range(objective.size), key=lambda item: question_seed(wide, ORDER, item))
    progress = objective.start()
    gains: list[float] = []
    for item in order[:k]:
        gains.append(progress.gain(item))
        progress.add(item)
    return Selection(progress.chosen, progress.value, tuple(gains), 0)


def _check(objective: Objective, k: int) -> None:
    whole("k", k, 1)
    if k > objective.size:
        raise InvalidProblem(f"k must lie between 1 and the {objective.size} items there are, got {k}")

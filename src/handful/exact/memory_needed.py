"""What a run will need, told before it starts."""

from __future__ import annotations

import logging

from handful.errors import InvalidProblem
from handful.objectives.machine import free_memory
from handful.problem import Objective

LOG = logging.getLogger("handful.exact")
NOT_WORTH_ASKING = 10_000_000  # bytes that are always there
WORTH_SAYING = 500_000_000
PER_ITEM = 40  # bytes: an upper bound, a cost, and what is drawn or sorted


def estimate_memory(objective: Objective, k: int) -> int:
    """Bytes that picking k items takes, besides what the objective holds already."""
    own = getattr(objective, "memory", None)
    return objective.size * PER_ITEM + (0 if own is None else int(own(k)))


def check_memory(objective: Objective, k: int) -> None:
    """Refuse a run that cannot fit, and say what a large one takes."""
    needed = estimate_memory(objective, k)
    if needed < NOT_WORTH_ASKING:
        return
    free = free_memory()
    if needed > free:
        raise InvalidProblem(
            f"this would take about {needed / 1e9:.1f} GB and {free / 1e9:.1f} GB are free: use float32, represent= "
            "(facility location), or a smaller k"
        )
    if needed > WORTH_SAYING:
        LOG.info("this takes about %.1f GB of memory", needed / 1e9)

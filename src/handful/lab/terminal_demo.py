"""The paper's problem in a terminal: sixty images, a simulated crowd, and what the same budget buys by other means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from handful.core import responses
from handful.core.explorers.registry import Duels, Explorer, TopX, Uniform
from handful.core.feedback import Preferences
from handful.core.greedy import greedy, random_set
from handful.core.problem import Problem
from handful.core.simulate import simulate
from handful.lab.collections import ImageCollection

K = 6
WAYS = 5  # that are simulated


@dataclass(frozen=True)
class ChoosingMethod:
    """One way to choose: what it asked, and how good its choice is, as a share of exact greedy."""

    name: str
    answers: int
    share: float


def compare(
    collection: ImageCollection, budget: int, beta: float, runs: int, progress: Callable[[], None] = lambda: None
) -> list[ChoosingMethod]:
    """Pairs by TopX, UNIFORM and duels, and the best of four by duels, beside RANDOM and exact GREEDY; mean of `runs`.

    The best of four is asked as often as pairs are, and a third as often.
    """
    objective = collection.objective
    best = greedy(objective, K)
    ways: list[tuple[str, Explorer, int, int]] = [
        ("pairs: TopX + Borda (the paper)", TopX(), 2, budget),
        ("pairs: UNIFORM", Uniform(), 2, budget),
        ("pairs: duels", Duels(), 2, budget),
        ("best of 4: duels", Duels(), 4, budget),
        ("best of 4: duels", Duels(), 4, budget // 3),
    ]
    rows = []
    for name, settings, options, asked in ways:
        values = []
        for seed in range(runs):
            problem = Problem(objective.size, K, Preferences(options=options), budget=asked, seed=seed)
            made = simulate(settings.build(problem), objective, responses.btl(beta), K, budget=problem.total)
            values.append(made.value)
            progress()
        rows.append(ChoosingMethod(name, asked, float(np.mean(values)) / best.value))
    chance = [random_set(objective, K, seed).value for seed in range(100)]
    rows.append(ChoosingMethod("RANDOM", 0, float(np.mean(chance)) / best.value))
    rows.append(ChoosingMethod("GREEDY, if f were known", best.evaluations, 1.0))
    return rows

"""What all figures share: Appendix E's collection, the paper's parameters, the algorithms by name, one run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from handful.explorers.registry import Certified, Duels, Explorer, TopX, Uniform, Worth
from handful.images import ImageCollection
from handful.problem import Objective, Preferences, Problem, Total, Values
from handful.responses import btl, uniform
from handful.simulation import Simulation, greedy, random_set, simulate
from handful.venice import venice
from reproduction.cells import CAP, CellRow

N, K, EPSILON, DELTA = 60, 6, 0.1, 0.05

FULL, O, G, UNIFORM, FIXED = "ExpGreedy", "ExpGreedy-O", "ExpGreedy-G", "UNIFORM", "UNIFORM, fixed sample"
GREEDY, RANDOM = "GREEDY", "RANDOM"
CERTIFIED, CHAINED, WORTH, DUELS = "certified", "certified, chain", "worth", "duels"
CHOICES, OPTIONS = "duels, best of 4", 4
OURS = (CERTIFIED, CHAINED, WORTH, DUELS, CHOICES)
EXPLORERS: Mapping[str, Explorer] = {
    FULL: TopX(), O: TopX(variant="O"), G: TopX(variant="G"), UNIFORM: Uniform(), FIXED: Uniform(stop="fixed"),
    CERTIFIED: Certified(), CHAINED: Certified(rule="chain"), WORTH: Worth(), DUELS: Duels(), CHOICES: Duels(),
}  # fmt: skip


@cache
def collection(seed: int = 0) -> ImageCollection:
    """Appendix E's photos; the paper has one collection, `seed` gives others like it."""
    return venice(seed, N)


def values(
    series: str,
    sigma2: float,
    seed: int,
    *,
    objective: Objective | None = None,
    budget: int | None = None,
    rounds: int = K,
    cap: int = CAP,
) -> Simulation:
    """A run on value queries uniform on [μ − σ², μ + σ²], with R = σ²: what the paper calls σ² is a half-width."""
    objective = objective or collection().objective
    total = None if budget is None else Total(budget)
    problem = Problem(objective.size, K, Values(noise=sigma2), epsilon=EPSILON, delta=DELTA, budget=total, seed=seed)
    state = EXPLORERS[series].build(problem)
    return simulate(state, objective, uniform(sigma2), rounds, budget=total, cap=cap)


def comparisons(series: str, beta: float, tau: int, seed: int, budget: int) -> Simulation:
    """A run on Bradley-Terry-Luce comparisons with a budget of comparisons; nobody is told β, so ε_borda = 0."""
    objective = collection().objective
    total = Total(budget)
    problem = Problem(objective.size, K, Preferences(tau=tau), delta=DELTA, budget=total, seed=seed)
    return simulate(EXPLORERS[series].build(problem), objective, btl(beta), K, budget=total)


def budgeted_values(series: str, sigma2: float, budget: float, first: int, count: int) -> list[CellRow]:
    """Utility of runs with `budget` queries per item and iteration."""
    rows: list[CellRow] = []
    for seed in range(first, first + count):
        run = values(series, sigma2, seed, budget=round(budget * N * K))
        rows.append(
            {"series": series, "sigma2": sigma2, "budget": budget, "seed": seed,
             "utility": run.value, "queries": run.answers, "ended": run.rounds[-1].ended}
        )  # fmt: skip
    return rows


def budgeted_comparisons(series: str, beta: float, tau: int, budget: float, first: int, count: int) -> list[CellRow]:
    """Utility of runs with `budget` comparisons per item and iteration (budget/τ queries)."""
    rows: list[CellRow] = []
    for seed in range(first, first + count):
        run = comparisons(series, beta, tau, seed, round(budget * N * K))
        rows.append(
            {"series": series, "beta": beta, "tau": tau, "budget": budget, "seed": seed,
             "utility": run.value, "comparisons": run.answers, "ended": run.rounds[-1].ended}
        )  # fmt: skip
    return rows


@cache
def greedy_value() -> float:
    """GREEDY's utility on the paper's collection."""
    return greedy(collection().objective, K).value


@cache
def random_value() -> float:
    """RANDOM's utility on the paper's collection, over 2,000 draws."""
    return float(np.mean([random_set(collection().objective, K, seed).value for seed in range(2000)]))

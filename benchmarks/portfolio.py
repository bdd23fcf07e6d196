"""A portfolio of models scored query by query: a study beside sample average, at the same number of calls.

python -m benchmarks.portfolio [--models 100] [--pick 5] [--seeds 10] [--queries 5 20]

A query is of one of twenty kinds, and a model has a skill for each kind. Graded: a score is the skill, drawn from a
Beta(1, 3), plus normal noise of 0.15, cut to 0 to 1. Right or wrong: a score is 1 with probability 0.9 for about three
kinds and 0.1 to 0.3 for the others, else 0. f(S) is the mean of the best score in S. A call is one model on one query.
Sample average calls all models on some queries and picks by greedy; a study gets as many calls.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from handful import Study, Values
from handful.errors import BetterTool, SmallBudget
from handful.objectives import SampleAverage
from handful.oracles import Portfolio
from handful.simulation import lazy_greedy

KINDS, TESTED = 20, 20_000


class World:
    """Models, each with its skill for each kind of query."""

    def __init__(self, models: int, graded: bool, seed: int) -> None:
        rng = np.random.default_rng(seed)
        few = rng.random((models, KINDS)) < 0.15
        self._graded = graded
        self._skill = (
            rng.beta(1, 3, (models, KINDS)) if graded else np.where(few, 0.9, 0.1 + 0.2 * rng.random((models, 1)))
        )
        self._known: dict[int, np.ndarray] = {}

    def score(self, model: int, seed: int) -> float:
        """The score of a model on the query of this seed."""
        if seed not in self._known:
            rng = np.random.default_rng(seed)
            self._known[seed] = self._scores(self._skill[:, int(rng.integers(KINDS))], rng)
        return float(self._known[seed][model])

    def share(self, models: tuple[int, ...]) -> float:
        """f of these models, over many other queries."""
        skill = np.repeat(self._skill[list(models)], TESTED // KINDS, axis=1)
        return float(self._scores(skill, np.random.default_rng(0)).max(axis=0).mean())

    def _scores(self, skill: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if self._graded:
            return np.clip(skill + 0.15 * rng.normal(size=skill.shape), 0, 1)
        return (rng.random(skill.shape) < skill).astype(float)


def by_sample_average(world: World, models: int, k: int, queries: int, seed: int) -> tuple[float, int]:
    """What greedy on so many stored queries reaches, and its calls."""
    portfolio = Portfolio(world.score)
    drawn = [int(s) for s in np.random.SeedSequence(seed).generate_state(queries, np.uint64) >> np.uint64(1)]
    picked = lazy_greedy(SampleAverage.of(portfolio.value, drawn, models), k).chosen
    return world.share(tuple(picked)), portfolio.calls


def by_study(world: World, models: int, k: int, calls: int, seed: int, scenarios: str) -> tuple[float, int]:
    """What a study reaches whose answers need about so many calls, and these."""
    share, used, budget = 0.0, 0, calls
    for _ in range(4):  # how many answers these calls are worth is found by trying
        portfolio = Portfolio(world.score)
        study = Study(range(models), k, feedback=Values(), budget=budget, seed=seed, scenarios=scenarios)  # type: ignore[arg-type]
        share, used = world.share(study.run(portfolio).chosen), portfolio.calls
        if abs(used - calls) < 0.03 * calls:
            break
        budget = max(k, round(budget * calls / used))
    return share, used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--pick", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--queries", type=int, nargs="+", default=[5, 20])
    options = parser.parse_args()
    warnings.simplefilter("ignore", BetterTool)
    warnings.simplefilter("ignore", SmallBudget)
    n, k = options.models, options.pick
    print("scores | calls | sample average | study, fresh: f (calls) | study, paired: f (calls)")
    for graded, queries in [(graded, queries) for graded in (True, False) for queries in options.queries]:
        worlds = [World(n, graded, seed) for seed in range(options.seeds)]
        stored = [by_sample_average(world, n, k, queries, seed) for seed, world in enumerate(worlds)]
        row = [f"{'graded' if graded else 'right or wrong'} | {n * queries:,} | {np.mean(stored, axis=0)[0]:.3f}"]
        for scenarios in ("fresh", "paired"):
            found = [by_study(world, n, k, n * queries, seed, scenarios) for seed, world in enumerate(worlds)]
            share, calls = np.mean(found, axis=0)
            row.append(f"{share:.3f} ({calls:,.0f})")
        print(" | ".join(row), flush=True)


if __name__ == "__main__":
    main()

"""Values of many items under a small budget: `worth` beside sequential halving and KL-UCB."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from benchmarks.answers.runs import BenchPlan, Run, RunOutcome, World
from benchmarks.answers.targets import Figure, advantage, group, mean_quality
from benchmarks.rivals import KLUCB, Halving
from handful.explorers.protocol import Explorer
from handful.explorers.registry import Worth
from handful.problem import Total, Values
from handful.responses import Response, bernoulli, gaussian, ratings, student

SPENDING = "many items under a budget"

K = 10
BUDGETS = ((5_000, 1), (5_000, 2), (5_000, 5), (200, 5))  # items, answers per item in all
WORLDS: tuple[World, ...] = ("modular", "diverse")
ANSWERS: dict[str, tuple[Response, float, float]] = {  # and the range that KL-UCB is told; none where they are equal
    "normal": (gaussian(0.5), 0.0, 0.0),
    "heavy-tailed": (student(0.3), 0.0, 0.0),
    "0 or 1": (bernoulli(0.0, 1.0), 0.0, 1.0),
    "1 to 5": (ratings(1.0), 1.0, 5.0),
}


def spending_runs(plan: BenchPlan) -> Iterator[Run]:
    """The same functions, seeds and budgets for all three."""
    for (size, each), world, (name, (response, low, high)) in product(BUDGETS, WORLDS, ANSWERS.items()):
        explorers: tuple[Explorer, ...] = (Worth(), Halving(), KLUCB(low, high))
        for instance, seed, explorer in product(plan.instance_seeds(), range(plan.spending), explorers):
            yield Run(
                f"{explorer.name}|{name}",
                explorer,
                Values(),
                response,
                instance,
                seed,
                size=size,
                k=K,
                budget=Total(each * size),
                world=world,
            )


def spending_figures(outcomes: Sequence[RunOutcome]) -> Iterator[Figure]:
    """By how much `worth` is better than the better of the other two, in each cell and on average."""
    means = []
    cells = group(outcomes, lambda o: (o.run.size, o.run.budget, o.run.world, o.run.series.partition("|")[2]))
    for (size, budget, world, answers), some in cells.items():
        series = group(some, lambda o: o.run.explorer.name)
        ours, theirs = series.pop(Worth.name), max(series.values(), key=mean_quality)
        mean, least = advantage(ours, theirs)
        means.append(mean)
        assert isinstance(budget, Total)
        what = f"N = {size:,}, {budget.answers // size} answers per item, {world}, {answers}"
        note = ", ".join(f"{name} {mean_quality(these):.3f}" for name, these in series.items())
        yield Figure(SPENDING, f"{what}: f", mean_quality(ours), "f/greedy", note=note)
        yield Figure(SPENDING, f"{what}: more than the better of both", mean, "f/greedy", "≥", -0.005)
        yield Figure(SPENDING, f"{what}: lower 95% limit", least, "f/greedy", "≥", -0.01)
    yield Figure(SPENDING, "all cells: more than the better of both", float(np.mean(means)), "f/greedy", "≥", 0.0)

"""Choices: how many screens of four save beside screens of two, by Luce's model and with people who differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from handful.core.budget import PerItem
from handful.core.explorers.registry import Duels
from handful.core.feedback import Preferences
from handful.core.responses import Response, btl, tastes
from handful.lab.bench.plans import BenchPlan
from handful.lab.bench.runs import Run, RunOutcome
from handful.lab.bench.targets import CurvePoint, Figure, cost_of, curve, group
from handful.lab.collections.tastes import PEOPLE

CHOICES = "choices among four for 0.95·greedy"

GOOD = 0.95
OPTIONS = (2, 4)
CROWDS: dict[str, tuple[Response, int, float]] = {  # how they answer, how many differ, how many times fewer is the aim
    "β = 2": (btl(2.0), 0, 1.8),
    "β = 10": (btl(10.0), 0, 2.0),
    "people with tastes": (tastes(), PEOPLE, 4.0),
}
SCREENS = (0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0, 32.0)  # per item and round


def choice_runs(plan: BenchPlan) -> Iterator[Run]:
    """Duels with two and with four options, over budgets."""
    for (crowd, (response, people, _)), options in product(CROWDS.items(), OPTIONS):
        for instance, seed, screens in product(plan.instance_seeds(), range(plan.duels), SCREENS):
            yield Run(
                f"{crowd}|{options}",
                Duels(),
                Preferences(options=options),
                response,
                instance,
                seed,
                budget=PerItem(screens),
                people=people,
            )


def choice_curves(outcomes: Sequence[RunOutcome], crowd: str) -> dict[str, list[CurvePoint]]:
    """Quality against screens per item and round."""
    series = group(outcomes, lambda o: o.run.series)
    return {f"best of {options}": curve(series[f"{crowd}|{options}"]) for options in OPTIONS}


def choice_figures(outcomes: Sequence[RunOutcome]) -> Iterator[Figure]:
    """Screens per item and round for f = 0.95·greedy, and how many times fewer."""
    for crowd, (_, _, aim) in CROWDS.items():
        costs = {name: cost_of(points, GOOD) for name, points in choice_curves(outcomes, crowd).items()}
        for name, cost in costs.items():
            yield Figure(CHOICES, f"{crowd}, {name}: screens per item and round", cost, "")
        factor = costs["best of 2"] / costs["best of 4"]
        yield Figure(CHOICES, f"{crowd}, best of 4: fewer than best of 2", factor, "×", "≥", aim)

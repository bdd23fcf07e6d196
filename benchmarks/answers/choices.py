"""Choices: how many screens of four save beside screens of two, by Luce's model and with people who differ.

And what early stopping saves where a leader is clear, and what one person with a taste reaches in sixty screens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from benchmarks.answers.runs import PEOPLE, BenchPlan, Run, RunOutcome, World
from benchmarks.answers.targets import CurvePoint, Figure, cost_of, curve, group, mean_answers, mean_quality
from handful.explorers.registry import Duels, TopX
from handful.problem import PerItem, Preferences, Total
from handful.responses import Response, btl, tastes

CHOICES = "choices among four for 0.95·greedy"
ALONE = "one person with a taste of their own, 100 photos"
STOPPING = "rounds that end when they are decided"

GOOD = 0.95
OPTIONS = (2, 4)
CROWDS: dict[str, tuple[Response, int, float, float]] = {  # answers, people, how many times fewer than pairs, than topx
    "β = 2": (btl(2.0), 0, 1.8, 18.0),
    "β = 10": (btl(10.0), 0, 2.0, 35.0),
    "people with tastes": (tastes(), PEOPLE, 4.0, 60.0),
}
SCREENS = (0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0)  # per item and round,
MORE_SCREENS = (16.0, 32.0)  # and where people differ
BORDA_SCREENS = (2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0)
TAUS = (1, 3)

PERSON_SCREENS = (40, 60, 80, 100, 120)  # of 100 photos
SURE, CLEAR = 0.9, 3.0  # and the answers per item and round that may be spent
_WORLDS: tuple[World, ...] = ("clear", "album")
STOPS = tuple(product(_WORLDS, OPTIONS))


def choice_runs(plan: BenchPlan) -> Iterator[Run]:
    """Duels with two and with four options, and the paper's Borda TopX, over budgets."""
    for crowd, (response, people, _, _) in CROWDS.items():
        for instance, seed in product(plan.instance_seeds(), range(plan.duels)):
            for options, screens in product(OPTIONS, SCREENS + MORE_SCREENS if people else SCREENS):
                name, known, budget = f"{crowd}|best of {options}", Preferences(options=options), PerItem(screens)
                yield Run(name, Duels(), known, response, instance, seed, budget=budget, people=people)
            for tau, screens in product(TAUS, BORDA_SCREENS):
                name, known, budget = f"{crowd}|topx, τ = {tau}", Preferences(tau=tau), PerItem(screens)
                yield Run(name, TopX(), known, response, instance, seed, budget=budget, people=people)


def choice_curves(outcomes: Sequence[RunOutcome], crowd: str) -> dict[str, list[CurvePoint]]:
    """Quality against screens per item and round."""
    series = group(outcomes, lambda o: o.run.series)
    return {name.split("|")[1]: curve(some) for name, some in series.items() if name.split("|")[0] == crowd}


def choice_figures(outcomes: Sequence[RunOutcome]) -> Iterator[Figure]:
    """Screens per item and round for f = 0.95·greedy, and how many times fewer."""
    for crowd, (_, _, than_pairs, than_topx) in CROWDS.items():
        curves = choice_curves(outcomes, crowd)
        costs = {name: cost_of(points, GOOD) for name, points in curves.items()}
        for name, cost in costs.items():
            most = max(point.quality for point in curves[name])
            what = f"{crowd}, {name}: screens per item and round"
            yield Figure(CHOICES, what, cost, "", note="" if cost < float("inf") else f"at most {most:.3f}")
        ours = costs["best of 4"]
        yield Figure(
            CHOICES, f"{crowd}, best of 4: fewer than best of 2", costs["best of 2"] / ours, "×", "≥", than_pairs
        )
        borda = min(costs[f"topx, τ = {tau}"] for tau in TAUS)
        yield Figure(CHOICES, f"{crowd}, best of 4: fewer than topx", borda / ours, "×", "≥", than_topx)


def person_runs(plan: BenchPlan) -> Iterator[Run]:
    """The best six of 100 photos for one person who wants their own topics and is sure of it; fifty persons or more."""
    for instance, screens in product(plan.instance_seeds(max(50, plan.instances)), PERSON_SCREENS):
        known, budget = Preferences(options=4), Total(screens)
        yield Run(f"{screens}", Duels(), known, tastes(), instance, 0, size=100, budget=budget, people=1)


def person_figures(outcomes: Sequence[RunOutcome]) -> Iterator[Figure]:
    """Mean f of that person, by how many screens of four they answer in all."""
    for screens, some in group(outcomes, lambda o: o.run.series).items():
        what = f"{screens} screens of four: mean f"
        if screens == "60":
            yield Figure(ALONE, what, mean_quality(some), "f/greedy", "≥", 0.93, f"{len(some)} persons")
        else:
            yield Figure(ALONE, what, mean_quality(some), "f/greedy", note=f"{len(some)} persons")


def stopping_runs(plan: BenchPlan) -> Iterator[Run]:
    """The same budget, spent or kept, by sharp people: where every round has a clear leader, and in albums."""
    for (world, options), sure in product(STOPS, (None, SURE)):
        for instance, seed in product(plan.instance_seeds(), range(plan.duels)):
            name, known, budget = f"{world}|{options}|{sure}", Preferences(options=options), PerItem(CLEAR)
            yield Run(name, Duels(sure=sure), known, btl(10.0), instance, seed, budget=budget, world=world)


def stopping_figures(outcomes: Sequence[RunOutcome]) -> Iterator[Figure]:
    """What is kept of the budget, and what that costs in f."""
    series = group(outcomes, lambda o: o.run.series)
    for world, options in STOPS:
        full, ended = series[f"{world}|{options}|None"], series[f"{world}|{options}|{SURE}"]
        name = f"{world}, best of {options}, β = 10, sure = {SURE:g}"
        kept = 1.0 - mean_answers(ended) / mean_answers(full)
        lost = mean_quality(full) - mean_quality(ended)
        if world == "clear":
            yield Figure(STOPPING, f"{name}: share of answers kept", kept, "share", "≥", 0.25)
        else:
            yield Figure(STOPPING, f"{name}: share of answers kept", kept, "share")
        yield Figure(STOPPING, f"{name}: f lost", lost, "f/greedy", "≤", 0.005)

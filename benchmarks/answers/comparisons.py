"""Comparisons: duels beside the Borda TopX, for other links, many in flight, one person; and what a prior is worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from benchmarks.answers.runs import BenchPlan, Prior, Run, RunOutcome
from benchmarks.answers.targets import (
    CurvePoint,
    Figure,
    advantage,
    cost_of,
    curve,
    group,
    mean_answers,
    mean_fewest,
    mean_quality,
)
from handful.explorers.registry import Certified, Duels, TopX
from handful.problem import PerItem, Preferences, Total, Values
from handful.responses import Response, btl, linear, saturating, uniform

SAVING = "comparisons for 0.95·greedy"
LINKS = "comparisons, other links"
FLIGHT = "comparisons in flight, one person"
PRIOR = "a prior"

GOOD = 0.95
SAVINGS = {2.0: 8.0, 10.0: 10.0}  # β: how many times fewer are aimed at
BORDA_PER_ITEM = (2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 25.0, 35.0, 50.0)
DUELS_PER_ITEM = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0)
TAUS = (1, 3)

CROWDS: dict[str, Response] = {
    "btl": btl(2.0),
    "careless": btl(2.0, careless=0.1),
    "linear": linear(2.0),
    "saturating": saturating(2.0),
}
LINK_PER_ITEM = {60: (1.0, 3.0, 10.0, 30.0), 300: (1.0, 3.0, 10.0)}
FLIGHT_PER_ITEM = (1.0, 3.0, 10.0)
PERSON = Total(150)


def saving_runs(plan: BenchPlan) -> Iterator[Run]:
    """Duels and Borda TopX over budgets."""
    for beta in SAVINGS:
        for instance, seed in product(plan.instance_seeds(), range(plan.duels)):
            for tau, per_item in product(TAUS, BORDA_PER_ITEM):
                name, known = f"{beta:g}|topx, τ = {tau}", Preferences(tau=tau)
                yield Run(name, TopX(), known, btl(beta), instance, seed, budget=PerItem(per_item))
            for per_item in DUELS_PER_ITEM:
                budget = PerItem(per_item)
                yield Run(f"{beta:g}|duels", Duels(), Preferences(), btl(beta), instance, seed, budget=budget)


def saving_curves(outcomes: Sequence[RunOutcome], beta: float) -> dict[str, list[CurvePoint]]:
    """Quality against comparisons per item and round."""
    series = group(outcomes, lambda o: o.run.series)
    return {name: curve(series[f"{beta:g}|{name}"]) for name in (*(f"topx, τ = {tau}" for tau in TAUS), "duels")}


def saving_figures(outcomes: Sequence[RunOutcome]) -> Iterator[Figure]:
    """Comparisons per item and round for f = 0.95·greedy."""
    for beta, aim in SAVINGS.items():
        costs = {name: cost_of(points, GOOD) for name, points in saving_curves(outcomes, beta).items()}
        for name, cost in costs.items():
            yield Figure(SAVING, f"β = {beta:g}, {name}: comparisons per item and round", cost, "")
        factor = min(costs[f"topx, τ = {tau}"] for tau in TAUS) / costs["duels"]
        yield Figure(SAVING, f"β = {beta:g}, duels: fewer than topx", factor, "×", "≥", aim)


def link_runs(plan: BenchPlan) -> Iterator[Run]:
    """The same instances, seeds and budgets for both."""
    for link, size in product(plan.links, plan.sizes):
        for per_item in LINK_PER_ITEM[size]:
            budget = PerItem(per_item)
            for instance, seed in product(plan.instance_seeds(), range(1 if size > 60 else 6)):
                crowd = CROWDS[link]
                for tau in TAUS:
                    known = Preferences(tau=tau)
                    yield Run(f"{link}|topx, τ = {tau}", TopX(), known, crowd, instance, seed, size=size, budget=budget)
                known = Preferences()
                yield Run(f"{link}|duels", Duels(), known, crowd, instance, seed, size=size, budget=budget)


def link_figures(outcomes: Sequence[RunOutcome]) -> Iterator[Figure]:
    """The lower 95% limit of duels' advantage over the better τ."""
    for (link, size, budget), some in group(
        outcomes, lambda o: (o.run.series.split("|")[0], o.run.size, o.run.budget)
    ).items():
        series = group(some, lambda o: o.run.series)
        theirs = max((series[f"{link}|topx, τ = {tau}"] for tau in TAUS), key=mean_quality)
        mean, least = advantage(series[f"{link}|duels"], theirs)
        assert isinstance(budget, PerItem)
        what = f"{link}, N = {size}, duels' advantage, lower 95% limit: {budget.answers:g} per item and round"
        yield Figure(LINKS, what, least, "f/greedy", "≥", -0.01, f"mean {mean:+.3f}")


def flight_runs(plan: BenchPlan) -> Iterator[Run]:
    """One or a hundred in flight at β = 2; and one person of β = 10 who answers 150 times."""
    for instance, seed in product(plan.instance_seeds(), range(plan.duels)):
        for per_item, in_flight in product(FLIGHT_PER_ITEM, (1, 100)):
            yield Run(
                f"{per_item:g}|{in_flight}",
                Duels(),
                Preferences(),
                btl(2.0),
                instance,
                seed,
                budget=PerItem(per_item),
                in_flight=in_flight,
            )
    for instance, seed in product(plan.instance_seeds(), range(plan.people)):
        yield Run("person", Duels(), Preferences(), btl(10.0), instance, seed, budget=PERSON)


def flight_figures(outcomes: Sequence[RunOutcome]) -> Iterator[Figure]:
    """What a hundred in flight cost, and what one person reaches."""
    series = group(outcomes, lambda o: o.run.series)
    for per_item in FLIGHT_PER_ITEM:
        loss = 1.0 - mean_quality(series[f"{per_item:g}|100"]) / mean_quality(series[f"{per_item:g}|1"])
        what = f"β = 2, 100 in flight, share of f lost: {per_item:g} per item and round"
        yield Figure(FLIGHT, what, loss, "share", "≤", 0.05)
    one = mean_quality(series["person"])
    yield Figure(FLIGHT, f"one person, β = 10, {PERSON.answers} comparisons: mean f", one, "f/greedy", "≥", GOOD)


SCORED: tuple[Prior, ...] = ("none", "right", "opposite", "random")


def prior_runs(plan: BenchPlan) -> Iterator[Run]:
    """Scores that are the gains of the first round, their opposite, or nothing but chance."""
    for instance, seed in product(plan.instance_seeds(), range(plan.duels)):
        for prior, per_item in product(SCORED, FLIGHT_PER_ITEM):
            budget = PerItem(per_item)
            series = f"duels|{per_item:g}|{prior}"
            yield Run(series, Duels(), Preferences(), btl(2.0), instance, seed, budget=budget, prior=prior)
    for instance, seed in product(plan.instance_seeds(), range(plan.proofs)):
        for prior in SCORED:
            noise = uniform(0.5)
            series = f"certified|{prior}"
            yield Run(series, Certified(), Values(noise=0.5), noise, instance, seed, epsilon=0.1, prior=prior)


def prior_figures(outcomes: Sequence[RunOutcome]) -> Iterator[Figure]:
    """What a prior changes."""
    series = group(outcomes, lambda o: o.run.series)
    for per_item, prior in product(FLIGHT_PER_ITEM, SCORED):
        what = f"duels, β = 2, {per_item:g} per item and round, prior: {prior}"
        yield Figure(PRIOR, what, mean_quality(series[f"duels|{per_item:g}|{prior}"]), "f/greedy")
    for prior in SCORED:
        some = series[f"certified|{prior}"]
        what = f"certified, half-width 0.5, prior: {prior}"
        fewest, times = mean_fewest(some), mean_answers(some) / mean_fewest(some)
        note = f"{prior}: mean f {mean_quality(some):.3f}, clairvoyant {fewest:,.0f}, of the clairvoyant {times:.1f}×"
        yield Figure(PRIOR, what, mean_answers(some), "answers", note=note)

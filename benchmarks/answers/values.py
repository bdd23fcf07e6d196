"""Values: answers needed for the guarantee, in a known range and with many items too, and quality under a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.answers.runs import BenchPlan, Run, RunOutcome
from benchmarks.answers.targets import (
    CurvePoint,
    Figure,
    better,
    cost_of,
    curve,
    group,
    mean_answers,
    mean_fewest,
    mean_quality,
)
from handful.explorers.registry import Certified, Explorer, Sharp, TopX, Uniform, Worth
from handful.problem import PerItem, Values
from handful.responses import uniform

GUARANTEE = "answers for the guarantee"
RANGE = "a known range"
MANY = "many items"
BUDGET = "values under a budget"

FAITHFUL = "topx (faithful)"
AUDIT = "certified, audit"
QUICK = "certified, audit, near=0.03"
PROVERS: dict[str, Explorer] = {
    FAITHFUL: TopX(),
    "sharp": Sharp(),
    "certified, plain": Certified(rule="plain"),
    "certified, chain": Certified(rule="chain"),
    "certified, bank": Certified(rule="bank"),
    AUDIT: Certified(),
    QUICK: Certified(near=0.03),
}
FEWER = {"sharp": 5.0, "certified, plain": 4.0, "certified, bank": 30.0, AUDIT: 300.0, QUICK: 400.0}
QUALITY = {"certified, plain": 0.99, "certified, bank": 0.97, AUDIT: 0.99, QUICK: 0.98}
HALF_WIDTHS = (0.1, 0.5, 1.0)
AIMED_AT = (0.5, 1.0)

RANGED: dict[str, Explorer] = {
    "sharp": Sharp(),
    "certified, chain": Certified(rule="chain"),
    "certified, audit": Certified(),
}
LOW, HIGH = -1.0, 3.0  # what is known of answers, for any half-width below

CROWDED = {1_000: (0.02, "≤", 0.1), 10_000: (0.1, "≤", 0.25)}  # N: half-width, and what share of N·k is aimed at

ENDINGS: dict[str, Explorer] = {
    "topx, best mean": TopX(out_of_budget="best-mean"),
    "topx, smallest gap": TopX(out_of_budget="smallest-gap"),
}
PER_ITEM = (5.0, 10.0, 20.0, 50.0, 100.0)
WORTH_PER_ITEM = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 25.0, 50.0, 100.0)


def guarantee_runs(plan: BenchPlan) -> Iterator[Run]:
    """ε = 0.1, N = 60, k = 6."""
    for half_width in HALF_WIDTHS:
        for name, explorer in PROVERS.items():
            for instance in plan.instance_seeds():
                for seed in range(plan.proofs):
                    series = f"{half_width:g}|{name}"
                    known, noise = Values(noise=half_width), uniform(half_width)
                    yield Run(series, explorer, known, noise, instance, seed, epsilon=0.1)


def guarantee_figures(outcomes: Sequence[RunOutcome]) -> Iterator[Figure]:
    """Answers, how many times fewer than faithful TopX, and f over greedy's on average and at worst."""
    series = group(outcomes, lambda o: o.run.series)
    for half_width in HALF_WIDTHS:
        aimed = half_width in AIMED_AT
        reference = mean_answers(series[f"{half_width:g}|{FAITHFUL}"])
        for name in PROVERS:
            some = series[f"{half_width:g}|{name}"]
            what = f"half-width {half_width:g}, {name}"
            unproved = sum(not o.shown for o in some)
            note = f"{unproved} of {len(some)} runs not proved" if unproved else ""
            yield Figure(GUARANTEE, what, mean_answers(some), "answers", note=note)
            yield from limit_figures(GUARANTEE, what, some)
            if name in (AUDIT, QUICK):
                proof, limit = float(np.mean([o.proof for o in some])), 2.5 if aimed else None
                yield Figure(GUARANTEE, f"{what}: proof over clairvoyant", proof / mean_fewest(some), "×")
                times = proof / float(np.mean([o.fewest_from_first for o in some]))
                yield Figure(GUARANTEE, f"{what}: proof over one from ∅", times, "×", "≤" if limit else "", limit)
            if name != FAITHFUL:
                fewer = FEWER.get(name) if aimed else None
                ratio = reference / mean_answers(some)
                yield Figure(GUARANTEE, f"{what}: fewer than topx", ratio, "×", "≥" if fewer else "", fewer)
            good = QUALITY.get(name) if aimed else None
            yield Figure(GUARANTEE, f"{what}: mean f", mean_quality(some), "f/greedy", "≥" if good else "", good)
            yield Figure(GUARANTEE, f"{what}: least f", min(o.quality for o in some), "f/greedy")


def limit_figures(section: str, what: str, outcomes: Sequence[RunOutcome]) -> Iterator[Figure]:
    """What somebody who knows f would have asked, and how many times as much was asked."""
    yield Figure(section, f"{what}: clairvoyant", mean_fewest(outcomes), "answers")
    yield Figure(section, f"{what}: of the clairvoyant", mean_answers(outcomes) / mean_fewest(outcomes), "×")


def range_runs(plan: BenchPlan) -> Iterator[Run]:
    """Answers are known to lie between LOW and HIGH, however little they vary; or half of that is taken for R."""
    for half_width in HALF_WIDTHS:
        for name, explorer in RANGED.items():
            for known in (Values(range=(LOW, HIGH)), Values(noise=0.5 * (HIGH - LOW))):
                for instance in plan.instance_seeds():
                    series = f"{half_width:g}|{name}|{known.range is not None}"
                    yield Run(series, explorer, known, uniform(half_width), instance, 0, epsilon=0.1)


def range_figures(outcomes: Sequence[RunOutcome]) -> Iterator[Figure]:
    """Answers, and how many times fewer than with half the range for R."""
    series = group(outcomes, lambda o: o.run.series)
    for half_width in HALF_WIDTHS:
        for name in RANGED:
            some, others = (series[f"{half_width:g}|{name}|{known}"] for known in (True, False))
            what = f"half-width {half_width:g}, answers from {LOW:g} to {HIGH:g}, {name}"
            yield Figure(RANGE, what, mean_answers(some), "answers")
            yield from limit_figures(RANGE, what, some)
            ratio = mean_answers(others) / mean_answers(some)
            yield Figure(RANGE, f"{what}: fewer than with R = {0.5 * (HIGH - LOW):g}", ratio, "×", "≥", 1.0)
            yield Figure(RANGE, f"{what}: mean f", mean_quality(some), "f/greedy")


def many_runs(plan: BenchPlan) -> Iterator[Run]:
    """k = 20, ε = 0.05·f(greedy)."""
    for size, (half_width, _, _) in CROWDED.items():
        for instance in plan.instance_seeds(plan.many):
            known, noise = Values(noise=half_width), uniform(half_width)
            yield Run(f"{size}", Certified(), known, noise, instance, 0, size=size, k=20, epsilon_share=0.05)


def many_figures(outcomes: Sequence[RunOutcome]) -> Iterator[Figure]:
    """Answers as a share of N·k."""
    for size, (half_width, sense, aim) in CROWDED.items():
        some = [o for o in outcomes if o.run.size == size]
        what = f"N = {size:,}, half-width {half_width:g}, certified"
        share = mean_answers(some) / (size * some[0].run.k)
        unproved = sum(not o.shown for o in some)
        note = f"{unproved} of {len(some)} runs not proved" if unproved else ""
        assert sense in ("≤", "<")
        yield Figure(MANY, f"{what}: answers over N·k", share, "share", sense, aim, note)  # type: ignore[arg-type]
        yield from limit_figures(MANY, what, some)
        yield Figure(MANY, f"{what}: mean f", mean_quality(some), "f/greedy", "≥", 0.98)


def budget_runs(plan: BenchPlan) -> Iterator[Run]:
    """No knowledge of the noise for worth; R for the others, who do not work without."""
    for half_width in plan.half_widths:
        known, noise = Values(noise=half_width), uniform(half_width)
        for name, explorer, budgets in (
            *((name, explorer, PER_ITEM) for name, explorer in ENDINGS.items()),
            ("uniform", Uniform(), PER_ITEM),
            ("worth", Worth(), WORTH_PER_ITEM),
        ):
            for per_item in budgets:
                for instance in plan.instance_seeds():
                    for seed in range(plan.repeats):
                        feedback = Values() if name == "worth" else known
                        budget = PerItem(per_item)
                        series = f"{half_width:g}|{name}"
                        yield Run(series, explorer, feedback, noise, instance, seed, budget=budget)


def budget_curves(outcomes: Sequence[RunOutcome], half_width: float) -> dict[str, list[CurvePoint]]:
    """Quality against budget, for TopX the better of its two endings."""
    series = group(outcomes, lambda o: o.run.series)
    curves = {name: curve(series[f"{half_width:g}|{name}"]) for name in (*ENDINGS, "uniform", "worth")}
    return {
        "topx": better(*(curves[name] for name in ENDINGS)),
        "uniform": curves["uniform"],
        "worth": curves["worth"],
    }


def budget_figures(outcomes: Sequence[RunOutcome], plan: BenchPlan) -> Iterator[Figure]:
    """How many times fewer answers worth needs for the same f, at every budget of the others."""
    for half_width in plan.half_widths:
        curves = budget_curves(outcomes, half_width)
        for name, aim in (("topx", 3.0), ("uniform", 4.0)):
            for point in curves[name]:
                factor = point.per_item / cost_of(curves["worth"], point.quality)
                what = f"half-width {half_width:g}, {point.per_item:g} per item and round: fewer than {name}"
                yield Figure(BUDGET, what, factor, "×", "≥", aim, f"{name}: f = {point.quality:.3f}")

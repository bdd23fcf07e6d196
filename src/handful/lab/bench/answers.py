"""All sections of the benchmark: what to run, and the figures that come of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from handful.lab.bench import calibration, choices, comparisons, spending, values
from handful.lab.bench.plans import FULL, BenchPlan
from handful.lab.bench.runs import Run, RunOutcome, perform_all
from handful.lab.bench.targets import CurvePoint, Figure

Advance = Callable[[str, int, int], object]  # section, runs done since, runs in all


@dataclass(frozen=True)
class BenchReport:
    """The figures, and the curves for the picture: by panel title, then by name."""

    figures: tuple[Figure, ...]
    curves: dict[str, dict[str, list[CurvePoint]]]

    @property
    def missed(self) -> tuple[Figure, ...]:
        """Figures that do not reach their target."""
        return tuple(f for f in self.figures if f.met is False)

    @property
    def unjudged(self) -> tuple[Figure, ...]:
        """Figures with a target of which too few runs were made to say whether it is reached."""
        return tuple(f for f in self.figures if f.target is not None and not f.judged)


def sections(plan: BenchPlan) -> dict[str, tuple[Iterable[Run], Callable[[Sequence[RunOutcome]], Iterable[Figure]]]]:
    """The sections by name: the runs of each, and the function that reads figures from them."""
    return {
        values.GUARANTEE: (values.guarantee_runs(plan), values.guarantee_figures),
        values.RANGE: (values.range_runs(plan), values.range_figures),
        values.MANY: (values.many_runs(plan), values.many_figures),
        values.BUDGET: (values.budget_runs(plan), lambda o: values.budget_figures(o, plan)),
        spending.SPENDING: (spending.spending_runs(plan), spending.spending_figures),
        comparisons.SAVING: (comparisons.saving_runs(plan), comparisons.saving_figures),
        choices.CHOICES: (choices.choice_runs(plan), choices.choice_figures),
        choices.ALONE: (choices.person_runs(plan), choices.person_figures),
        choices.STOPPING: (choices.stopping_runs(plan), choices.stopping_figures),
        calibration.CALIBRATION: (calibration.calibration_runs(plan), calibration.calibration_figures),
        comparisons.LINKS: (comparisons.link_runs(plan), comparisons.link_figures),
        comparisons.FLIGHT: (comparisons.flight_runs(plan), comparisons.flight_figures),
        comparisons.PRIOR: (comparisons.prior_runs(plan), comparisons.prior_figures),
    }


def bench(plan: BenchPlan, processes: int, advance: Advance, only: Sequence[str] = ()) -> BenchReport:
    """Run the sections (all, or those that `only` names) and read the figures. Targets are judged where there are at
    least half as many runs as in full.
    """
    full = sections(FULL)
    figures: list[Figure] = []
    curves: dict[str, dict[str, list[CurvePoint]]] = {}
    for name, (runs, read) in sections(plan).items():
        if only and name not in only:
            continue
        todo = list(runs)
        total = len(todo)
        outcomes = perform_all(todo, processes, lambda done, name=name, total=total: advance(name, done, total))  # type: ignore[misc]
        judged = 2 * fewest_runs(todo) >= fewest_runs(full[name][0])
        figures.extend(replace(figure, judged=judged) for figure in read(outcomes))
        if name == values.BUDGET:
            for half_width in plan.half_widths:
                curves[f"values, half-width {half_width:g}"] = values.budget_curves(outcomes, half_width)
        if name == comparisons.SAVING:
            for beta in comparisons.SAVINGS:
                curves[f"comparisons, β = {beta:g}"] = comparisons.saving_curves(outcomes, beta)
    return BenchReport(tuple(figures), curves)


def fewest_runs(runs: Iterable[Run]) -> int:
    """How many runs the series with the fewest has."""
    return min(Counter(run.series for run in runs).values())

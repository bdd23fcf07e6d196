"""Coverage: how often condition (2) and the final bound failed, against δ; and how much room the radius leaves."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
from matplotlib.figure import Figure

from handful.explorers.registry import Certified, TopX, Uniform
from handful.objectives import Coverage
from handful.problem import Floats, Problem, Values
from handful.responses import uniform
from handful.simulation import Simulation, greedy, simulate
from handful.venice import venice
from reproduction import style
from reproduction.cells import Cell, CellRow, CellTable, Scale, Tables, chunks
from reproduction.report import Finding, Holds, PaperClaim
from reproduction.statistics import Interval, share
from reproduction.world import CERTIFIED, DELTA, FULL, UNIFORM, G, O

TITLE = "(Coverage) How often the guarantees fail"
ITEMS, PICKS, EPSILON, SIGMA2 = 16, 4, 0.1, 0.2
SHRINK = (1.0, 0.5, 0.3, 0.2, 0.1, 0.05)
EXPLORERS: dict[str, TopX | Uniform | Certified] = {
    FULL: TopX(), O: TopX(variant="O"), G: TopX(variant="G"), UNIFORM: Uniform(), CERTIFIED: Certified(),
}  # fmt: skip
WEIGHT = {FULL: 8e3, O: 2e4, G: 1.1e5, UNIFORM: 1e5, CERTIFIED: 3e2}
RUNAWAY = 2_000_000
"""A run of G on two nearly equal items may never end; it is counted apart."""


def cells(scale: Scale) -> list[Cell]:
    """Another collection for every run, small enough to know its optimum."""
    found = []
    for shrink in scale.of(SHRINK, (1.0, 0.1)):
        for first, count in chunks(scale.of(200, 20), scale.seed, scale.of(20, 10)):
            for series in EXPLORERS:
                arguments = {"series": series, "shrink": shrink, "first": first, "count": count}
                found.append(Cell("coverage", failures, arguments, WEIGHT[series] * shrink**2 * count))
    return found


@cache
def world(seed: int) -> tuple[Coverage, float, float]:
    """A collection's objective, f(OPT) by looking at every set, and f(greedy)."""
    objective = venice(seed, ITEMS).objective
    missed = 1.0 - np.asarray(objective.matrix)
    sets = np.array(list(combinations(range(ITEMS), PICKS)))
    covered = objective.weights * (1.0 - missed[sets].prod(axis=1))
    return objective, float(covered.sum(axis=1).max()), greedy(objective, PICKS).value


def failures(series: str, shrink: float, first: int, count: int) -> list[CellRow]:
    """Whether condition (2) failed in some round, and whether the bound promised failed at the end."""
    rows: list[CellRow] = []
    for seed in range(first, first + count):
        objective, best, by_greedy = world(seed)
        problem = Problem(ITEMS, PICKS, Values(noise=SIGMA2), epsilon=EPSILON, delta=DELTA, seed=seed)
        state = replace(EXPLORERS[series], shrink=shrink).build(problem)
        run = simulate(state, objective, uniform(SIGMA2), PICKS, cap=RUNAWAY)
        slack = 0.0 if series == G else EPSILON / PICKS
        bound = by_greedy if series == G else (1 - 1 / math.e) * best - EPSILON
        rows.append(
            {"series": series, "shrink": shrink, "seed": seed, "queries": run.answers,
             "condition_failed": -1 if series == CERTIFIED else int(_condition_fails(run, objective, slack)),
             "bound_failed": int(run.value < bound - 1e-9), "utility": run.value, "optimum": best, "greedy": by_greedy,
             "ended": "capped" if run.capped else "rule"}
        )  # fmt: skip
    return rows


def _condition_fails(run: Simulation, objective: Coverage, slack: float) -> bool:
    """Condition (2): the mean gain of A is that of the best set of its size, less ε′."""
    progress = objective.start()
    for r in run.rounds:
        gains: Floats = progress.gains()
        top = np.sort(gains)[::-1][: len(r.candidates)]
        if r.ended == "rule" and gains[list(r.candidates)].mean() < top.mean() - slack - 1e-9:
            return True
        progress.add(r.pick)
    return False


def rate(own: CellTable, column: str) -> Interval:
    """How often it failed among the runs that ended by their rule."""
    ended = own.where(ended="rule")
    return share(int(ended.column(column).sum()), len(ended.rows))


def draw(tables: Tables) -> dict[str, Figure]:
    """Failures against the radius, as a share of what the paper prescribes."""
    table = tables["coverage"]
    figure, axes = style.canvas(2, width=9.6, height=4.4)
    shrinks = table.distinct("shrink")
    for axis, column, title in (
        (axes[0], "condition_failed", "Condition (2) failed in some iteration"),
        (axes[1], "bound_failed", "The final bound failed"),
    ):
        for place, series in enumerate(EXPLORERS):
            if column == "condition_failed" and series == CERTIFIED:
                continue
            look = style.LOOKS[series]
            aside = [s * 1.035 ** (place - 2) for s in shrinks]
            y = [rate(table.where(series=series, shrink=s), column) for s in shrinks]
            axis.plot(aside, [i.mid for i in y], **look.of(label=style.label(series)))
            axis.vlines(aside, [i.low for i in y], [i.high for i in y], color=look.colour, linewidth=1)
        style.level(axis, DELTA, f"δ = {DELTA:g}")
        axis.set_xscale("log")
        axis.set_xticks(shrinks, [f"{s:g}" for s in shrinks])
        axis.minorticks_off()
        axis.invert_xaxis()
        axis.set_yscale("symlog", linthresh=0.02, linscale=0.6)
        axis.set_yticks([0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1], ["0", "1%", "2%", "5%", "10%", "20%", "50%", "100%"])
        axis.set_ylim(-0.002, 1.1)
        axis.set_xlabel("radius, as a multiple of the one that is proven")
        axis.set_ylabel("share of runs")
        axis.set_title(title)
    style.legend_below(figure, axes[1], 5)
    return {"coverage": figure}


def judge(tables: Tables) -> Finding:
    """Whether δ is kept, and with how much room."""
    table = tables["coverage"]
    honest = table.where(shrink=1.0)
    paper = [series for series in EXPLORERS if series != CERTIFIED]
    condition = {s: rate(honest.where(series=s), "condition_failed") for s in paper}
    bound = {s: rate(honest.where(series=s), "bound_failed") for s in EXPLORERS}
    first = {s: _first_above(table.where(series=s)) for s in paper}
    open_ended = len(honest.where(ended="capped").rows)
    runs = len(honest.where(series=FULL).rows)
    claims = (
        PaperClaim(
            "Each iteration satisfies condition (2), all of them with probability 1 − δ.",
            f"Failed in some iteration, of {runs} runs each: "
            + ", ".join(f"{s} {i.mid:.1%} [{i.low:.1%}, {i.high:.1%}]" for s, i in condition.items())
            + ".",
            _kept(condition.values()),
        ),
        PaperClaim(
            "f(S) ≥ (1 − 1/e)·f(OPT) − ε, or f(S) = f(GREEDY) for G, with probability 1 − δ.",
            "Failed: " + ", ".join(f"{s} {i.mid:.1%} [{i.low:.1%}, {i.high:.1%}]" for s, i in bound.items()) + ".",
            _kept(bound.values()),
        ),
    )
    notes = (
        "The radius is wide: condition (2) fails more often than δ only when it is multiplied by "
        + ", ".join(f"{x} ({s})" for s, x in first.items())
        + f". Cost falls with its square: at least {1 / 0.3**2:.0f} times for 0.3.",
        "For ExpGreedy the bound is on the expectation over its draws; here it is asked of every single run. "
        "(1 − 1/e)·f(OPT) lies far below what any of them reaches, so the right panel can hardly fail.",
        f"{open_ended} of {len(honest.rows)} runs were not decided within {RUNAWAY:,} queries and are left out.",
    )
    setting = f"N = {ITEMS}, k = {PICKS}, ε = {EPSILON:g}, δ = {DELTA:g}, σ² = {SIGMA2:g}; a collection for every run."
    return Finding(TITLE, setting, claims, notes)


def _kept(rates: Iterable[Interval]) -> Holds:
    """Whether failures are no more frequent than δ, as far as the intervals can tell."""
    rates = list(rates)
    if any(rate.low > DELTA for rate in rates):
        return "does not hold"
    return "holds" if all(rate.high <= DELTA for rate in rates) else "is undecided"


def _first_above(own: CellTable) -> str:
    shrinks = own.distinct("shrink")
    return next((f"{s:g}" for s in shrinks if rate(own.where(shrink=s), "condition_failed").mid > DELTA), "none tried")

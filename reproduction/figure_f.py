"""(f) Utility against budget for preference queries, several τ: in queries as the paper has it, and in comparisons."""

from __future__ import annotations

import math

from matplotlib.figure import Figure

from reproduction import style
from reproduction.cells import Cell, CellTable, Scale, Tables
from reproduction.curves import difference, frame, line, say_times, times_more, up_to_three_times
from reproduction.figure_e import DULL, line_cells
from reproduction.report import Finding, PaperClaim, verdict
from reproduction.statistics import Interval, bootstrap
from reproduction.world import DUELS, FULL, UNIFORM, N

TITLE = "(f) Varying τ for preference queries"
TAUS = (60, 10, 3, 1)


def cells(scale: Scale) -> list[Cell]:
    """β = 0.5; and (β = ∞, τ = N), which the paper equates with GREEDY."""
    lines = [(FULL, math.inf, N)] + [(FULL, DULL, tau) for tau in scale.of(TAUS, (10, 1))]
    lines += [(UNIFORM, DULL, 1), (DUELS, DULL, 1)]
    return [cell for series, beta, tau in lines for cell in line_cells(scale, "f", series, beta, tau)]


def draw(tables: Tables) -> dict[str, Figure]:
    """The same runs twice: cost in queries, cost in comparisons."""
    table = tables["f"]
    figure, axes = style.canvas(2, width=9.6, height=4.6)
    taus = table.where(series=FULL, beta=DULL).distinct("tau")
    for axis, in_queries in zip(axes, (True, False), strict=True):
        exact = table.where(series=FULL, beta=math.inf)
        line(axis, exact, style.Look(style.INK, "P", ":"), f"ExpGreedy, β = ∞, τ = {N}", divide=N if in_queries else 1)
        for place, tau in enumerate(taus):
            look = style.Look(style.LEVELS[(0, 2, 4, 6)[place]], style.MARKERS[place])
            own = table.where(series=FULL, beta=DULL, tau=tau)
            line(axis, own, look, f"ExpGreedy, β = {DULL:g}, τ = {tau}", divide=tau if in_queries else 1)
        line(axis, table.where(series=UNIFORM), style.LOOKS[UNIFORM], f"UNIFORM, β = {DULL:g}, τ = 1")
        line(axis, table.where(series=DUELS), style.LOOKS[DUELS], f"duels, β = {DULL:g}" + style.OURS_SUFFIX)
        ticks = (0.1, 1, 10, 100) if in_queries else table.distinct("budget")
        frame(axis, "queries" if in_queries else "comparisons", "", ticks)
    axes[0].set_title("As in the paper: a query is τ comparisons")
    axes[1].set_title("What it costs: comparisons")
    style.legend_below(figure, axes[1], 3)
    return {"f": figure}


def judge(tables: Tables) -> Finding:
    """Whether larger τ helps per query, and what it does per comparison."""
    table = tables["f"]
    lines = {tau: table.where(series=FULL, beta=DULL, tau=tau) for tau in table.where(beta=DULL).distinct("tau")}
    per_query = _at_equal_queries(table, 20)
    largest = table.distinct("budget")[-1]
    per_comparison = {b: difference(lines[10], lines[1], b) for b in (20, 200)}
    more = times_more(table.where(series=UNIFORM), lines[1])
    runs = len(lines[1].where(budget=largest).rows)
    claims = (
        PaperClaim(
            "For smaller τ more budget (in queries) must be spent to achieve high utility.",
            f"With 20 queries per item and iteration τ = 10 is better than τ = 1 by {per_query.say()}. But such "
            "a query costs ten comparisons: with the same number of comparisons τ = 10 less τ = 1 is "
            + ", ".join(f"{i.say()} ({b} comparisons)" for b, i in per_comparison.items())
            + ". Counted in comparisons, τ buys little.",
            verdict(per_query.low > 0),
        ),
        PaperClaim(
            "UNIFORM may require up to 3 times more budget (β = 0.5, τ = 1).",
            f"UNIFORM needs {say_times(more)}.",
            up_to_three_times(more),
        ),
    )
    notes = (
        f"Ours: with duels as the measure, ExpGreedy with τ = 1 needs "
        f"{say_times(times_more(lines[1], table.where(series=DUELS)))}.",
        "The radius takes R = 1/(2√τ) for the mean of τ comparisons. Rivals are drawn with replacement.",
    )
    return Finding(TITLE, f"Averages of {runs} runs with 95% bands; β = {DULL:g} unless said.", claims, notes)


def _at_equal_queries(table: CellTable, queries: float) -> Interval:
    """τ = 10 at ten times the comparisons of τ = 1."""
    full = table.where(series=FULL, beta=DULL)
    ends = [full.where(tau=tau, budget=queries * tau).column("utility") for tau in (10, 1)]
    return bootstrap(ends, lambda means: means[0] - means[1])

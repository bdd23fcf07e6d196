"""Utility against budget, as (d), (e) and (f) have it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reproduction import style
from reproduction.cells import CellTable
from reproduction.report import Holds, verdict
from reproduction.statistics import Interval, bootstrap, budget_for, mean
from reproduction.world import FULL, UNIFORM, greedy_value, random_value

TARGETS = (0.8, 0.9, 0.95)


def utilities(own: CellTable) -> tuple[list[float], list[Interval]]:
    """Budgets and mean utilities of one line."""
    budgets = own.distinct("budget")
    return budgets, [mean(own.where(budget=b).column("utility")) for b in budgets]


def line(axis: Axes, own: CellTable, look: style.Look, name: str, *, divide: float = 1.0) -> None:
    """One line; `divide` turns comparisons into queries."""
    budgets, y = utilities(own)
    style.curve(axis, [b / divide for b in budgets], y, look, name)


def by_parameter(
    table: CellTable, parameter: str, named: Callable[[float], str], hardest: float, ours: str, unit: str, title: str
) -> Figure:
    """One line per value of a parameter; UNIFORM and ours at the hardest value."""
    figure: Figure
    figure, axis = style.canvas()
    for place, value in enumerate(table.where(series=FULL).distinct(parameter)):
        look = style.Look(style.LEVELS[place], style.MARKERS[place])
        line(axis, table.where(series=FULL, **{parameter: value}), look, f"ExpGreedy, {named(value)}")
    line(axis, table.where(series=UNIFORM), style.LOOKS[UNIFORM], f"UNIFORM, {named(hardest)}")
    line(axis, table.where(series=ours), style.LOOKS[ours], f"{ours}, {named(hardest)}" + style.OURS_SUFFIX)
    frame(axis, unit, title, table.distinct("budget"))
    style.legend_below(figure, axis, 2)
    return figure


def frame(axis: Axes, unit: str, title: str, ticks: Sequence[float]) -> None:
    """GREEDY above, RANDOM below, budget along a log axis."""
    style.level(axis, greedy_value(), "GREEDY (noise-free)")
    style.level(axis, random_value(), "RANDOM", above=False, x=0.99)
    axis.set_xscale("log")
    axis.set_xticks(list(ticks), [f"{t:g}" for t in ticks])
    axis.minorticks_off()
    axis.set_ylim(random_value() - 0.35, greedy_value() + 0.3)
    axis.set_xlabel(f"average budget: {unit} per item and iteration")
    axis.set_ylabel("utility f(S)")
    axis.set_title(title)


def times_more(dear: CellTable, cheap: CellTable) -> dict[float, Interval]:
    """How many times the budget of `cheap` the line `dear` needs for a share of GREEDY's utility both reach."""
    budgets_d, budgets_c = dear.distinct("budget"), cheap.distinct("budget")
    samples = [dear.where(budget=b).column("utility") for b in budgets_d]
    samples += [cheap.where(budget=b).column("utility") for b in budgets_c]
    found = {}
    for target in TARGETS:

        def times(means: list[float], goal: float = target * greedy_value()) -> float:
            d = budget_for(goal, budgets_d, means[: len(budgets_d)])
            return d / budget_for(goal, budgets_c, means[len(budgets_d) :])

        interval = bootstrap(samples, times)
        if interval.mid == interval.mid and interval.low == interval.low:
            found[target] = interval
    return found


def say_times(found: dict[float, Interval]) -> str:
    """`1.3 [1.1, 1.6] times for 80% of GREEDY's utility, …`."""
    if not found:
        return "no share of GREEDY's utility from 80% on that both reach"
    return ", ".join(f"{interval.say(1)} times for {target:.0%} of GREEDY" for target, interval in found.items())


def up_to_three_times(found: dict[float, Interval]) -> Holds:
    """Whether UNIFORM needs more budget, and three times as much for some target."""
    if any(i.low > 1 for i in found.values()):
        return verdict(True, any(i.low > 1 and i.high >= 3 for i in found.values()))
    return "does not hold" if found and all(i.high < 3 for i in found.values()) else "is undecided"


def gains_with_budget(own: CellTable) -> Interval:
    """Utility at the largest budget less that at the smallest."""
    budgets = own.distinct("budget")
    ends = [own.where(budget=b).column("utility") for b in (budgets[-1], budgets[0])]
    return bootstrap(ends, lambda means: means[0] - means[1])


def difference(one: CellTable, other: CellTable, budget: float) -> Interval:
    """Utility of one line less that of another at the same budget."""
    ends = [table.where(budget=budget).column("utility") for table in (one, other)]
    return bootstrap(ends, lambda means: means[0] - means[1])

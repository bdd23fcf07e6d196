"""(d) Utility against budget for value queries, several σ²."""

from __future__ import annotations

from matplotlib.figure import Figure

from reproduction.cells import Cell, Scale, Tables, chunks
from reproduction.curves import by_parameter, difference, gains_with_budget, say_times, times_more, up_to_three_times
from reproduction.report import Finding, PaperClaim, verdict
from reproduction.statistics import bootstrap
from reproduction.world import FULL, UNIFORM, WORTH, K, N, budgeted_values

TITLE = "(d) Varying σ² for value queries"
NOISE = (0.5, 1.0, 2.0, 5.0, 10.0)
LOUD = 10.0
BUDGETS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
SLOWER = {WORTH: 5.0}
"""A question costs that many times more thinking than TopX's."""


def cells(scale: Scale) -> list[Cell]:
    """Fifty runs of every line and budget; at σ² = 10 one budget more, for UNIFORM to catch up."""
    runs = scale.of(50, 16)
    lines = [(FULL, s) for s in scale.of(NOISE, (1.0, LOUD))] + [(UNIFORM, LOUD), (WORTH, LOUD)]
    found = []
    for series, sigma2 in lines:
        budgets = scale.of(BUDGETS, (2, 20, 200))
        if sigma2 == LOUD and series != WORTH:
            budgets = scale.of((*BUDGETS, 1000), budgets)
        for budget in budgets:
            for first, count in chunks(runs, scale.seed, 10):
                arguments = {"series": series, "sigma2": sigma2, "budget": budget, "first": first, "count": count}
                weight = budget * N * K * count * SLOWER.get(series, 1.0)
                found.append(Cell("d", budgeted_values, arguments, weight))
    return found


def draw(tables: Tables) -> dict[str, Figure]:
    """One line per σ², UNIFORM and ours at the largest."""
    figure = by_parameter(tables["d"], "sigma2", lambda s: f"σ² = {s:g}", LOUD, WORTH, "queries", "Value queries")
    return {"d": figure}


def judge(tables: Tables) -> Finding:
    """Whether utility rises with the budget and falls with noise; and UNIFORM against ExpGreedy."""
    table = tables["d"]
    noise = table.where(series=FULL).distinct("sigma2")
    lines = {s: table.where(series=FULL, sigma2=s) for s in noise}
    rises = {s: gains_with_budget(own) for s, own in lines.items()}
    middle = 20
    falls = difference(lines[noise[0]], lines[LOUD], middle)
    quietish = lines[2.0 if 2.0 in lines else noise[0]]
    first, second = quietish.distinct("budget")[:2]
    start = bootstrap(
        [quietish.where(budget=b).column("utility") for b in (second, first)], lambda means: means[0] - means[1]
    )
    uniform, ours = table.where(series=UNIFORM), table.where(series=WORTH)
    more = times_more(uniform, lines[LOUD])
    smallest = lines[LOUD].distinct("budget")[1 if len(lines[LOUD].distinct("budget")) > 3 else 0]
    early = difference(lines[LOUD], uniform, smallest)
    runs = len(lines[LOUD].where(budget=smallest).rows)
    claims = (
        PaperClaim(
            "More noise needs more budget for the same utility; more budget gives more utility.",
            "From the smallest to the largest budget utility rises by "
            + ", ".join(f"{rise.say()} (σ² = {s:g})" for s, rise in rises.items())
            + f". With {middle} queries per item and iteration σ² = {noise[0]:g} is better than σ² = {LOUD:g} by "
            f"{falls.say()}. Step by step it need not rise: from {first} to {second} queries it changes by "
            f"{start.say()} (σ² = {quietish.rows[0]['sigma2']:g}).",
            verdict(all(rise.low > 0 for rise in rises.values()), falls.low > 0),
        ),
        PaperClaim(
            "To achieve a desired utility, UNIFORM may require up to 3 times more budget (σ² = 10).",
            f"UNIFORM needs {say_times(more)}. With small budgets there is nothing in it: with {smallest} queries per "
            f"item and iteration ExpGreedy less UNIFORM is {early.say()}.",
            up_to_three_times(more),
        ),
    )
    notes = (
        f"Ours: with worth as the measure, ExpGreedy at σ² = {LOUD:g} needs "
        f"{say_times(times_more(lines[LOUD], ours))}.",
        "When the budget of an iteration is spent, the item of best mean is picked; the paper does not say.",
        "σ² = ∞ is RANDOM, σ² = 0 is GREEDY.",
    )
    return Finding(TITLE, f"Averages of {runs} runs with 95% bands; N·k times the budget in all.", claims, notes)

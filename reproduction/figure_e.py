"""(e) Utility against budget for preference queries, several β."""

from __future__ import annotations

import math

from matplotlib.figure import Figure

from reproduction.cells import Cell, Scale, Tables, chunks
from reproduction.curves import by_parameter, difference, gains_with_budget, say_times, times_more, up_to_three_times
from reproduction.report import Finding, PaperClaim, verdict
from reproduction.world import DUELS, FULL, UNIFORM, K, N, budgeted_comparisons

TITLE = "(e) Varying β for preference queries"
SHARPNESS = (math.inf, 10.0, 5.0, 2.0, 1.0, 0.5, 0.0)
DULL = 0.5
BUDGETS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
SLOWER = {DUELS: 6.0}


def line_cells(scale: Scale, table: str, series: str, beta: float, tau: int) -> list[Cell]:
    """Fifty runs of one line at every budget, in comparisons."""
    found = []
    for budget in scale.of(BUDGETS, (2, 20, 200)):
        for first, count in chunks(scale.of(50, 16), scale.seed, 10):
            arguments = {
                "series": series, "beta": beta, "tau": tau, "budget": budget, "first": first, "count": count
            }  # fmt: skip
            weight = budget * N * K * count * SLOWER.get(series, 1.0)
            found.append(Cell(table, budgeted_comparisons, arguments, weight))
    return found


def cells(scale: Scale) -> list[Cell]:
    """τ = 1; UNIFORM and ours at β = 0.5."""
    lines = [(FULL, beta) for beta in scale.of(SHARPNESS, (math.inf, 2.0, DULL))] + [(UNIFORM, DULL), (DUELS, DULL)]
    return [cell for series, beta in lines for cell in line_cells(scale, "e", series, beta, 1)]


def named(beta: float) -> str:
    """β as it is written."""
    return "∞" if beta == math.inf else f"{beta:g}"


def draw(tables: Tables) -> dict[str, Figure]:
    """One line per β; UNIFORM and ours at the smallest."""
    title = "Preference queries, τ = 1"
    figure = by_parameter(tables["e"], "beta", lambda b: f"β = {named(b)}", DULL, DUELS, "comparisons", title)
    return {"e": figure}


def judge(tables: Tables) -> Finding:
    """Whether utility rises with the budget and with β; and UNIFORM against ExpGreedy."""
    table = tables["e"]
    lines = {beta: table.where(series=FULL, beta=beta) for beta in table.where(series=FULL).distinct("beta")}
    rises = {beta: gains_with_budget(own) for beta, own in lines.items() if beta > 0}
    middle = 20
    sharper = difference(lines[2.0], lines[DULL], middle)
    uniform, ours = table.where(series=UNIFORM), table.where(series=DUELS)
    more = times_more(uniform, lines[DULL])
    runs = len(ours.where(budget=middle).rows)
    small = 2
    early = difference(lines[DULL], uniform, small)
    claims = (
        PaperClaim(
            "For lower β more budget must be spent to achieve high utility.",
            "From the smallest to the largest budget utility rises by "
            + ", ".join(f"{rise.say()} (β = {named(beta)})" for beta, rise in rises.items())
            + f". With {middle} comparisons per item and iteration β = 2 is better than β = {DULL:g} by "
            f"{sharper.say()}.",
            verdict(all(rise.low > 0 for rise in rises.values()), sharper.low > 0),
        ),
        PaperClaim(
            "UNIFORM may require up to 3 times more budget (β = 0.5, τ = 1).",
            f"UNIFORM needs {say_times(more)}. With {small} comparisons per item and iteration ExpGreedy less UNIFORM "
            f"is {early.say()}.",
            up_to_three_times(more),
        ),
    )
    notes = (
        f"Ours: with duels as the measure, ExpGreedy at β = {DULL:g} needs {say_times(times_more(lines[DULL], ours))}.",
        "Cost is counted in comparisons; with τ = 1 a query is one comparison. The algorithms are not told β.",
        "β = 0 is RANDOM. With β = ∞ and τ = 1 an answer still depends on the rival drawn, so it is not yet GREEDY.",
    )
    return Finding(TITLE, f"Averages of {runs} runs with 95% bands.", claims, notes)

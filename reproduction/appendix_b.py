"""Appendix B: three items that make it dear to compete with GREEDY."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from handful.explorers.registry import Certified, Explorer, TopX
from handful.objectives import appendix_b
from handful.problem import Problem, Values
from handful.responses import uniform
from handful.simulation import simulate
from reproduction import style
from reproduction.cells import Cell, CellRow, CellTable, Scale, Tables
from reproduction.report import Finding, PaperClaim, verdict
from reproduction.statistics import Interval, geometric, number, slope
from reproduction.world import CERTIFIED, DELTA, EPSILON, FULL, G, O

TITLE = "(Appendix B) Competing with GREEDY"
ALPHAS = (0.2, 0.14, 0.1, 0.07, 0.05, 0.035, 0.025)
SIGMA2 = 0.5
TOP_TWO = "top two, ε′ = 0"
BUDGET = 1_000_000
"""For variant G, which nothing else would end: f(a) = f(b)."""
EXPLORERS: dict[str, Explorer] = {
    TOP_TWO: TopX(variant="G", l=2), G: TopX(variant="G"), O: TopX(variant="O"), FULL: TopX(), CERTIFIED: Certified(),
}  # fmt: skip
ROUNDS = {CERTIFIED: 2}


def cells(scale: Scale) -> list[Cell]:
    """The first iteration, where c must be told from a and b."""
    found = []
    for alpha in scale.of(ALPHAS, (0.2, 0.1, 0.05)):
        for seed in range(scale.of(10, 4)):
            for series in EXPLORERS:
                if series == G and seed >= scale.of(2, 1):
                    continue  # it costs its whole budget each time
                arguments = {"series": series, "alpha": alpha, "seed": scale.seed + seed}
                found.append(Cell("appendix-b", first_pick, arguments, BUDGET if series == G else 60 / alpha**2))
    return found


def first_pick(series: str, alpha: float, seed: int) -> list[CellRow]:
    """Queries of one first iteration; certified proves only the end, so for it of both."""
    problem = Problem(3, 2, Values(noise=SIGMA2), epsilon=EPSILON, delta=DELTA, seed=seed)
    state = EXPLORERS[series].build(problem)
    run = simulate(state, appendix_b(alpha), uniform(SIGMA2), ROUNDS.get(series, 1), cap=BUDGET)
    return [
        {"series": series, "alpha": alpha, "seed": seed, "queries": run.answers, "picked_c": int(2 in run.chosen[:1]),
         "ended": "budget" if run.capped else run.rounds[0].ended}
    ]  # fmt: skip


def costs(own: CellTable) -> tuple[list[float], list[Interval]]:
    """The values of α, and the cost at each."""
    alphas = own.distinct("alpha")
    return alphas, [geometric(own.where(alpha=alpha).column("queries")) for alpha in alphas]


def steepness(table: CellTable) -> Interval:
    """The slope of log queries over log α for identifying the top two."""
    own = table.where(series=TOP_TWO)
    return slope(np.log(own.column("alpha")), np.log(own.column("queries")))


def draw(tables: Tables) -> dict[str, Figure]:
    """Queries against α, both on log axes."""
    table = tables["appendix-b"]
    figure, axis = style.canvas()
    looks = {**style.LOOKS, TOP_TWO: style.Look("#D55E00", "P")}
    names = {TOP_TWO: "top two of three (l = 2, ε′ = 0)", G: "ExpGreedy-G: never stops"}
    for series in EXPLORERS:
        alphas, y = costs(table.where(series=series))
        look = looks[series]
        if series == G:
            axis.plot(alphas, [i.mid for i in y], **look.of(markerfacecolor="white", label=names[series]))
        else:
            style.curve(axis, alphas, y, look, names.get(series, style.label(series)))
    style.level(axis, BUDGET, f"budget {number(BUDGET)}: ExpGreedy-G spends all of it, for f(a) = f(b)")
    alphas, y = costs(table.where(series=TOP_TWO))
    axis.plot(alphas, [0.35 * y[0].mid * (alphas[0] / a) ** 2 for a in alphas], color=style.FAINT, lw=1, ls="--")
    axis.annotate("slope −2", (alphas[-1], 0.35 * y[0].mid * (alphas[0] / alphas[-1]) ** 2), xytext=(-4, -8),
                  textcoords="offset points", fontsize=8, color=style.FAINT, va="top", ha="right")  # fmt: skip
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_ylim(None, 4 * BUDGET)
    axis.set_xticks(alphas, [f"{a:g}" for a in alphas])
    axis.minorticks_off()
    axis.invert_xaxis()
    axis.set_xlabel("α (c is worse than a and b by 2α)")
    axis.set_ylabel("queries of the first iteration")
    axis.set_title(f"Three items, σ² = {SIGMA2:g}")
    style.legend_below(figure, axis, 2)
    return {"appendix-b": figure}


def judge(tables: Tables) -> Finding:
    """1/α² up to a log factor; and G never stops."""
    table = tables["appendix-b"]
    steep = steepness(table)
    g = table.where(series=G)
    stopped = sum(row["ended"] != "budget" for row in g.rows)
    alphas, full = costs(table.where(series=FULL))
    _, o = costs(table.where(series=O))
    _, ours = costs(table.where(series=CERTIFIED))
    claims = (
        PaperClaim(
            "Ensuring that c is not picked first takes O(1/α² · log 1/α²) queries: ∞ as α → 0.",
            f"Identifying the top two with ε′ = 0 costs α to the power {steep.say()}; −2 with a log factor is "
            "between −2.4 and −2.0.",
            verdict(-2.4 <= steep.mid <= -2.0),
        ),
        PaperClaim(
            "This is the cost of variant G (k′ = 1, ε′ = 0).",
            f"Variant G does not stop at any α: f(a) = f(b), and it wants to know the better one. {stopped} of "
            f"{len(g.rows)} runs stopped within {number(BUDGET)} queries.",
            verdict(stopped > 0),
        ),
    )
    notes = (
        f"With ε = {EPSILON:g} cost stays bounded: at α = {alphas[-1]:g} ExpGreedy asks {full[-1].say(0)} and O "
        f"{o[-1].say(0)}, for then c may be picked.",
        f"Ours: certified asks {ours[-1].say(0)} at α = {alphas[-1]:g}, for both iterations.",
    )
    return Finding(TITLE, f"N = 3, k = 2, σ² = {SIGMA2:g}; geometric means with 95% bands.", claims, notes)

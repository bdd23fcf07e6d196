"""(a) Queries until the guarantee is met, against the noise; and when variant O is cheaper than the full one."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from handful.certificates import per_round
from handful.explorers.uniform import fixed_sample_size
from reproduction import style
from reproduction.cells import Cell, CellRow, CellTable, Scale, Tables
from reproduction.report import Finding, PaperClaim, verdict
from reproduction.statistics import Interval, geometric, mean, number, share, slope
from reproduction.world import (
    CERTIFIED,
    DELTA,
    EPSILON,
    FIXED,
    FULL,
    UNIFORM,
    G,
    K,
    N,
    O,
    collection,
    greedy_value,
    values,
)

TITLE = "(a) Sample complexity with varying noise"
NOISE = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
DRAWN = (FULL, O, G, UNIFORM, CERTIFIED)
COST = {FULL: 1.2e6, O: 2.6e6, G: 9e6, UNIFORM: 4.4e7, CERTIFIED: 1e4}
"""About what a run costs at σ² = 1; it grows as σ⁴."""
QUIET = 0.1


def cells(scale: Scale) -> list[Cell]:
    """Five runs of each algorithm at each noise."""
    found = []
    for sigma2 in scale.of(NOISE, (0.0, 0.1, 0.2)):
        for series in DRAWN:
            for seed in range(scale.of(5, 2)):
                weight = min(max(COST[series] * sigma2**2, 400.0), scale.cap)
                arguments = {"series": series, "sigma2": sigma2, "seed": scale.seed + seed, "cap": scale.cap}
                found.append(Cell("a", until_met, arguments, weight))
        found.append(Cell("a", fixed_sample, {"sigma2": sigma2}, 1.0))
    for other in range(scale.of(60, 10)):
        arguments = {"collection_seed": other, "seed": scale.seed, "cap": scale.cap}
        found.append(Cell("a-first-round", first_round, arguments, 2e5))
    return found


def until_met(series: str, sigma2: float, seed: int, cap: int) -> list[CellRow]:
    """One run until its rule ends the last round, or the cap."""
    run = values(series, sigma2, seed, cap=cap)
    how = "capped" if run.capped else "drawn"
    return [
        {"series": series, "sigma2": sigma2, "seed": seed, "queries": run.answers, "how": how, "utility": run.value}
    ]


def fixed_sample(sigma2: float) -> list[CellRow]:
    """UNIFORM with a sample size known before the start: nothing need be drawn."""
    repeats = fixed_sample_size(N, sigma2, per_round("O", K, EPSILON, DELTA))
    queries = repeats * sum(N - j for j in range(K))
    return [{"series": FIXED, "sigma2": sigma2, "seed": 0, "queries": queries, "how": "computed", "utility": ""}]


def first_round(collection_seed: int, seed: int, cap: int) -> list[CellRow]:
    """Full variant and O on another collection: the whole run, and its first round, where S = ∅ for both."""
    objective = collection(collection_seed).objective
    gains = np.sort(objective.start().gains())[::-1]
    gaps = -np.diff(gains)[:K]
    rows: list[CellRow] = []
    for series in (FULL, O):
        run = values(series, QUIET, seed, objective=objective, cap=cap)
        rows.append(
            {"series": series, "sigma2": QUIET, "collection": collection_seed, "seed": seed,
             "gap_1": float(gaps[0]), "largest_gap": float(gaps.max()), "first_round": run.rounds[0].answers,
             "l_first": len(run.rounds[0].candidates), "queries": run.answers,
             "how": "capped" if run.capped else "drawn"}
        )  # fmt: skip
    return rows


def draw(tables: Tables) -> dict[str, Figure]:
    """Cost on the left, when O is cheaper on the right."""
    figure, (left, right) = style.canvas(2, width=9.6, height=4.9, ratios=[1.75, 1])
    _cost(left, tables["a"])
    _when(right, tables["a-first-round"])
    style.legend_below(figure, left, 3)
    return {"a": figure}


def _cost(axis: Axes, table: CellTable) -> None:
    cap = max((float(r["queries"]) for r in table.rows if r["how"] == "capped"), default=None)
    for place, series in enumerate((*DRAWN[:-1], FIXED, CERTIFIED)):
        own = table.where(series=series)
        look = style.LOOKS[series]
        noise = own.distinct("sigma2")
        met = [s for s in noise if not _capped(own, s)]
        style.curve(axis, met, [cost(own, s) for s in met], look, style.label(series))
        over = [s for s in noise if s not in met]
        if not over or not met or cap is None:
            continue
        if series != CERTIFIED:  # nothing says that ours grows so
            anchor = cost(own, met[-1]).mid / met[-1] ** 2
            axis.plot(
                [met[-1], *over], [anchor * s**2 for s in (met[-1], *over)], color=look.colour, lw=1, ls=(0, (1, 2))
            )
        aside = 1.06 ** (place - 1.5)  # else they would hide each other
        axis.plot(
            [s * aside for s in over], [cap] * len(over), **look.of(linestyle="none", markerfacecolor="white", zorder=5)
        )
    if cap is not None:
        style.level(axis, cap, f"cap {number(cap)} (hollow: costs more)")
    style.level(axis, N * K, f"GREEDY, noise-free: N·k = {N * K}", x=0.99)
    axis.set_xscale("symlog", linthresh=0.1, linscale=0.4)
    ticks = table.distinct("sigma2")
    axis.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axis.minorticks_off()
    axis.set_yscale("log")
    axis.set_ylim(40, None)
    axis.set_xlabel("noise σ² (answers are uniform on μ ± σ²)")
    axis.set_ylabel("queries until the guarantee is met")
    axis.set_title("Cost of the guarantee")
    axis.set_xlim(-0.02, 1.3 * max(ticks))


def _when(axis: Axes, table: CellTable) -> None:
    full, o = table.where(series=FULL), table.where(series=O)
    x = full.column("gap_1") / full.column("largest_gap")
    ratio = o.column("first_round") / full.column("first_round")
    for chosen, look, text in (
        (ratio < 1, style.LOOKS[O], "O is cheaper"),
        (ratio >= 1, style.LOOKS[FULL], "ExpGreedy is cheaper"),
    ):
        axis.scatter(x[chosen], ratio[chosen], s=22, color=look.colour, marker=look.marker, label=text, zorder=3,
                     edgecolor="white", linewidth=0.4)  # fmt: skip
    axis.axhline(1, color=style.INK, linewidth=1)
    axis.set_yscale("log", base=2)
    axis.yaxis.set_major_formatter("{x:g}")
    axis.set_xlabel("first gap Δ₁ as a share of the largest of Δ₁ … Δₖ")
    axis.set_ylabel("queries of O ÷ queries of ExpGreedy")
    axis.set_title(f"First round, {len(full.rows)} collections, σ² = {QUIET:g}")
    axis.legend(loc="upper right")


def cost(own: CellTable, sigma2: float) -> Interval:
    """Geometric mean over the runs of one line at one noise."""
    return geometric(own.where(sigma2=sigma2).column("queries"))


def _capped(own: CellTable, sigma2: float) -> bool:
    return any(row["how"] == "capped" for row in own.where(sigma2=sigma2).rows)


def ratio(table: CellTable, series: str, to: str = FULL) -> tuple[float, Interval]:
    """How many times more queries, at the largest noise at which every run of both ended by its rule."""
    one, other = table.where(series=series), table.where(series=to)
    sigma2 = max(s for s in one.distinct("sigma2") if not (_capped(one, s) or _capped(other, s)))
    a, b = one.where(sigma2=sigma2).column("queries"), other.where(sigma2=sigma2).column("queries")
    if len(a) == len(b):
        return sigma2, geometric(a / b)
    return sigma2, geometric(a[0] / b)  # the fixed sample is one number


def growth(table: CellTable, series: str) -> Interval:
    """The exponent of σ² in the cost, from 0.1 on."""
    own = table.where(series=series)
    noise = [s for s in own.distinct("sigma2") if s >= 0.1 and not _capped(own, s)]
    rows = [(np.log(s), np.log(q)) for s in noise for q in own.where(sigma2=s).column("queries")]
    return slope([x for x, _ in rows], [y for _, y in rows])


def judge(tables: Tables) -> Finding:
    """Whether UNIFORM costs orders of magnitude more, and how cost grows with noise."""
    table, first = tables["a"], tables["a-first-round"]
    at_u, uniform = ratio(table, UNIFORM)
    at_f, fixed = ratio(table, FIXED)
    at_o, o = ratio(table, O)
    at_g, g = ratio(table, G)
    at_c, ours = ratio(table, FULL, CERTIFIED)
    full_1, o_1 = first.where(series=FULL), first.where(series=O)
    cheaper = o_1.column("first_round") < full_1.column("first_round")
    clear = full_1.column("gap_1") == full_1.column("largest_gap")
    whole = int((o_1.column("queries") < full_1.column("queries")).sum())
    n = len(cheaper)
    own = table.where(series=CERTIFIED)
    quiet, loud = (own.where(sigma2=own.distinct("sigma2")[place]) for place in (1, -1))
    when = f"{int(cheaper[clear].sum())} of {int(clear.sum())}"
    otherwise = f"{int(cheaper[~clear].sum())} of {int((~clear).sum())}"
    capped = sorted({f"{r['series']} at σ² = {r['sigma2']:g}" for r in table.rows if r["how"] == "capped"})
    claims = (
        PaperClaim(
            "The sample complexity of UNIFORM is worse by further orders of magnitude than any variant's.",
            f"UNIFORM asks {uniform.say(1)} times as much as ExpGreedy at σ² = {at_u:g} with the stopping rule, and "
            f"{fixed.say(1)} times with a fixed sample at σ² = {at_f:g}; against G, the dearest variant, "
            f"{ratio(table, UNIFORM, G)[1].say(1)} times.",
            verdict(uniform.low >= 10, ratio(table, UNIFORM, G)[1].low >= 10),
        ),
        PaperClaim(
            "The queries of ExpGreedy grow much slower than those of G and O.",
            f"On this collection O asks {o.say(1)} times as much as ExpGreedy (σ² = {at_o:g}) and G {g.say(1)} times "
            f"(σ² = {at_g:g}): a factor, not a slower growth, for cost grows as (σ²) to the power "
            f"{growth(table, FULL).say()} for ExpGreedy and {growth(table, O).say()} for O.",
            verdict(o.low > 1, g.low > 1, growth(table, FULL).high < growth(table, O).low),
        ),
        PaperClaim(
            "ExpGreedy dramatically reduces the sample complexity compared to the other adaptive baselines (caption).",
            f"Not always. On {n} collections like the paper's, O is cheaper in the first round on "
            f"{share(int(cheaper.sum()), n).say()} of them: on {when} where Δ₁ is the largest gap, so that one item is "
            f"clearly best, and on {otherwise} of the others. The full variant then queries for all l at once, "
            f"though l = 1 decides. Over all six rounds O is cheaper on {share(whole, n).say()} of the collections.",
            verdict(whole == 0, whole < n / 2),
        ),
    )
    notes = (
        f"Ours: certified gives the same guarantee with {ours.say(0)} times fewer queries than ExpGreedy at "
        f"σ² = {at_c:g}. It picks for the guarantee alone: f(S) = {mean(quiet.column('utility')).say()} at "
        f"σ² = {quiet.rows[0]['sigma2']:g} and {mean(loud.column('utility')).say()} at "
        f"σ² = {loud.rows[0]['sigma2']:g}, GREEDY's {greedy_value():.2f}.",
        "R is the half-width σ² of the noise for all. The radius counts samples, not steps, as its union bound needs.",
        f"Ended by the cap, and drawn as such: {', '.join(capped)}." if capped else "No run reached the cap.",
        "Dotted lines go on as σ⁴ from the last noise at which every run met the guarantee.",
    )
    return Finding(TITLE, f"N = {N}, k = {K}, ε = {EPSILON:g}, δ = {DELTA:g}; geometric means.", claims, notes)

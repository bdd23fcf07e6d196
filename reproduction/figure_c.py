"""(c) Marginal gains of one execution, with the size l of each set returned; and how l varies over collections."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from handful.simulation import greedy, random_set
from reproduction import style
from reproduction.cells import Cell, CellRow, CellTable, Scale, Tables
from reproduction.report import Finding, PaperClaim, verdict
from reproduction.statistics import mean, share
from reproduction.world import CERTIFIED, FULL, GREEDY, RANDOM, UNIFORM, G, K, O, collection, values

TITLE = "(c) An execution instance showing top-l sizes"
DRAWN = (FULL, O, G, UNIFORM, CERTIFIED)
QUIET = 0.1
WEIGHT = {FULL: 3e5, O: 6e5, G: 2e6, UNIFORM: 1.1e7, CERTIFIED: 2e3}


def cells(scale: Scale) -> list[Cell]:
    """One execution of each algorithm; l on many collections."""
    sigma2 = scale.of(0.5, QUIET)
    found = [
        Cell("c", execution, {"series": series, "sigma2": sigma2, "seed": scale.seed + 1, "cap": scale.cap},
             WEIGHT[series] * (sigma2 / 0.5) ** 2)
        for series in DRAWN
    ]  # fmt: skip
    found.append(Cell("c", references, {"seed": scale.seed + 1}, 1.0))
    for other in range(scale.of(60, 10)):
        found.append(Cell("c-sizes", sizes, {"collection_seed": other, "seed": scale.seed, "cap": scale.cap}, 5e4))
    return found


def execution(series: str, sigma2: float, seed: int, cap: int) -> list[CellRow]:
    """The gain of every pick of one run."""
    run = values(series, sigma2, seed, cap=cap)
    return [
        {"series": series, "sigma2": sigma2, "seed": seed, "iteration": j, "gain": r.gain,
         "l": len(r.candidates), "queries": r.answers, "ended": r.ended}
        for j, r in enumerate(run.rounds, start=1)
    ]  # fmt: skip


def references(seed: int) -> list[CellRow]:
    """The gains of GREEDY and of RANDOM."""
    objective = collection().objective
    return [
        {"series": series, "sigma2": 0.0, "seed": seed, "iteration": j, "gain": gain, "l": 1, "queries": 0, "ended": ""}
        for series, picks in ((GREEDY, greedy(objective, K)), (RANDOM, random_set(objective, K, seed)))
        for j, gain in enumerate(picks.gains, start=1)
    ]


def sizes(collection_seed: int, seed: int, cap: int) -> list[CellRow]:
    """l in every iteration of ExpGreedy on another collection."""
    run = values(FULL, QUIET, seed, objective=collection(collection_seed).objective, cap=cap)
    return [
        {"collection": collection_seed, "sigma2": QUIET, "seed": seed, "iteration": j, "l": len(r.candidates),
         "ended": r.ended}
        for j, r in enumerate(run.rounds, start=1)
    ]  # fmt: skip


def draw(tables: Tables) -> dict[str, Figure]:
    """Gains on the left, sizes on the right."""
    figure, (left, right) = style.canvas(2, width=9.6, height=4.0, ratios=[1.5, 1])
    _gains(left, tables["c"])
    _sizes(right, tables["c-sizes"])
    return {"c": figure}


def _gains(axis: Axes, table: CellTable) -> None:
    shown = (GREEDY, *DRAWN, RANDOM)
    looks = {**style.LOOKS, GREEDY: style.Look(style.INK, "", (0, (1, 1.5))), RANDOM: style.Look(style.FAINT, "x", ":")}  # type: ignore[arg-type]
    for place, series in enumerate(shown):
        own = table.where(series=series)
        aside = 0.0 if series in (GREEDY, RANDOM) else (place - 3) * 0.07  # else equal gains would hide each other
        line = looks[series].line if series in (GREEDY, RANDOM, FULL) else "none"
        axis.plot(own.column("iteration") + aside, own.column("gain"),
                  **looks[series].of(linestyle=line, label=style.label(series), linewidth=1.2))  # fmt: skip
    full = table.where(series=FULL)
    for row in full.rows:
        axis.annotate(f"l = {row['l']}", (float(row["iteration"]), 0.97), xycoords=("data", "axes fraction"),
                      ha="center", va="top", color=looks[FULL].colour, fontweight="bold")  # fmt: skip
    axis.set_xlim(0.4, K + 0.5)
    axis.set_xticks(range(1, K + 1))
    axis.set_ylim(0, 1.14 * max(table.column("gain")))
    axis.set_xlabel("iteration")
    axis.set_ylabel("marginal gain of the item picked")
    axis.set_title(f"One execution, σ² = {full.rows[0]['sigma2']:g}")
    axis.legend(loc="lower left", ncols=2)


def _sizes(axis: Axes, table: CellTable) -> None:
    below = np.zeros(K)
    for l in range(1, K + 1):
        part = np.array([(table.where(iteration=j).column("l") == l).mean() for j in range(1, K + 1)])
        axis.bar(range(1, K + 1), part, bottom=below, color=style.SHADES[l - 1], edgecolor="white", width=0.8)
        for j, (size, base) in enumerate(zip(part, below, strict=True), start=1):
            if size > 0.06:
                colour = "white" if l >= 4 else style.INK
                axis.text(j, base + size / 2, str(l), ha="center", va="center", fontsize=8, color=colour)
        below += part
    axis.set_xticks(range(1, K + 1))
    axis.grid(visible=False)
    axis.set_xlabel("iteration")
    axis.set_ylabel("share of collections")
    axis.set_title(f"Size l, {len(table.distinct('collection'))} collections, σ² = {QUIET:g}")


def judge(tables: Tables) -> Finding:
    """Whether l varies between 1 and k."""
    table, all_ = tables["c"], tables["c-sizes"]
    own = table.where(series=FULL)
    l = all_.column("l")
    more = int((l > 1).sum())
    seen = sorted({int(x) for x in l})
    sums = {series: float(table.where(series=series).column("gain").sum()) for series in (FULL, GREEDY, CERTIFIED)}
    here = ", ".join(str(row["l"]) for row in own.rows)
    claims = (
        PaperClaim(
            "The sizes returned vary: TopX adapts to the largest gap Δₗ.",
            f"In this execution l = {here}. Over {len(all_.distinct('collection'))} collections every size among "
            f"{', '.join(map(str, seen))} occurs, l > 1 in {share(more, len(l)).say()} of the iterations, "
            f"{mean(l).say()} on average.",
            verdict(len(seen) > 1, seen[0] == 1 and seen[-1] == K),
        ),
        PaperClaim(
            "(Shown) The gains stay close to GREEDY's.",
            f"ExpGreedy's picks add up to {sums[FULL]:.2f}, GREEDY's to {sums[GREEDY]:.2f}.",
            verdict(sums[FULL] >= 0.9 * sums[GREEDY]),
        ),
    )
    notes = (
        f"Ours: the picks of certified add up to {sums[CERTIFIED]:.2f}.",
        "Points of the same iteration are set side by side, because most of them agree. One execution has no interval.",
    )
    return Finding(TITLE, f"One execution (seed {own.rows[0]['seed']}) until the guarantee is met.", claims, notes)

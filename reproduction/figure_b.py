"""(b) How the queries of one iteration are spread over the items."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from handful.certificates import per_round
from handful.explorers.uniform import fixed_sample_size
from handful.problem import Floats
from reproduction import style
from reproduction.cells import Cell, CellRow, CellTable, Scale, Tables
from reproduction.report import Finding, PaperClaim, verdict
from reproduction.statistics import Interval, geometric, mean
from reproduction.world import CHAINED, DELTA, EPSILON, FIXED, FULL, UNIFORM, G, K, N, O, collection, values

TITLE = "(b) Distribution of queries across items"
DRAWN = (FULL, O, G, UNIFORM, CHAINED)
WEIGHT = {FULL: 3e4, O: 3e4, G: 3e4, UNIFORM: 4e5, CHAINED: 1e4}


def cells(scale: Scale) -> list[Cell]:
    """The first iteration: S = ∅ for all, so that the items' gains are the same."""
    sigma2 = scale.of(0.5, 0.2)
    found = []
    for seed in range(scale.of(10, 3)):
        for series in DRAWN:
            arguments = {"series": series, "sigma2": sigma2, "seed": scale.seed + seed, "cap": scale.cap}
            found.append(Cell("b", spread, arguments, WEIGHT[series]))
    found.append(Cell("b", spread_of_fixed, {"sigma2": sigma2}, 1.0))
    return found


def spread(series: str, sigma2: float, seed: int, cap: int) -> list[CellRow]:
    """Queries of each item in the first iteration, by the rank of its gain."""
    run = values(series, sigma2, seed, rounds=1, cap=cap)
    return _rows(series, sigma2, seed, run.rounds[0].per_item, "capped" if run.capped else "drawn")


def spread_of_fixed(sigma2: float) -> list[CellRow]:
    """The fixed sample is the same for every item."""
    repeats = fixed_sample_size(N, sigma2, per_round("O", K, EPSILON, DELTA))
    return _rows(FIXED, sigma2, 0, np.full(N, repeats), "computed")


def _rows(series: str, sigma2: float, seed: int, queries: np.typing.NDArray[np.int64], how: str) -> list[CellRow]:
    gains = collection().objective.start().gains()
    return [
        {"series": series, "sigma2": sigma2, "seed": seed, "rank": rank, "item": int(item),
         "gain": float(gains[item]), "queries": int(queries[item]), "how": how}
        for rank, item in enumerate(np.argsort(-gains, kind="stable"), start=1)
    ]  # fmt: skip


def by_run(own: CellTable) -> list[Floats]:
    """Queries over the items, for each run."""
    return [own.where(seed=seed).column("queries") for seed in own.distinct("seed")]


def items_in_play(own: CellTable) -> Interval:
    """The effective number of items: exp of the entropy of the shares; N if all are asked alike, 1 if only one is."""
    counts = []
    for queries in by_run(own):
        p = queries[queries > 0] / queries.sum()
        counts.append(float(np.exp(-(p * np.log(p)).sum())))
    return mean(counts)


def outside(own: CellTable) -> Interval:
    """Queries of items beyond the k of largest gain."""
    return geometric([queries[K:].sum() for queries in by_run(own)])


def draw(tables: Tables) -> dict[str, Figure]:
    """Items from best to worst, queries on a log axis."""
    table = tables["b"]
    figure, axis = style.canvas()
    for series in (*DRAWN[:-1], FIXED, CHAINED):
        own = table.where(series=series)
        y = [geometric(np.maximum(own.where(rank=rank).column("queries"), 1)) for rank in range(1, N + 1)]
        look = style.LOOKS[series]
        style.curve(axis, list(range(1, N + 1)), y, style.Look(look.colour, "", look.line, look.hollow), None)
        axis.plot(range(1, N + 1)[::4], [i.mid for i in y][::4], **look.of(linestyle="none", zorder=5))
        axis.plot([], [], **look.of(label=style.label(series)))
    axis.set_yscale("log")
    axis.set_xlim(0.2, N + 0.8)
    axis.set_xticks([1, 10, 20, 30, 40, 50, 60])
    axis.set_xlabel("items, from the largest gain to the smallest")
    axis.set_ylabel("queries in the first iteration")
    axis.set_title(f"Where the queries go, σ² = {table.rows[0]['sigma2']:g}")
    style.legend_below(figure, axis, 2)
    return {"b": figure}


def judge(tables: Tables) -> Finding:
    """Whether exploration is skewed, but less than that of O and G."""
    table = tables["b"]
    own = {series: table.where(series=series) for series in (*DRAWN, FIXED)}
    play = {series: items_in_play(of) for series, of in own.items()}
    share_ = {s: mean([q[:K].sum() / q.sum() for q in by_run(own[s])]) for s in (FULL, O, G, UNIFORM)}
    runs = len(own[FULL].distinct("seed"))
    claims = (
        PaperClaim(
            "ExpGreedy does more exploration across different items than G and O.",
            f"The queries are spread over {play[FULL].say(1)} items in effect (exp of the entropy) for ExpGreedy, "
            f"{play[O].say(1)} for O and {play[G].say(1)} for G; beyond the k best items ExpGreedy asks "
            f"{outside(own[FULL]).say(0)} times, O {outside(own[O]).say(0)} and G {outside(own[G]).say(0)}.",
            verdict(play[FULL].low > play[O].high, play[FULL].low > play[G].high),
        ),
        PaperClaim(
            "Its exploration is heavily skewed in comparison to UNIFORM.",
            f"{share_[FULL].mid:.0%} of ExpGreedy's queries are for the {K} best items, {share_[UNIFORM].mid:.0%} of "
            f"UNIFORM's ({play[UNIFORM].say(1)} items in effect).",
            verdict(play[FULL].high < play[UNIFORM].low / 2),
        ),
    )
    notes = (
        f"Ours: certified, with a proof in every round (rule chain), is spread over {play[CHAINED].say(1)} items. Its "
        "default proves only the end and has no cost of a single round to compare.",
        "An item that was not asked at all is drawn at 1.",
    )
    return Finding(TITLE, f"First iteration, {runs} runs; geometric means with 95% bands.", claims, notes)

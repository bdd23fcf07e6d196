"""The crowd experiment in simulation: three themes, 100 workers; duels at a twentieth of the cost, and best of four at
a fortieth."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from handful.lab.reproduce import style
from handful.lab.reproduce.cells import Cell, CellRow, CellTable, Scale, Tables
from handful.lab.reproduce.findings import Finding, PaperClaim, verdict
from handful.lab.reproduce.mixed_crowd import choose, crowd
from handful.lab.reproduce.statistics import Interval, mean
from handful.lab.reproduce.world import (
    CHOICES,
    DELTA,
    DUELS,
    EXPLORERS,
    FULL,
    GREEDY,
    OPTIONS,
    OURS,
    RANDOM,
    K,
    N,
    collection,
)
from handful.objectives import Coverage
from handful.problem import Preferences, Problem, Total
from handful.simulation import greedy, random_set
from handful.venice import PICTURES, THEMES, themes

if TYPE_CHECKING:
    from PIL.Image import Image

TITLE = "(Crowd) Summaries of an image collection"
PER_ITEM, TAU, WORKERS, IN_FLIGHT = 25, 3, 100, 20
COMPARISONS = PER_ITEM * TAU * N * K
BUDGETS = {FULL: COMPARISONS, DUELS: COMPARISONS // 20, CHOICES: COMPARISONS // 40}
ASKED = {FULL: "comparisons", DUELS: "comparisons", CHOICES: "questions"}
NAMES = ("Venice", "Venice Carnival", "Venice Cathedrals")


@cache
def objectives() -> dict[str, Coverage]:
    """The three themes' objectives over the same pictures."""
    return themes(collection())


def cells(scale: Scale) -> list[Cell]:
    """Each theme, with the paper's pairs, with duels, and with the best of four."""
    found = []
    for theme in NAMES:
        for seed in range(scale.of(5, 1)):
            for series, budget in BUDGETS.items():
                arguments = {"series": series, "theme": theme, "seed": scale.seed + seed, "budget": budget}
                found.append(Cell("crowd", summary, arguments, 25.0 * budget))
        found.append(Cell("crowd", references, {"theme": theme, "first": scale.seed}, 1e4))
    return found


def summary(series: str, theme: str, seed: int, budget: int) -> list[CellRow]:
    """The summary that one simulated crowd picks for a theme."""
    objective, total = objectives()[theme], Total(budget)
    tau = TAU if series == FULL else 1
    feedback = Preferences(options=OPTIONS) if series == CHOICES else Preferences(tau=tau)
    problem = Problem(N, K, feedback, delta=DELTA, budget=total, in_flight=IN_FLIGHT, seed=seed)
    state = EXPLORERS[series].build(problem)
    picks = choose(state, objective, crowd(WORKERS, seed), K, total, seed=seed, in_flight=IN_FLIGHT)
    return [
        {"series": series, "theme": theme, "seed": seed, "iteration": j, "item": pick.item,
         "image": collection().ids[pick.item], "gain": pick.gain, "comparisons": pick.comparisons}
        for j, pick in enumerate(picks, start=1)
    ]  # fmt: skip


def references(theme: str, first: int) -> list[CellRow]:
    """GREEDY, and RANDOM a hundred times."""
    objective = objectives()[theme]
    runs = [(GREEDY, first, greedy(objective, K))]
    runs += [(RANDOM, seed, random_set(objective, K, seed)) for seed in range(first, first + 100)]
    return [
        {"series": series, "theme": theme, "seed": seed, "iteration": j, "item": item,
         "image": collection().ids[item], "gain": gain, "comparisons": 0}
        for series, seed, run in runs
        for j, (item, gain) in enumerate(zip(run.chosen, run.gains, strict=True), start=1)
    ]  # fmt: skip


def quality(table: CellTable, series: str, theme: str) -> Interval:
    """Utility as a share of GREEDY's."""
    best = table.where(series=GREEDY, theme=theme).column("gain").sum()
    own = table.where(series=series, theme=theme)
    return mean([own.where(seed=seed).column("gain").sum() / best for seed in own.distinct("seed")])


def on_theme(table: CellTable, series: str, theme: str) -> float:
    """The share of picks that carry a tag of the theme's heart."""
    heart = THEMES[theme].heart.keys()
    items = table.where(series=series, theme=theme).column("item").astype(int)
    return float(np.mean([bool(heart & set(collection().images[i].tags)) for i in items]))


def draw(tables: Tables) -> dict[str, Figure | Image]:
    """Quality, and the first crowd's summaries as contact sheets side by side."""
    table = tables["crowd"]
    sheets = {"crowd-expgreedy": FULL, "crowd-duels": DUELS, "crowd-best-of-4": CHOICES}
    return {"crowd": _qualities(table)} | {name: sheet(table, series) for name, series in sheets.items()}


def _qualities(table: CellTable) -> Figure:
    figure: Figure
    figure, axis = style.canvas(width=7.2, height=3.4)
    looks = {**style.LOOKS, RANDOM: style.Look(style.FAINT, "x", "none")}
    for place, series in enumerate((FULL, DUELS, CHOICES, RANDOM)):
        y = [quality(table, series, theme) for theme in NAMES]
        x = np.arange(len(NAMES)) + (place - 1.5) * 0.16
        cost = "" if series == RANDOM else f", {BUDGETS[series]:,} {ASKED[series]}"
        suffix = "\n" + style.OURS_SUFFIX.strip() if series in OURS else ""
        axis.vlines(x, [i.low for i in y], [i.high for i in y], color=looks[series].colour, linewidth=1.5)
        axis.plot(
            x, [i.mid for i in y], **looks[series].of(linestyle="none", markersize=8, label=series + cost + suffix)
        )
    style.level(axis, 1.0, "GREEDY (noise-free)", above=True)
    axis.set_xticks(range(len(NAMES)), list(NAMES))
    axis.set_xlim(-0.6, len(NAMES) - 0.4)
    axis.set_ylim(0, 1.15)
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axis.set_ylabel("utility, as a share of GREEDY's")
    axis.set_title(f"{WORKERS} simulated workers, three themes")
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def sheet(table: CellTable, series: str) -> Image:
    """The summaries of the three themes, side by side."""
    from PIL import Image, ImageDraw, ImageFont

    from handful.lab.reproduce.sheet import INK, PAPER, postcard_sheet

    own = table.where(series=series)
    first = own.distinct("seed")[0]
    parts = []
    for theme in NAMES:
        items = own.where(theme=theme, seed=first).column("item").astype(int)
        images = [collection().images[i] for i in items]
        captions = [", ".join(image.tags[:5]) for image in images]
        parts.append(postcard_sheet([_picture(i.id) for i in images], captions, columns=2, title=theme, width=640))
    gap, head = 24, 64
    width = sum(part.width for part in parts) + gap * (len(parts) - 1)
    whole = Image.new("RGB", (width, head + max(part.height for part in parts)), PAPER)
    title = f"{style.label(series)}: {BUDGETS[series]:,} {ASKED[series]} by {WORKERS} simulated workers"
    pen = ImageDraw.Draw(whole)
    pen.text((10, head / 2), title, fill=INK, font=ImageFont.load_default(size=30), anchor="lm")
    for place, part in enumerate(parts):
        x = place * (part.width + gap)
        whole.paste(part, (x, head))
        if place:
            pen.line([(x - gap // 2, head), (x - gap // 2, whole.height - 16)], fill=(214, 206, 194), width=2)
    return whole


def _picture(id_: str) -> Image:
    from PIL import Image

    with Image.open(PICTURES / f"{id_}.webp") as picture:
        return picture.convert("RGB")


def judge(tables: Tables) -> Finding:
    """Whether the summaries are of high quality, and about their theme."""
    table = tables["crowd"]
    share = {(s, t): quality(table, s, t) for s in (*BUDGETS, RANDOM) for t in NAMES}
    told = {s: ", ".join(f"{t} {share[s, t].say()}" for t in NAMES) for s in BUDGETS}
    about = {(s, t): on_theme(table, s, t) for s in (FULL, DUELS, RANDOM) for t in THEMES}
    semantics = "; ".join(
        f"{t}: {about[FULL, t]:.0%} of ExpGreedy's picks, {about[DUELS, t]:.0%} of duels', "
        f"{about[RANDOM, t]:.0%} at random"
        for t in THEMES
    )
    claims = (
        PaperClaim(
            "The methodology produces high-quality summaries.",
            f"With {BUDGETS[FULL]:,} comparisons ExpGreedy's share of GREEDY's utility is {told[FULL]}.",
            verdict(*(share[FULL, t].mid >= 0.9 for t in NAMES)),
        ),
        PaperClaim(
            "It captures the semantics of the task.",
            f"Pictures that carry a tag of the theme: {semantics}.",
            verdict(*(about[FULL, t] > about[RANDOM, t] + 0.1 for t in THEMES)),
        ),
    )
    notes = (
        f"Ours: duels with a twentieth of that, {BUDGETS[DUELS]:,} comparisons, reaches {told[DUELS]}.",
        f"Side by side with pairs: a fortieth, {BUDGETS[CHOICES]:,} questions that show {OPTIONS} pictures and ask for "
        f"the best, reaches {told[CHOICES]}.",
        f"{PER_ITEM} queries of τ = {TAU} comparisons per item and iteration; {WORKERS} workers with β around 2, one "
        f"in five of them careless; {IN_FLIGHT} questions in flight.",
        "The paper's workers were people and its pictures photos; here both are made up.",
        "The sheets show the first crowd: ExpGreedy, duels, and best of four.",
    )
    return Finding(TITLE, f"Crowds for each theme: {len(table.where(series=FULL).distinct('seed'))}.", claims, notes)

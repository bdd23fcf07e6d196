"""The crowd experiment in simulation: three themes, 100 workers; duels at a twentieth of the cost, and best of four at
a fortieth.

The compiled simulator knows one response model; here every question goes to somebody else, so the loop is Python's.
It calls the same functions of the core, with the same question seeds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from statistics import NormalDist

import numpy as np
from matplotlib.figure import Figure
from PIL import Image, ImageDraw, ImageFont

from handful.draws import question_seed
from handful.errors import InvalidCollection
from handful.explorers.board import NOBODY, NOW, remove
from handful.explorers.protocol import (
    ExplorerState,
    conclude,
    late,
    open_round,
    propose,
    put_options,
    take_options,
    tell,
)
from handful.objectives import Coverage
from handful.problem import CLOSED, OPEN, Floats, Ints, Objective, Preferences, Problem, Total
from handful.responses import Response, btl, respond
from handful.responses import choose as named
from handful.simulation import greedy, random_set
from handful.venice import PICTURES, THEMES, themes
from reproduction import style
from reproduction.cells import Cell, CellRow, CellTable, Scale, Tables
from reproduction.report import Finding, PaperClaim, verdict
from reproduction.statistics import Interval, mean
from reproduction.world import CHOICES, DELTA, DUELS, EXPLORERS, FULL, GREEDY, OPTIONS, OURS, RANDOM, K, N, collection

TITLE = "(Crowd) Summaries of an image collection"
PER_ITEM, TAU, WORKERS, IN_FLIGHT = 25, 3, 100, 20
COMPARISONS = PER_ITEM * TAU * N * K
BUDGETS = {FULL: COMPARISONS, DUELS: COMPARISONS // 20, CHOICES: COMPARISONS // 40}
ASKED = {FULL: "comparisons", DUELS: "comparisons", CHOICES: "questions"}
NAMES = ("Venice", "Venice Carnival", "Venice Cathedrals")
SHARP, SPREAD = 2.0, 0.5
"""β is log-normal around 2: most people between 1 and 4."""
CARELESS = ((0.8, 0.02), (0.2, 0.25))
"""Four in five answer by a coin one time in fifty, one in five one time in four."""
PAPER, INK, BADGE = (244, 240, 232), (52, 46, 48), (196, 52, 50)


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


def crowd(size: int, seed: int) -> tuple[Response, ...]:
    """How each person answers: with a sharpness and a share of careless answers of their own."""
    rng = np.random.Generator(np.random.Philox(key=np.array([11, seed], dtype=np.uint64)))
    people = []
    for _ in range(size):
        beta = SHARP * float(np.exp(SPREAD * NormalDist().inv_cdf(max(rng.random(), 1e-12))))
        people.append(btl(beta, CARELESS[0][1] if rng.random() < CARELESS[0][0] else CARELESS[1][1]))
    return tuple(people)


@dataclass(frozen=True)
class Pick:
    """The pick of one round, and what it cost."""

    item: int
    gain: float
    comparisons: int
    size: int


def choose(
    state: ExplorerState,
    objective: Objective,
    people: Sequence[Response],
    k: int,
    budget: Total,
    *,
    seed: int,
    in_flight: int,
) -> list[Pick]:
    """k picks; question n knows the answers up to n − in_flight, and a person drawn at random answers it."""
    rng = np.random.Generator(np.random.Philox(key=np.array([12, seed], dtype=np.uint64)))
    progress = objective.start()
    picks: list[Pick] = []
    spent = 0
    for j in range(1, k + 1):
        gains = progress.gains()
        open_round(state, j, budget.left(spent), k - j + 1)
        asked = _round(state, gains, people, rng, seed, j, in_flight)
        spent += asked
        board = state.board.round[0]
        item = int(board["pick"])
        picks.append(Pick(item, float(gains[item]), asked, int(board["size"])))
        progress.add(item)
        remove(state.board, item)
    return picks


def _round(
    state: ExplorerState,
    gains: Floats,
    people: Sequence[Response],
    rng: np.random.Generator,
    seed: int,
    j: int,
    room: int,
) -> int:
    waiting: deque[tuple[Ints, tuple[int, int, int, float]]] = deque()
    options = len(getattr(state, "options", ()))
    asked = 0
    while state.board.round[0]["ended"] == OPEN:
        item, rival, given = propose(state, asked) if len(waiting) < room else (-1, NOBODY, NOW)
        if item >= 0:
            person, own = people[int(rng.random() * len(people))], question_seed(seed, j, asked)
            row = np.full(options, -1, np.int64)
            if options:
                take_options(state, row)
                item, answer = named(person, gains, row, own), 1.0
            else:
                answer = respond(person, gains[item], gains[rival], own)
            waiting.append((row, (item, rival, given, answer)))
            asked += 1
        elif waiting:
            row, question = waiting.popleft()
            put_options(state, row)
            tell(state, *question)
        else:
            conclude(state, CLOSED)
    for row, question in waiting:
        put_options(state, row)
        late(state, *question)
    return asked


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


def draw(tables: Tables) -> dict[str, Figure | Image.Image]:
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


def sheet(table: CellTable, series: str) -> Image.Image:
    """The summaries of the three themes, side by side."""
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


def _picture(id_: str) -> Image.Image:
    with Image.open(PICTURES / f"{id_}.webp") as picture:
        return picture.convert("RGB")


def postcard_sheet(
    pictures: Sequence[Image.Image],
    captions: Sequence[str] | None = None,
    columns: int = 3,
    title: str = "",
    *,
    width: int = 1200,
) -> Image.Image:
    """The pictures in reading order, numbered from 1, each over its caption.

    All cells have the proportions of the first picture.
    """
    if not pictures or columns < 1:
        raise InvalidCollection(
            f"{len(pictures)} pictures in {columns} columns make no sheet: give at least one of each"
        )
    if captions is not None and len(captions) != len(pictures):
        raise InvalidCollection(f"{len(captions)} captions for {len(pictures)} pictures: give one per picture")
    columns = min(columns, len(pictures))
    gap = width // 60
    across = (width - gap * (columns + 1)) // columns
    down = round(across * pictures[0].height / pictures[0].width)
    line = max(12, across // 16)
    head = width // 20 if title else gap
    cell = down + gap + (round(line * 1.2) if captions else 0)
    sheet = Image.new(
        "RGB", (width, head + cell * ceil(len(pictures) / columns) + (0 if not captions else gap // 2)), PAPER
    )
    ink = ImageDraw.Draw(sheet)
    if title:
        ink.text((gap, head / 2), title, fill=INK, font=ImageFont.load_default(size=head * 0.42), anchor="lm")
    for number, picture in enumerate(pictures):
        x = gap + (number % columns) * (across + gap)
        y = head + (number // columns) * cell
        ink.rectangle([x + 2, y + 3, x + across + 2, y + down + 3], fill=(220, 213, 202))
        sheet.paste(picture.convert("RGB").resize((across, down), Image.Resampling.LANCZOS), (x, y))
        _badge(sheet, x, y, max(9, across // 22), number + 1)
        if captions:
            font = ImageFont.load_default(size=line * 0.8)
            ink.text(
                (x, y + down + line * 0.7), _fitting(captions[number], font, across), fill=INK, font=font, anchor="lm"
            )
    return sheet


def _badge(sheet: Image.Image, x: int, y: int, r: int, number: int) -> None:
    """A smooth red disc with the number, over the picture's corner."""
    finer = 4
    disc = Image.new("L", (2 * r * finer, 2 * r * finer))
    ImageDraw.Draw(disc).ellipse([0, 0, 2 * r * finer - 1, 2 * r * finer - 1], fill=255)
    sheet.paste(BADGE, (x - r // 3, y - r // 3), disc.reduce(finer))
    middle = (x - r // 3 + r, y - r // 3 + r)
    font = ImageFont.load_default(size=r * (1.2 if number < 10 else 1.0))
    ImageDraw.Draw(sheet).text(middle, str(number), fill=(255, 250, 240), font=font, anchor="mm")


def _fitting(text: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, room: float) -> str:
    """The text, cut where the cell ends."""
    if font.getlength(text) <= room:
        return text
    while text and font.getlength(text + "…") > room:
        text = text[:-1]
    return text.rstrip() + "…"


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

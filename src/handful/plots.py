"""Pictures of a result: what each round knew, where the answers went, what each pick gained."""

from __future__ import annotations

import io
import math
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from handful.certificates import Certificate
from handful.errors import InvalidProblem
from handful.explorers.board import GAIN
from handful.numbers import at_least, at_most, confidence, percent_at_least
from handful.results import Result, RoundResult
from handful.wording import counted

# Okabe and Ito's colours: told apart by colour-blind readers, and in grey.
PICKED, DRAWN, OTHER, INK = "#0072B2", "#56B4E9", "#B8B8B8", "#333333"
CONTENDERS = 8
PER_ROW = 5
MOST_ITEMS = 60
TITLE_WIDTH = 115  # letters above all rounds of a row
DPI = 144  # twice what it is shown at, for screens with fine pixels
SHOWN_AT = 72


class ShownFigure(Figure):
    """A figure that pyplot knows nothing of: a cell that ends with it shows it once, and nothing else does."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        out = io.BytesIO()
        self.savefig(out, format="png", dpi=DPI)
        wide, high = self.get_size_inches()
        return out.getvalue(), {"width": round(wide * SHOWN_AT), "height": round(high * SHOWN_AT)}


def plot(result: Result, file: str | Path | None = None) -> Figure:
    """Intervals of the contenders per round, answers over items, how the picks stood, and what is certified."""
    rounds = result.rounds
    rows = max(1, math.ceil(len(rounds) / PER_ROW))
    figure = ShownFigure(figsize=(12, 2.6 * rows + 3.6), layout="constrained")
    top, bottom = np.asarray(figure.subfigures(2, 1, height_ratios=[2.6 * rows, 3.6]))
    _draw_rounds(top, result, rows)
    left, middle, right = bottom.subplots(1, 3, width_ratios=[1.1, 1.1, 1.0])
    _draw_answers(left, rounds)
    _draw_picks(middle, result)
    draw_certificate(right, result.certificate)
    if file is not None:
        _save(figure, file)
    return figure


def _save(figure: Figure, file: str | Path) -> None:
    if not isinstance(file, (str, Path)):
        raise InvalidProblem(f"file must be the path of a picture to write, such as 'result.png', got {file!r}")
    ending, known = Path(file).suffix.lstrip(".").lower(), figure.canvas.get_supported_filetypes()
    if ending and ending not in known:
        raise InvalidProblem(f"no picture can be written as {str(file)!r}: end it in .png, .svg or .pdf")
    figure.savefig(file, dpi=150)


def _draw_rounds(figure: SubFigure, result: Result, rows: int) -> None:
    rounds, scale = result.rounds, result.scale
    bars = "its belief, two standard deviations" if result.believed else "confidence intervals in that round"
    figure.suptitle(f"What each round knew of its contenders: {scale} (bars: {bars})", color=INK, fontweight="bold")
    columns = max(1, math.ceil(len(rounds) / rows))
    axes = np.asarray(figure.subplots(rows, columns, squeeze=False)).ravel()
    for axis in axes[len(rounds) :]:
        axis.set_axis_off()
    for axis, r in zip(axes, rounds, strict=False):
        _draw_contenders(axis, r, TITLE_WIDTH // columns)


def _draw_contenders(axis: Axes, r: RoundResult, width: int) -> None:
    """One round, with a title of at most so many letters a line."""
    known = r.estimates
    shown = list(known[:CONTENDERS])
    shown += [e for e in known[CONTENDERS:] if e.item == r.pick][:1]
    for y, e in enumerate(shown):
        colour = PICKED if e.item == r.pick else DRAWN if e.item in r.candidates else OTHER
        if math.isfinite(e.lower) and math.isfinite(e.upper):
            axis.plot([e.lower, e.upper], [y, y], color=colour, linewidth=3, solid_capstyle="round")
        if math.isfinite(e.mean):
            axis.plot([e.mean], [y], "o", color=INK, markersize=4)
    axis.set_yticks(range(len(shown)), [_short(e.item) for e in shown], fontsize=8)
    for label, e in zip(axis.get_yticklabels(), shown, strict=True):
        label.set_fontweight("bold" if e.item == r.pick else "normal")
    axis.set_ylim(max(len(shown), CONTENDERS) - 0.5, -0.5)
    proof = " with the proof" if r.proof else ""
    spent = textwrap.fill(f"{counted(r.answers, 'answer')}{proof}, {r.ending.short}", width)
    axis.set_title(f"{r.round}. {_short(r.pick)}\n{spent}", fontsize=9, color=INK, loc="left")
    _tidy(axis)
    axis.locator_params(axis="x", nbins=4)
    axis.tick_params(axis="x", labelsize=8)
    axis.grid(axis="x", color="#E5E5E5")


def _draw_answers(axis: Axes, rounds: tuple[RoundResult, ...]) -> None:
    axis.set_title("Answers over items", color=INK, fontweight="bold")
    _tidy(axis)
    if not rounds:
        return
    answers = np.sum([r.answers_about for r in rounds], axis=0)
    picks = [r.pick for r in rounds]
    items = rounds[0].items
    by_answers = enumerate(np.argsort(-answers, kind="stable"))
    order = [i for place, i in by_answers if items[i] in picks or (place < MOST_ITEMS and answers[i] > 0)]
    colours = [PICKED if items[i] in picks else OTHER for i in order]
    axis.bar(range(len(order)), answers[order], color=colours, width=0.85)
    for place, i in enumerate(order):
        if items[i] in picks:
            axis.text(
                place,
                answers[i],
                str(rounds[picks.index(items[i])].round),
                ha="center",
                va="bottom",
                fontsize=8,
                color=INK,
            )
    known = int((answers > 0).sum())
    also = " and the picks" if len(order) > MOST_ITEMS else ""
    more = "" if known <= MOST_ITEMS else f" (the {MOST_ITEMS} most asked about{also}, of {known:,})"
    axis.set_xlabel(f"items, most asked first{more}\nnumbers: the round that picked it", fontsize=8.5)
    axis.set_ylabel("answers")
    axis.set_xticks([])


def _draw_picks(axis: Axes, result: Result) -> None:
    rounds, gained = result.rounds, result.scale == GAIN
    axis.set_title("What each pick added" if gained else "How the picks stood", color=INK, fontweight="bold")
    _tidy(axis)
    for place, r in enumerate(rounds):
        e = next((e for e in r.estimates if e.item == r.pick), None)
        if e is None:
            continue
        if math.isfinite(e.lower) and math.isfinite(e.upper):
            axis.plot([place, place], [e.lower, e.upper], color=PICKED, linewidth=4, solid_capstyle="round")
        if math.isfinite(e.mean):
            axis.plot([place], [e.mean], "o", color=INK, markersize=5)
    axis.set_xticks(
        range(len(rounds)), [f"{r.round}. {_short(r.pick)}" for r in rounds], rotation=30, ha="right", fontsize=8
    )
    axis.set_ylabel(result.scale)
    axis.grid(axis="y", color="#E5E5E5")


def draw_certificate(axis: Axes, certificate: Certificate) -> None:
    """A small picture of what is certified: what the selection is worth at least, beside the best there could be."""
    axis.set_title("What is certified", color=INK, fontweight="bold")
    axis.set_yticks([])
    _tidy(axis)
    axis.spines["left"].set_visible(False)
    if certificate.ratio is None or certificate.value is None or certificate.optimum is None:
        axis.set_axis_off()
        said = textwrap.fill(certificate.sentence, 44, max_lines=11, placeholder=" …")
        axis.text(0.0, 0.95, said, transform=axis.transAxes, va="top", fontsize=8.5, color=INK)
        return
    axis.barh([0], [certificate.optimum], color=OTHER, height=0.35)
    axis.barh([0], [certificate.value], color=PICKED, height=0.35)
    wide = certificate.ratio > 0.4
    share, worth = percent_at_least(certificate.ratio), f"worth at least {at_least(certificate.value)}"
    if wide:
        axis.text(certificate.value / 2, 0, share, ha="center", va="center", color="white")
    else:
        axis.text(certificate.value, 0, f" {share}", ha="left", va="center", color=INK)
    at, side = (certificate.value, "right") if wide else (0.0, "left")
    axis.text(at, 0.22, worth, ha=side, va="bottom", fontsize=8.5)
    best = f"the best possible\nat most {at_most(certificate.optimum)}"
    axis.text(certificate.optimum, -0.22, best, ha="right", va="top", fontsize=8.5)
    axis.set_ylim(-1.0, 0.8)
    said = f"with {confidence(certificate.delta or 0)} confidence"
    axis.set_xlabel(said if certificate.bound is None else f"{said}; {certificate.claim}", fontsize=8.5)


def _tidy(axis: Axes) -> None:
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(colors=INK)
    axis.set_axisbelow(True)


def _short(item: Any) -> str:
    text = str(item)
    return text if len(text) <= 16 else text[:15] + "…"

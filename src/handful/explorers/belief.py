"""Gaussian beliefs about all items, and what a question is worth by them: what `worth` and `duels` share.

m answers of variance σ² about a quantity believed to be N(·, v) will move its mean by a standard deviation of s =
v/√(v + σ²/m). If it is now `away` behind the best, the best mean rises by s·(φ(x) − x·Φ(−x)) on average, x = away/s.
Per answer, and for the best m, that is what a question is worth (Frazier and Powell, "Paradoxes in learning and the
marginal value of information", 2010: KG*, with their approximation of that m).
"""

from __future__ import annotations

import math

import numpy as np

from handful.draws import BELIEF, normals_of, uniforms
from handful.explorers.board import Board, Rows
from handful.kernels import kernel
from handful.problem import Floats

_ITEM = np.dtype([("mean", np.float64), ("variance", np.float64)], align=True)
_FARTHEST = 8.7  # no draw is farther from the mean, in standard deviations: √(−2 log 2⁻⁵⁴)
_SAFELY = 1.0 - 1e-9  # more than rounding could matter
_ROOT = math.sqrt(2.0 * math.pi)


def new_beliefs(size: int, mean: float, variance: float) -> Rows:
    """The same belief about every item."""
    items = np.zeros(size, _ITEM)
    items["mean"] = mean
    items["variance"] = variance
    return items


def standardised(prior: Floats | None) -> Floats | None:
    """A prior's scores with mean 0 and standard deviation 1; None where there is none, or all are equal."""
    if prior is None:
        return None
    scores = prior / max(float(np.abs(prior).max()), 1e-300)  # so that no square is too large
    spread = float(scores.std())
    return (scores - scores.mean()) / spread if spread > 1e-12 else None


@kernel
def best_of(items: Rows, board: Board) -> int:
    """The candidate of the best mean; ties to the first of the candidates."""
    best = board.open[0]
    for p in range(board.round[0].candidates):
        i = board.open[p]
        if items[i].mean > items[best].mean:
            best = i
    return best


@kernel
def next_best(items: Rows, board: Board, after: int) -> int:
    """The candidate whose mean comes after that of `after`, or the first of all after -1; -1 where there is none."""
    best = -1
    for p in range(board.round[0].candidates):
        i = board.open[p]
        if after >= 0:
            comes = items[i].mean < items[after].mean
            comes |= items[i].mean == items[after].mean and p > board.items[after].where
            if not comes:
                continue
        if best < 0 or items[i].mean > items[best].mean:
            best = i
    return best


@kernel
def centre_and_widen(items: Rows, board: Board, most: float, more: float) -> None:
    """Let the mean of the candidates' means be 0, and add `more` to each variance, up to `most`."""
    centre = 0.0
    for p in range(board.round[0].candidates):
        centre += items[board.open[p]].mean
    centre /= board.round[0].candidates
    for i in range(len(items)):
        items[i].mean -= centre
        items[i].variance = min(most, items[i].variance + more)


@kernel
def left_of(board: Board) -> float:
    """How many answers the round may still cost: there is no sense in planning for more."""
    r = board.round[0]
    return np.inf if r.limit < 0 else max(1.0, float(r.limit - r.asked))


@kernel
def worth_of_asking(away: float, v: float, noise: float, left: float, most: float) -> float:
    """What one of the next answers is worth, when the best number of them, up to `left`, is asked.

    0 if that is less than `most`, as far as φ(x) − x·Φ(−x) ≤ φ(x)/(1 + x²) can tell: cheap to see for most items.
    """
    x2 = away * away / v
    m = 0.25 * noise / v * (x2 - 1.0 + math.sqrt(1.0 + 6.0 * x2 + x2 * x2))
    m = min(max(m, 1.0), left)
    s = v / math.sqrt(v + noise / m)
    x = away / s
    y = 0.5 * x * x
    if s < most * m * _ROOT * (1.0 + 2.0 * y) * (1.0 + y * (1.0 + y * (0.5 + y / 6.0))):
        return 0.0
    return s / m * (math.exp(-y) / _ROOT - 0.5 * x * math.erfc(x / math.sqrt(2.0)))


@kernel
def reckon(items: Rows, own: Rows, scores: Floats, i: int, trust: float, doubt: float) -> None:
    """The strength of item i: its own part, and what a prior's score is worth."""
    items[i].mean = own[i].mean + trust * scores[i]
    items[i].variance = own[i].variance + doubt * scores[i] * scores[i]


@kernel
def reckon_all(items: Rows, own: Rows, scores: Floats, trust: float, doubt: float) -> None:
    """All strengths."""
    for i in range(len(items)):
        reckon(items, own, scores, i, trust, doubt)


@kernel
def drawn(items: Rows, board: Board, n: int, reach: float) -> int:
    """The best of one posterior draw (Thompson sampling), at `reach` times its distance from the mean.

    Question n of a round uses its own counters, one for two candidates. Who could not win is not drawn.
    """
    r = board.round[0]
    lead = best_of(items, board)
    at = board.items[lead].where // 2
    pairs = (r.candidates + 1) // 2
    best, most = lead, -np.inf
    for p in range(pairs):
        pair = at if p == 0 else (p if p > at else p - 1)  # the leader's pair first: it rules out many
        u, v, z1, z2 = 0.0, 0.0, 0.0, 0.0
        known, reckoned = False, False
        for q in range(2 * pair, min(2 * pair + 2, r.candidates)):
            i = board.open[q]
            sd = reach * math.sqrt(items[i].variance)
            if items[i].mean + _FARTHEST * sd < most:
                continue
            if not known:
                u, v = uniforms(r.seed, r.round, BELIEF, n * pairs + pair)
                known = True
            away = most - items[i].mean
            if away > 0.0 and 2.0 * sd * sd * (1.0 - u) < _SAFELY * u * away * away:  # −log u ≤ (1 − u)/u
                continue
            if not reckoned:
                z1, z2 = normals_of(u, v)
                reckoned = True
            x = items[i].mean + sd * (z1 if q % 2 == 0 else z2)
            if x > most:
                best, most = i, x
    return best

"""What `duels` believes: how strong each item is, by Plackett and Luce, and how far off that is against all others.

With the options O shown, P(i is named) = exp(θ_i) / Σ_{j∈O} exp(θ_j). An answer moves the beliefs about all options by
one step on the whole of it, for the m − 1 pairs it tells about are not independent: with v twice the mean variance of
the options, κ = 1/√(1 + πv/8) and p_i = exp(κ·mean_i) / Σ_j exp(κ·mean_j),
    mean_i += s_i·κ·(y_i − p_i),     s_i −= s_i²·κ²·p_i(1 − p_i),     y_i = 1 for the option named and 0 for others.
An answer is taken for careless with a chance that its p tells. A prior's scores enter as one more unknown: a strength
is its own part plus τ times the item's score, and every answer teaches τ too.

Where tastes differ, an item may win close contests and lose to most others. So some questions pit a contender against
random rivals, and in these its strength is θ + d, with d ~ N(0, σ²) its own. Whatever the preferences are, the item of
the largest θ + d is then the one that is preferred to random others most often: that is who leads, and who is picked.

Neither how far strengths lie apart nor σ² is known before: the belief is held by several hypotheses at once, each with
values of its own. The one that foretold the answers best so far chooses what to ask (empirical Bayes). Whether a round
is decided is averaged over σ² by how well each value foretold them, on the best scale of strengths; what is said of the
pick, over smaller scales too.
Of two options, the pick is the strongest on such an average, too, without a small σ²: by the time that a large one
foretells better than none, an item that beats only the best would long have been picked for its close contests.
Where more than two are shown, the hypothesis that foretold best picks, and a small σ² chooses nothing: who is named
among the best of them is who matters most to people, and where tastes differ a little that is worth more than to be
liked by most.

Only variances are kept, no covariances. The step above is right for an item alone; the difference of two that were
compared is known better, as they share what is unknown of both. `_JOINT` of that is credited to each, which takes
(p_i·s_i/(m − 1))·Σ_{j≠i} p_j·s_j·κ² more off s_i: 0 would leave contenders too doubtful, and 1 make an item too sure
beside those that it was not compared with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from handful.explorers.belief import best_of, centre_and_widen, new_beliefs, standardised, worth_of_asking
from handful.explorers.board import STRENGTH, Board, Rows, View
from handful.kernels import kernel
from handful.problem import Floats, Ints

_HYPOTHESIS = np.dtype(
    [
        ("variance", np.float64),  # of a strength, before anything is known
        ("widen", np.float64),  # variance added for the next round
        ("off", np.float64),  # σ²
        ("evidence", np.float64),  # the logarithm of how likely it held the answers that came
        ("weight", np.float64),  # its share of the belief
        ("trust", np.float64),  # how much strength a prior's score is worth, as far as is known
        ("doubt", np.float64),  # and the variance of that; 0 without a prior
    ],
    align=True,
)
_RULES = np.dtype(
    [
        ("careless", np.float64),  # share of answers taken for random ones
        ("sure", np.float64),  # how sure the belief must be of the best to end a round before its budget; 0: never
        ("least", np.float64),  # a σ² between 0 and this is reckoned with in what is said, and chooses nothing
        ("rounds", np.int64),  # whether a round has begun before
        ("best", np.int64),  # the hypothesis that foretold best; every len(SCALES)-th is of its scale
    ],
    align=True,
)

SCALES = (1.0, 0.5, 1.0 / 6.0, 8.0 / 3.0, 7.0)  # of the prior variance and of what widens it; ties go to the first
OFF = (0.0, 0.15, 0.6, 2.5)  # σ²
BEFORE = (0.7, 0.2, 0.08, 0.02)  # how likely each is before anything is known
_LEAST = 0.5  # σ² that chooses, of questions with more than two options, and that picks where there are two
_NOTICED = 0.01  # a change of weights that is smaller than this is left for later
_TRUST, _DOUBT = 0.3, 0.25  # what a score of one standard deviation is worth at first, and the variance of that
_KEPT = 0.7  # of what is known of d, for the next round
_JOINT = 0.3  # of what a difference between two options teaches, credited to each
NOBODY_LEADS = -1
_REACH = 0.7  # of a draw: a whole one looks too far, for a round ends with its budget
_FAR, _NEAR = 1.0, 0.5  # in the first round and in the last of several, where strengths lie close together


class Strengths(NamedTuple):
    """A belief about all items."""

    rules: Rows
    hypotheses: Rows
    own: Rows  # a row per hypothesis: what of θ a prior's score does not explain
    off: Rows  # a row per hypothesis: d
    items: Rows  # θ + d by the best hypothesis: what is asked, and of more than two options picked
    said: Rows  # θ + d on average: whether a round is decided
    scores: Floats  # a prior's, standardised; else 0
    chances: Floats  # room for one number per option


def new_strengths(
    size: int, options: int, prior: Floats | None, variance: float, widen: float, careless: float, sure: float
) -> Strengths:
    """All strengths alike, or as the prior's scores say."""
    rules, hypotheses = np.zeros(1, _RULES), np.zeros(len(SCALES) * len(OFF), _HYPOTHESIS)
    rules["careless"], rules["sure"], rules["least"] = careless, sure, _LEAST if options > 2 else 0.0
    scale = np.tile(SCALES, len(OFF))
    hypotheses["variance"], hypotheses["widen"] = variance * scale, widen * scale
    hypotheses["off"] = np.repeat(OFF, len(SCALES))
    hypotheses["evidence"] = np.log(np.repeat(BEFORE, len(SCALES)))
    standard = standardised(prior)
    if standard is not None:
        hypotheses["trust"], hypotheses["doubt"] = _TRUST, _DOUBT
    belief = Strengths(
        rules,
        hypotheses,
        np.stack([new_beliefs(size, 0.0, v) for v in hypotheses["variance"]]),
        np.stack([new_beliefs(size, 0.0, v) for v in hypotheses["off"]]),
        new_beliefs(size, 0.0, variance),
        new_beliefs(size, 0.0, variance),
        np.zeros(size) if standard is None else standard,
        np.zeros(options),
    )
    _weigh(belief)
    _reckon_all(belief)
    return belief


@kernel
def _weigh(belief: Strengths) -> bool:
    """Weights by how well the answers were foretold; whether any has changed by enough to be noticed."""
    rules, hypotheses = belief.rules[0], belief.hypotheses
    best = 0
    for g in range(len(hypotheses)):
        slight = 0.0 < hypotheses[g].off < rules.least
        if hypotheses[g].evidence > hypotheses[best].evidence and not slight:
            best = g
    scale, top, total = best % len(SCALES), hypotheses[best].evidence, 0.0
    for g in range(scale, len(hypotheses), len(SCALES)):
        top = max(top, hypotheses[g].evidence)
    for g in range(scale, len(hypotheses), len(SCALES)):
        total += math.exp(hypotheses[g].evidence - top)
    changed = best != rules.best
    for g in range(scale, len(hypotheses), len(SCALES)):
        changed |= abs(math.exp(hypotheses[g].evidence - top) / total - hypotheses[g].weight) > _NOTICED
    if not changed:
        return False
    rules.best = best
    for g in range(len(hypotheses)):
        hypotheses[g].weight = math.exp(hypotheses[g].evidence - top) / total if g % len(SCALES) == scale else 0.0
    return True


@kernel
def _reckon(belief: Strengths, i: int) -> None:
    """θ + d of item i."""
    best, score, mean, square = belief.rules[0].best, belief.scores[i], 0.0, 0.0
    for g in range(best % len(SCALES), len(belief.hypotheses), len(SCALES)):
        own, off, hypothesis = belief.own[g, i], belief.off[g, i], belief.hypotheses[g]
        strength = own.mean + hypothesis.trust * score + off.mean
        variance = own.variance + hypothesis.doubt * score * score + off.variance
        mean += hypothesis.weight * strength
        square += hypothesis.weight * (variance + strength * strength)
        if g == best:
            belief.items[i].mean = strength
            belief.items[i].variance = max(variance, 1e-9)
    belief.said[i].mean = mean
    belief.said[i].variance = max(square - mean * mean, 1e-9)


@kernel
def _reckon_all(belief: Strengths) -> None:
    for i in range(len(belief.items)):
        _reckon(belief, i)


@kernel
def widen(belief: Strengths, board: Board) -> None:
    """A later round starts from what is believed, with more doubt."""
    rules = belief.rules[0]
    if rules.rounds == 0:
        rules.rounds = 1
        return
    for g in range(len(belief.hypotheses)):
        off, hypothesis = belief.off[g], belief.hypotheses[g]
        centre_and_widen(belief.own[g], board, hypothesis.variance, hypothesis.widen)
        for i in range(len(off)):
            off[i].mean *= _KEPT
            off[i].variance = _KEPT * _KEPT * off[i].variance + (1.0 - _KEPT * _KEPT) * hypothesis.off
    _reckon_all(belief)


@kernel
def learn(belief: Strengths, board: Board, options: Ints, named: int, lead: int) -> None:
    """One step of every hypothesis, from the options that are candidates still.

    `lead` is the option that was pitted against a random rival, or NOBODY_LEADS.
    """
    for g in range(len(belief.hypotheses)):
        _learn_by(belief, g, board.items, options, named, lead)
    for q in range(len(belief.chances)):  # leave no trace of a reckoning: states are compared to the bit
        belief.chances[q] = 0.0
    if _weigh(belief) or belief.hypotheses[0].doubt > 0.0:
        _reckon_all(belief)
        return
    for q in range(len(options)):
        if options[q] >= 0:
            _reckon(belief, options[q])


@kernel
def _learn_by(belief: Strengths, g: int, where: Rows, options: Ints, named: int, lead: int) -> None:
    """One step of assumed-density filtering by one hypothesis."""
    hypothesis, own, off = belief.hypotheses[g], belief.own[g], belief.off[g]
    chances, scores = belief.chances, belief.scores
    count, variance, score, square, top = 0, 0.0, 0.0, 0.0, -np.inf
    for q in range(len(options)):
        i = options[q]
        if i >= 0 and where[i].where >= 0:
            count += 1
            variance += own[i].variance
            score += scores[i]
            square += scores[i] * scores[i]
            chances[q] = own[i].mean + hypothesis.trust * scores[i]
            if i == lead:
                chances[q] += off[i].mean
                variance += off[i].variance
            top = max(top, chances[q])
    apart = square / count - (score / count) ** 2  # of two options, a quarter of their squared distance
    variance = 2.0 * variance / count + hypothesis.doubt * 2.0 * count / (count - 1) * apart
    kappa = 1.0 / math.sqrt(1.0 + math.pi * variance / 8.0)
    total = 0.0
    for q in range(len(options)):
        i = options[q]
        if i >= 0 and where[i].where >= 0:
            chances[q] = math.exp(kappa * (chances[q] - top))
            total += chances[q]
    likely = 0.0
    for q in range(len(options)):
        chances[q] /= total
        if options[q] == named:
            likely = chances[q]
    careless = belief.rules[0].careless
    came = (1.0 - careless) * likely + careless / count
    hypothesis.evidence += math.log(max(came, 1e-300))
    meant = (1.0 - careless) * likely / came if came > 0.0 else 1.0
    step, mean, spread = 0.0, 0.0, 0.0  # of what scores are worth
    others = 0.0
    for q in range(len(options)):
        i = options[q]
        if i >= 0 and where[i].where >= 0:
            others += chances[q] * own[i].variance
    for q in range(len(options)):
        i, p = options[q], chances[q]
        if i < 0 or where[i].where < 0:
            continue
        move = meant * kappa * ((1.0 if i == named else 0.0) - p)
        bend = meant * kappa * kappa * p * (1.0 - p)
        more = _JOINT * meant * kappa * kappa * p * (others - p * own[i].variance) / (count - 1)
        _move(own, i, move, bend, more)
        if i == lead and hypothesis.off > 0.0:
            _move(off, i, move, bend, 0.0)
        step += move * scores[i]
        mean += p * scores[i]
        spread += p * scores[i] * scores[i]
    if hypothesis.doubt > 0.0:
        hypothesis.trust += hypothesis.doubt * step
        bend = meant * kappa * kappa * max(spread - mean * mean, 0.0)
        hypothesis.doubt = max(hypothesis.doubt * (1.0 - hypothesis.doubt * bend), 1e-9)


@kernel
def _move(beliefs: Rows, i: int, move: float, bend: float, more: float) -> None:
    """One step of a Gaussian belief."""
    s = beliefs[i].variance
    beliefs[i].mean += s * move
    beliefs[i].variance = max(s * (1.0 - s * bend - more), 0.1 * s)


@kernel
def pick_of(belief: Strengths, board: Board) -> int:
    """Whom to pick as far as is known."""
    rules, hypotheses = belief.rules[0], belief.hypotheses
    if rules.least > 0.0:
        return best_of(belief.items, board)
    best, most = -1, 0.0
    for p in range(board.round[0].candidates):
        i, strength = board.open[p], 0.0
        for g in range(rules.best % len(SCALES), len(hypotheses), len(SCALES)):
            if 0.0 < hypotheses[g].off < _LEAST:
                continue
            own = belief.own[g, i].mean + hypotheses[g].trust * belief.scores[i]
            strength += hypotheses[g].weight * (own + belief.off[g, i].mean)
        if best < 0 or strength > most:
            best, most = i, strength
    return best


@kernel
def reach_of(belief: Strengths, board: Board) -> float:
    """How far draws are taken from the mean.

    Where strengths lie close together, one round is too short to find the best: it pays to look far at first, for what
    is learnt serves the later rounds, and to look near in the end.
    """
    r, hypotheses = board.round[0], belief.hypotheses
    later = r.round + r.rounds - 2  # rounds after the first, in all
    if later == 0 or hypotheses[belief.rules[0].best].variance >= hypotheses[0].variance:
        return _REACH
    return _FAR + (_NEAR - _FAR) * (r.round - 1) / later


@kernel
def hope_of(belief: Strengths, board: Board, lead: int, i: int, options: int, left: float, most: float) -> float:
    """What it is worth to compare item i with `lead`; 0 if that is less than `most`."""
    away, v = abs(belief.items[lead].mean - belief.items[i].mean), _doubt(belief, board, i, options)
    blur = 1.0 + math.pi * v / 8.0
    z2 = away * away / blur
    noise = blur * (4.0 + z2 + z2 * z2 / 12.0)  # 1/(p(1 − p)) = 2 + 2 cosh z, as far as it matters
    return worth_of_asking(away, v, noise, left, most)


@kernel
def _doubt(belief: Strengths, board: Board, i: int, options: int) -> float:
    """The variance of θ once what is in flight has come, about: p(1 − p) is that of one option among so many."""
    g, share = belief.rules[0].best, 1.0 / options
    v = belief.own[g, i].variance + belief.hypotheses[g].doubt * belief.scores[i] * belief.scores[i]
    return v / (1.0 + share * (1.0 - share) * v * board.items[i].waiting)


def averaged(belief: Strengths) -> tuple[Floats, Floats]:
    """Mean and variance of θ + d, averaged over the best scale and smaller ones by how well each foretold the answers.

    Where the answers do not tell yet how far strengths lie apart, the best scale alone would say too much of a pick.
    """
    hypotheses, scores = belief.hypotheses, belief.scores
    weights = np.exp(hypotheses["evidence"] - hypotheses["evidence"].max())
    weights[hypotheses["variance"] > hypotheses["variance"][belief.rules["best"][0]]] = 0.0
    weights /= weights.sum()
    means = belief.own["mean"] + belief.off["mean"] + np.outer(hypotheses["trust"], scores)
    own = belief.own["variance"] + belief.off["variance"] + np.outer(hypotheses["doubt"], scores * scores)
    mean: Floats = weights @ means
    return mean, np.maximum(weights @ own, 1e-9)


_EVERY = 4  # answers between two looks
_POINTS = (-1.84, -1.158, -0.815, -0.55, -0.319, -0.105, 0.105, 0.319, 0.55, 0.815, 1.158, 1.84)  # a twelfth each
_SURELY = 5.0  # standard deviations beyond which nothing is left to chance


@kernel
def chance_of_best(items: Rows, board: Board, best: int) -> float:
    """How likely `best` is stronger than every other candidate, averaged over twelve equally likely strengths of it."""
    total, sd = 0.0, math.sqrt(items[best].variance)
    for q in range(len(_POINTS)):
        strength, chance = items[best].mean + sd * _POINTS[q], 1.0
        for p in range(board.round[0].candidates):
            j = board.open[p]
            z = (strength - items[j].mean) / math.sqrt(items[j].variance)
            if j != best and z < _SURELY:
                chance *= 0.5 * math.erfc(-z / math.sqrt(2.0))
                if chance < 1e-4:
                    break
        total += chance
    return total / len(_POINTS)


@kernel
def is_decided(belief: Strengths, board: Board) -> bool:
    """Whether the belief is as sure of the best as it must be to end the round; looked at now and then."""
    sure = belief.rules[0].sure
    if sure == 0.0 or board.round[0].counted % _EVERY != 0:
        return False
    return chance_of_best(belief.said, board, pick_of(belief, board)) >= sure


SAID = 0.9  # how likely "among the best j" must be, to be said
NEAR = 0.9  # a runner-up whom the pick beats with less than this is a near-tie
_STANDING_POINTS = 65  # of the item's own strength
_below = np.vectorize(lambda z: 0.5 * math.erfc(-z / math.sqrt(2.0)), otypes=[np.float64])


@dataclass(frozen=True)
class RunnerUp:
    """A candidate that may be better, and how likely the item is better than it."""

    item: int
    chance: float

    @property
    def near(self) -> bool:
        """Whether the two are a near-tie."""
        return self.chance < NEAR


@dataclass(frozen=True)
class PickStanding:
    """What the belief says of `item`: it is among the best `best_of` of `candidates` with probability `chance`.

    `best_of` is the smallest number of which that is at least `SAID` likely. `chance_of_best` is the same for 1.
    `runners_up` are those most likely to be better, that first.
    """

    item: int
    candidates: int
    best_of: int
    chance: float
    chance_of_best: float
    runners_up: tuple[RunnerUp, ...]


def standing_of(view: View, item: int, runners_up: int = 3, said: float = SAID) -> PickStanding | None:
    """What the view of a round, as it closed, says of a candidate; None if the view is of no belief about strengths,
    or the item had no rival."""
    if not view.believed or view.scale != STRENGTH or not np.isfinite(view.mean[item]):
        return None
    others = np.flatnonzero(np.isfinite(view.mean))
    others = others[others != item]
    if len(others) == 0:
        return None
    sd = (view.upper - view.mean) / 2.0
    over = _below((view.mean[item] - view.mean[others]) / np.hypot(sd[item], sd[others]))
    next_best = others[np.argsort(over, kind="stable")][:runners_up]
    chances = np.sort(over)[:runners_up]
    among = chances_among_best(view.mean[item], sd[item], view.mean[others], sd[others], said)
    return PickStanding(
        item,
        len(others) + 1,
        len(among),
        float(among[-1]),
        float(among[0]),
        tuple(RunnerUp(int(i), float(p)) for i, p in zip(next_best, chances, strict=True)),
    )


def chances_among_best(mean: float, sd: float, means: Floats, sds: Floats, until: float) -> Floats:
    """How likely an item is among the best 1, 2, … of it and the others, up to the first that is `until` or more."""
    middles = (np.arange(_STANDING_POINTS) + 0.5) / _STANDING_POINTS
    strengths = mean + sd * np.array([NormalDist().inv_cdf(share) for share in middles])
    better = 1.0 - _below((strengths[:, None] - means) / sds)
    most = 8
    while True:
        among = np.minimum(np.cumsum(_counts(better, min(most, len(means) + 1)).mean(axis=0)), 1.0)
        if among[-1] >= until or len(among) == len(means) + 1:
            among[len(means) :] = 1.0  # among all of them it is for certain
            return among[: int(np.argmax(among >= until)) + 1]
        most *= 8


def _counts(chances: Floats, most: int) -> Floats:
    """Per row, how likely 0, 1, …, most − 1 of independent events happen."""
    counts = np.zeros((len(chances), most))
    counts[:, 0] = 1.0
    for p in chances.T[:, :, None]:
        if p.max() > 1e-12:
            happened = counts[:, :-1] * p
            counts *= 1.0 - p
            counts[:, 1:] += happened
    return counts

"""What may be claimed about a result, at which confidence and under which assumptions: exactly what its bounds support.

Values. With L_j a lower bound on the gain of pick j and U_j the sum of the k largest upper bounds given the picks
before it (old upper bounds stay valid), f(OPT) ≤ f(S_{j−1}) + U_j for every j. As f(S)/(f(S_{j−1}) + U_j) grows
with every gain of a pick, the lower bounds may stand for those gains on both sides: with L = ΣL_i and F = min over
j of L_1 + ... + L_{j−1} + U_j,
    f(S)/f(OPT) ≥ L/F     and     f(S) ≥ (1 − 1/e)·f(OPT) − max(0, (1 − 1/e)·F − L).
This holds for any explorer, since the bounds are anytime-valid (`confidence.mixture_width`, and `bernstein` for
answers in a known range). Picks are chosen by looking, so half of δ is for the bounds of all N items in all rounds, L_j
among them. But OPT is a fixed set: in U_j only the upper bounds of its k items must hold, for the other half of δ.

Comparisons can never bound f(OPT) or a ratio: adding c·|S| to f changes no comparison. What they can show is that a
pick is within ε′_j of the best of its round; then f(S) ≥ (1 − 1/e)·f(OPT) − Σ_j (1 − 1/k)^(k−j)·ε′_j.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handful import notebook
from handful.core.confidence import FIRST, bernstein, beta_binomial, mixture_width, one_sided_saves
from handful.core.guarantees import MONOTONE_SUBMODULAR, OPTIMUM_BOUND, Guarantee, with_epsilon
from handful.core.objective import Floats, Ints
from handful.core.rounding import at_least, at_most, confidence, percent_at_least

NOTHING_YET = "nothing has been picked yet"
NO_SCALE = "comparisons show who is better, not how much anything is worth: they can never bound f(OPT) or a ratio"


@dataclass(frozen=True)
class Certificate:
    """The claims about a result. Each holds with probability 1 − delta; what cannot be claimed is None, and `reasons`
    say why.
    """

    bound: str | None = None  # the claim in terms of the optimum
    epsilon: float | None = None
    delta: float | None = None
    in_expectation: bool = False
    ratio: float | None = None  # f(S)/f(OPT) is at least this
    value: float | None = None  # f(S) is at least this
    optimum: float | None = None  # f(OPT) is at most this
    shown: tuple[tuple[int, int], ...] = ()  # comparisons: rivals shown to be no better than the pick, of how many
    assumptions: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.sentence

    @property
    def claim(self) -> str | None:
        """The bound with its numbers."""
        if self.bound is None:
            return None
        claim = with_epsilon(self.bound, self.epsilon, 3)
        return claim.replace("f(S)", "the mean of f(S) over the random draws") if self.in_expectation else claim

    @property
    def sentence(self) -> str:
        """What is claimed, how sure it is, what it rests on, and why no more is claimed; in whole sentences."""
        if self.reasons == (NOTHING_YET,):
            return f"{_capital(NOTHING_YET)}."
        said: list[str] = []
        if self.ratio is not None and self.ratio > 0:
            said.append(f"this selection is worth at least {percent_at_least(self.ratio)} of the best possible one")
        if self.value is not None and self.value > 0 and self.ratio is not None:
            said.append(f"it is worth at least {at_least(self.value)}")
        if self.optimum is not None and math.isfinite(self.optimum) and self.ratio is not None:
            said.append(f"no selection is worth more than {at_most(self.optimum)}")
        if self.claim is not None:
            said.append(self.claim)
        parts: list[str] = []
        if said and self.delta is not None:
            each = "each with" if len(said) > 1 else "with"
            parts.append(f"{_capital(each)} {confidence(self.delta)} confidence: {'; '.join(said)}.")
        if self.shown:
            best = ", ".join(f"{beaten} of {rivals}" for beaten, rivals in self.shown)
            parts.append(f"Round by round, the pick was shown to be better than {best} rivals.")
        if not parts:
            parts.append("Nothing is certified: this is the best guess from the answers there were.")
        if self.assumptions and (said or self.shown):
            parts.append(f"This rests on: {'; '.join(self.assumptions)}.")
        parts.extend(f"{_capital(reason)}." for reason in self.reasons)
        return " ".join(parts)

    def _repr_html_(self) -> str:
        share = f"worth at least {percent_at_least(self.ratio)} of the best possible" if self.ratio else ""
        filled = notebook.bar(self.ratio or 0.0, share) if share else ""
        return notebook.card("Certificate", filled, notebook.paragraph(self.sentence))

    def to_dict(self) -> dict[str, object]:
        """The certificate as plain JSON."""
        return {
            "bound": self.bound,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "in_expectation": self.in_expectation,
            "ratio": self.ratio,
            "value": self.value,
            "optimum": self.optimum,
            "shown": [list(pair) for pair in self.shown],
            "assumptions": list(self.assumptions),
            "reasons": list(self.reasons),
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class Counted:
    """The answers that a round counted: how many per item, their mean (any number where none) and the board's
    spread.
    """

    pick: int
    count: Ints
    mean: Floats
    spread: Floats


@dataclass(frozen=True)
class Account:
    """L, F, and a bound on f(OPT) itself: F holds only against L, since lower bounds stand in it for gains of picks."""

    value: float
    against: float
    ceiling: float | None = None  # F itself, if none of it comes from a later round than the first

    @property
    def optimum(self) -> float:
        """f(OPT) is at most this."""
        return self.against if self.ceiling is None else self.ceiling

    @property
    def ratio(self) -> float:
        """L/F; a selection of nothing at all has ratio 0."""
        return min(1.0, self.value / self.against) if self.against > 0 and math.isfinite(self.against) else 0.0

    @property
    def epsilon(self) -> float:
        """What must be taken off (1 − 1/e)·f(OPT)."""
        return max(0.0, (1.0 - 1.0 / math.e) * self.against - self.value)


def account_of(
    rounds: Sequence[Counted],
    k: int,
    noise: float,
    delta: float,
    span: float = 0.0,
    shrink: float = 1.0,
    most: float = math.inf,
    without: Sequence[int] = (),
) -> Account:
    """L and F from what the rounds counted, whoever chose what to ask.

    Where a range of answers is known, `span` is its length and `most` its end; `without` are items withdrawn or given,
    and `shrink` is for tests of power.
    """
    size = len(rounds[0].count)
    value, against, ceiling, spent = 0.0, math.inf, math.inf, 0.0
    upper = np.full(size, most)  # of each item, should it be in OPT
    higher = np.full(size, most)  # of all of them at once
    chosen = np.zeros(size, bool)
    chosen[list(without)] = True
    for r in rounds:
        radius = shrink * radii(r.count, r.spread, noise, 0.5 * delta / (k * size), span)
        one = shrink * radii(r.count, r.spread, noise, 0.5 * delta / (k * k), span, one_side=True)
        with np.errstate(invalid="ignore"):
            upper = np.where(r.count > 0, np.minimum(upper, np.maximum(r.mean + one, 0.0)), upper)
            higher = np.where(r.count > 0, np.minimum(higher, np.maximum(r.mean + radius, 0.0)), higher)
        top = np.sort(np.where(chosen, 0.0, upper))[::-1][:k].sum()
        against = min(against, value + float(top))
        ceiling = min(ceiling, spent + float(top))
        if r.count[r.pick] > 0:
            value += max(0.0, float(r.mean[r.pick] - radius[r.pick]))
        spent += float(higher[r.pick])
        chosen[r.pick] = True
    last = np.sort(np.where(chosen, 0.0, upper))[::-1][:k].sum()  # also after the last pick, from carried bounds
    return Account(value, min(against, value + float(last)), min(ceiling, spent + float(last)))


def radii(count: Ints, spread: Floats, noise: float, alpha: float, span: float, *, one_side: bool = False) -> Floats:
    """Normal mixtures; where the range is known, or what the spread of the answers allows (α is shared by the two).

    α is for both sides together, or for one.
    """
    radius = np.full(len(count), np.inf)
    log = -math.log(0.5 * alpha if span > 0.0 else alpha)
    saved = one_sided_saves(log) if one_side else 0.0
    for T in np.unique(count[count > 0]):
        radius[count == T] = mixture_width(float(T), noise, 2.0 * (log - saved), 10.0)
    if span > 0.0:
        side = log if one_side else log + math.log(2.0)
        for i in np.flatnonzero(count):
            V = float(spread[i]) / span**2 + FIRST
            radius[i] = min(radius[i], span * bernstein(float(count[i]), V, side))
    return radius


def from_values(
    account: Account, guarantee: Guarantee, delta: float, assumptions: tuple[str, ...], reasons: tuple[str, ...] = ()
) -> Certificate:
    """The guarantee if there is one, and what L and F support."""
    epsilon = guarantee.epsilon
    bound = guarantee.bound
    if bound is None and 0 <= account.epsilon <= account.value and account.value > 0:  # else it says next to nothing
        bound, epsilon = OPTIMUM_BOUND, account.epsilon
    known = math.isfinite(account.optimum) and account.value > 0
    return Certificate(
        bound=bound,
        epsilon=epsilon,
        delta=delta,
        in_expectation=guarantee.in_expectation,
        ratio=account.ratio if known else None,
        value=account.value if known else None,
        optimum=account.optimum if known else None,
        assumptions=guarantee.assumptions or (MONOTONE_SUBMODULAR, *assumptions),
        reasons=reasons,
    )


def total_slack(slacks: Sequence[float]) -> float:
    """Σ_j (1 − 1/k)^(k−j)·ε′_j."""
    k = len(slacks)
    return sum((1.0 - 1.0 / k) ** (k - j) * slack for j, slack in enumerate(slacks, 1))


def shown_better(
    pick: int, item: Ints, rival: Ints, won: Floats, candidates: int, delta: float, shrink: float = 1.0
) -> int:
    """How many rivals of one round are shown to be no better than the pick: beaten by it, or by one that it beats, and
    so on.

    A pair is decided when the beta-binomial sequence over its own comparisons, in the order asked, leaves ½ on one
    side; the error is δ over all pairs. That the one preferred more often is the better one is the paper's
    assumption (i), and makes it transitive.
    """
    alpha = delta / (candidates * (candidates - 1) / 2)
    low, high = np.minimum(item, rival), np.maximum(item, rival)
    wins = np.where(item == low, won, 1.0 - won)
    beats: dict[int, set[int]] = {}
    size = 1 + int(high.max(initial=0))
    pair = low * size + high  # as one number, which is sorted without keeping other threads waiting
    order = np.argsort(pair, kind="stable")
    pairs, first = np.unique(pair[order], return_index=True)
    for code, its in zip(pairs.tolist(), np.split(wins[order], first[1:]), strict=False):
        for winner, loser in _decided(its, code // size, code % size, alpha, shrink):
            beats.setdefault(winner, set()).add(loser)
    reached: set[int] = set()
    edge = [pick]
    while edge:
        fresh = beats.get(edge.pop(), set()) - reached
        reached |= fresh
        edge.extend(fresh)
    return len(reached - {pick})


def _decided(wins: Floats, a: int, b: int, alpha: float, shrink: float) -> list[tuple[int, int]]:
    ones = 0.0
    for T, win in enumerate(wins, 1):
        ones += float(win)
        lower, upper = beta_binomial(ones, float(T), alpha)
        mean = ones / T
        if mean - shrink * (mean - lower) > 0.5:
            return [(a, b)]
        if mean + shrink * (upper - mean) < 0.5:
            return [(b, a)]
    return []


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

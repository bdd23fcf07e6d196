"""What may be claimed about a result: the theorems as data, what answers show, and the certificate that says so."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from handful import notebook
from handful.confidence import FIRST, bernstein, beta_binomial, mixture_width, normal_mixture, one_sided_saves
from handful.errors import InvalidProblem, UnknownExplorer
from handful.kernels import kernel
from handful.numbers import at_least, at_most, confidence, exactly, is_finite, percent_at_least
from handful.problem import DECIDED, Floats, Ints, Preferences, Problem, Values

Variant = Literal["full", "O", "G"]
GREEDY_BOUND = "f(S) = f(greedy)"
OPTIMUM_BOUND = "f(S) ≥ (1 − 1/e)·f(OPT) − ε"
MONOTONE_SUBMODULAR = "f is monotone and submodular, with f(∅) = 0"


@dataclass(frozen=True)
class Guarantee:
    """What may be claimed before any answer has come, if every round is decided by its rule."""

    bound: str | None
    epsilon: float | None
    delta: float | None
    in_expectation: bool
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        if self.bound is None:
            return "No guarantee: the result is the best guess from the answers there were."
        claim = with_epsilon(self.bound, self.epsilon, 6)
        if self.in_expectation:
            claim = f"{claim.replace('f(S)', 'the mean of f(S) over the random draws')}"
        return f"With {confidence(self.delta or 0)} confidence {claim}, provided that {'; '.join(self.assumptions)}."

    def to_dict(self) -> dict[str, object]:
        """The guarantee as plain JSON."""
        return {
            "bound": self.bound,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "in_expectation": self.in_expectation,
            "assumptions": list(self.assumptions),
        }


def with_epsilon(bound: str, epsilon: float | None, digits: int) -> str:
    """A bound with its number, rounded up; nothing is taken off where that is 0."""
    if epsilon is None:
        return bound
    return bound.replace(" − ε", "" if epsilon == 0 else f" − {at_most(epsilon, digits)}")


@dataclass(frozen=True)
class PerRound:
    """What TopX is called with: TopX(ε′, δ′, k′, S)."""

    epsilon: float
    delta: float
    most: int


def per_round(variant: Variant, k: int, epsilon: float, delta: float, *, free: bool = False) -> PerRound:
    """(ε′, δ′, k′) of Theorems 1 and 2; `free` takes the larger ε′ that the proof of Theorem 1 allows.

    The recursion of Appendix A adds up Σ_{i<k} (1 − 1/k)^i ε′ = k(1 − (1 − 1/k)^k) ε′, not k ε′.
    """
    if variant not in ("full", "O", "G"):
        raise InvalidProblem(f"variant must be 'full', 'O' or 'G', got {variant!r}")
    share = free_share(k) if free else epsilon_share(k)
    return PerRound(
        epsilon=0.0 if variant == "G" else epsilon * share,
        delta=delta / k,
        most=k if variant == "full" else 1,
    )


def epsilon_share(k: int) -> float:
    """ε′/ε of Theorem 1."""
    return 1.0 / k


def free_share(k: int) -> float:
    """ε′/ε when the recursion of Appendix A is summed exactly; about 1.58/k."""
    return 1.0 / (k * (1.0 - (1.0 - 1.0 / k) ** k))


def finite_step(k: int) -> float:
    """The share of what is left that each of k rounds must gain so that 1/e is left in the end: a little under 1/k."""
    return 1.0 - math.exp(-1.0 / k)


def promise(variant: Variant, epsilon: float, delta: float, assumptions: tuple[str, ...]) -> Guarantee:
    """Theorem 1 (full and O) or Theorem 2 (G)."""
    held = (MONOTONE_SUBMODULAR, *assumptions)
    if variant == "G":
        return Guarantee(GREEDY_BOUND, None, delta, False, held)
    return Guarantee(OPTIMUM_BOUND, epsilon, delta, variant == "full", held)


def within(ratio: float, delta: float, assumptions: tuple[str, ...]) -> Guarantee:
    """A share of the optimum, certified at the end."""
    return Guarantee(f"f(S) ≥ {at_least(ratio, 6)}·f(OPT)", None, delta, False, (MONOTONE_SUBMODULAR, *assumptions))


NO_GUARANTEE = Guarantee(None, None, None, False, ())
VALUES = -1.0  # what stands for β where answers are values


@kernel
def borda_slack(beta: float, l: int, epsilon: float, candidates: int) -> float:
    """What line 10 may allow in Borda scores so that condition (2) holds with ε′ in utility.

    Under Bradley-Terry-Luce, swapping a for b with f(b|S) − f(a|S) = x raises the Borda score by at least
    tanh(βx/2)/(|C| − 1): their direct comparison alone accounts for that. As tanh is concave, a total excess l·ε′
    over up to l swaps raises the sum of scores by at least tanh(β l ε′/2)/(|C| − 1). (Appendix D has
    β ε′/(2(N − 1)), which is not a lower bound.) An unknown β (nan) allows nothing.
    """
    if not beta > 0.0 or epsilon <= 0.0:
        return 0.0
    return math.tanh(0.5 * beta * l * epsilon) / (candidates - 1)


@kernel
def borda_slack_inverse(beta: float, l: int, gap: float, candidates: int) -> float:
    """The ε′ in utility that a gap in Borda scores amounts to; ∞ where it limits nothing."""
    if gap <= 0.0:
        return 0.0
    x = gap * (candidates - 1)
    if not beta > 0.0 or x >= 1.0:
        return math.inf
    return 2.0 * math.atanh(x) / (beta * l)


@kernel
def allowed_gap(beta: float, l: int, epsilon: float, candidates: int) -> float:
    """What line 10 allows for sets of size l: l·ε′ for values (β is VALUES), or its counterpart in Borda scores."""
    return l * epsilon if beta == VALUES else borda_slack(beta, l, epsilon, candidates)


@kernel
def reached_epsilon(beta: float, l: int, gap: float, candidates: int) -> float:
    """The ε′ that a gap of line 10 amounts to: the inverse of `allowed_gap`."""
    return gap / l if beta == VALUES else borda_slack_inverse(beta, l, gap, candidates)


_FROM_CHOSEN = "f(S), f(OPT) and greedy count what is added to the items chosen at the start"
IN_ORDER = "that a question is left unanswered does not depend on what its answer would be"


def noise_of(problem: Problem) -> float:
    """R of one answer; ½ for a comparison."""
    if isinstance(problem.feedback, Preferences):
        return 0.5
    known = problem.feedback.sub_gaussian
    if known is None:
        raise InvalidProblem("this explorer needs to know the noise: give Values(noise=R) or Values(range=(lo, hi))")
    return known


def beta_of(problem: Problem) -> float:
    """β of comparisons, nan if it is not known; VALUES where answers are values."""
    if not isinstance(problem.feedback, Preferences):
        return VALUES
    return math.nan if problem.feedback.beta is None else problem.feedback.beta


def scores(problem: Problem) -> Floats | None:
    """The prior's scores as an array; None if there is no prior."""
    return None if problem.prior is None else np.array(problem.prior)


def assumptions_of(problem: Problem) -> tuple[str, ...]:
    """What must be true of the answers for any claim about this problem."""
    if isinstance(problem.feedback, Values):
        known = f"are sub-Gaussian with R = {exactly(noise_of(problem))}"
        if problem.feedback.range is not None:
            lo, hi = problem.feedback.range
            known = f"lie in [{exactly(lo)}, {exactly(hi)}]"
        held: tuple[str, ...] = (f"answers are independent with mean f(item | chosen) and {known}",)
    elif problem.feedback.options > 2:
        sharp = "" if problem.feedback.beta is None else f" with β = {exactly(problem.feedback.beta)}"
        held = (
            f"choices are independent and follow Luce's model{sharp}: how often one of two items is named rather than "
            "the other does not depend on what else is shown",
        )
    elif problem.feedback.beta is None:
        held = ("comparisons are independent, and more often right the larger the difference in f",)
    else:
        held = (f"comparisons are independent and follow Bradley-Terry-Luce with β = {exactly(problem.feedback.beta)}",)
    if problem.chosen:
        held = (*held, _FROM_CHOSEN)
    return held if problem.in_flight == 1 else (*held, IN_ORDER)


def values_only(name: str, problem: Problem) -> Values:
    """What is known of the values; refuse comparisons."""
    if not isinstance(problem.feedback, Values):
        raise UnknownExplorer(f"{name} asks for values; for comparisons use duels, pivot, sharp or topx")
    return problem.feedback


def comparisons_only(name: str, problem: Problem) -> None:
    """Refuse a problem whose answers are values."""
    if not isinstance(problem.feedback, Preferences):
        raise UnknownExplorer(f"{name} asks for comparisons; for values use certified, worth, sharp or topx")


def pairs_only(name: str, problem: Problem) -> None:
    """Refuse questions with more than two options."""
    if problem.feedback.options > 2:
        raise InvalidProblem(
            f"{name} compares two items at a time, not {problem.feedback.options}: use duels, or leave options= out"
        )


def needs_a_budget(name: str, problem: Problem) -> None:
    """Refuse a problem without a budget, which would never end."""
    if problem.total is None:
        raise InvalidProblem(f"{name} asks as long as it may: give budget=, the number of answers you can afford")


def needs_an_end(name: str, problem: Problem, exact: bool) -> None:
    """Refuse a problem that nothing would end."""
    if problem.epsilon is None and problem.total is None and not exact:
        raise InvalidProblem(f"{name} needs epsilon=, budget= or both: else nothing says when enough has been asked")


def check_shrink(shrink: float) -> None:
    """Refuse a factor of the radius that is none."""
    if not (is_finite(shrink) and shrink > 0):
        raise InvalidProblem(f"shrink multiplies the radius and must be positive, got {shrink!r}")


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse a word that is not among those allowed."""
    if value not in allowed:
        raise InvalidProblem(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")


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

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Certificate:
        """The certificate that `to_dict` wrote."""
        said = {key: value for key, value in data.items() if key != "sentence"}
        tuples = {key: tuple(said[key]) for key in ("assumptions", "reasons")}
        return cls(**said | tuples | {"shown": tuple((beaten, rivals) for beaten, rivals in said["shown"])})


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


_UNKNOWN_NOISE = (
    "nothing is known about how far answers are off: with their noise R, or the range they lie in, more could be said"
)
_EVERYTHING = "every item there is was picked: no selection is better"
_SHRUNK = "the radius was shrunk, which is for tests of power: nothing is certified"


@dataclass(frozen=True)
class RoundEvidence:
    """One round that is over.

    `reached` is ε′, and `drawn` whether the pick was drawn from several. `shown` is for comparisons: rivals shown to be
    no better than the pick, of how many.
    """

    counted: Counted
    ended: str
    reached: float
    drawn: bool
    shown: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Evidence:
    """All rounds that are over, of a problem of which `withdrawn` items were taken out."""

    problem: Problem
    rounds: tuple[RoundEvidence, ...]
    withdrawn: tuple[int, ...] = ()

    @property
    def all_picked(self) -> bool:
        """Whether every item is picked."""
        return len(self.rounds) >= self.problem.rounds

    @property
    def everything(self) -> bool:
        """Whether every item that was not withdrawn is picked."""
        return self.all_picked and self.problem.size - len(self.withdrawn) <= self.problem.k

    def kept(self, guarantee: Guarantee) -> Guarantee:
        """The guarantee if every item is picked and every round was decided by its rule; else NO_GUARANTEE."""
        decided = all(r.ended in DECIDED for r in self.rounds)
        return guarantee if decided and self.all_picked else NO_GUARANTEE


def claim_of(evidence: Evidence, guarantee: Guarantee, *, shrink: float = 1.0) -> Certificate:
    """The guarantee if it was kept, and what the answers show besides; nothing where a radius was shrunk."""
    if shrink < 1:
        return Certificate(reasons=(_SHRUNK,))
    if isinstance(evidence.problem.feedback, Values):
        return claim_by_values(evidence, guarantee, evidence.problem.delta)
    return claim_by_comparisons(evidence, guarantee)


def claim_of_everything(evidence: Evidence) -> Certificate:
    """That nothing is better than all there is: for sure, whatever was asked and answered."""
    return Certificate(delta=0.0, ratio=1.0, assumptions=(MONOTONE_SUBMODULAR,), reasons=(_EVERYTHING,))


def claim_by_values(
    evidence: Evidence, guarantee: Guarantee, delta: float, reasons: tuple[str, ...] = ()
) -> Certificate:
    """What the rounds' own answers show, at an error of `delta`, whoever chose what to ask."""
    problem = evidence.problem
    known = problem.feedback
    assert isinstance(known, Values)
    if known.sub_gaussian is None:
        return Certificate(reasons=(_UNKNOWN_NOISE,))
    gone = sorted({*evidence.withdrawn, *problem.chosen})
    account = account_of(
        [r.counted for r in evidence.rounds],
        problem.rounds,
        known.sub_gaussian,
        delta,
        known.span,
        most=known.most,
        without=gone,
    )
    return _claim_by_account(evidence, account, guarantee, reasons)


def _claim_by_account(
    evidence: Evidence, account: Account, guarantee: Guarantee, reasons: tuple[str, ...] = ()
) -> Certificate:
    """The guarantee if it was kept, and what L and F support."""
    problem = evidence.problem
    return from_values(account, evidence.kept(guarantee), problem.delta, assumptions_of(problem), reasons)


def claim_by_comparisons(evidence: Evidence, guarantee: Guarantee, *, by_rounds: bool = True) -> Certificate:
    """The guarantee if it was kept; else, `by_rounds`, what the ε′ that the rounds reached add up to."""
    problem, kept = evidence.problem, evidence.kept(guarantee)
    reasons = (NO_SCALE,)
    shown = tuple(r.shown for r in evidence.rounds)
    if not any(beaten for beaten, _ in shown):
        shown = ()
    if kept.bound is not None:
        return Certificate(
            kept.bound,
            kept.epsilon,
            problem.delta,
            kept.in_expectation,
            shown=shown,
            assumptions=kept.assumptions,
            reasons=reasons,
        )
    assumptions = (MONOTONE_SUBMODULAR, *assumptions_of(problem))
    slacks = [r.reached for r in evidence.rounds]
    # Where picks were drawn, what is bounded is a mean over draws; and these ε′ came with the draws.
    drawn = any(r.drawn for r in evidence.rounds)
    if by_rounds and evidence.all_picked and all(map(math.isfinite, slacks)) and not drawn:
        slack = total_slack(slacks)
        return Certificate(OPTIMUM_BOUND, slack, problem.delta, shown=shown, assumptions=assumptions, reasons=reasons)
    return Certificate(delta=problem.delta, shown=shown, assumptions=assumptions, reasons=reasons)


LEVEL = 0.01
T = 0.125  # t
RHO = 10.0
ROUNDING = 1e-12


def refuted(problem: Problem, item: Ints, given: Ints, answer: Floats) -> str | None:
    """Which assumption these answers refute, and how strongly; None if none. They are in the order asked, and `given`
    says how many picks each was given.
    """
    known = problem.feedback
    if not isinstance(known, Values) or known.sub_gaussian is None or len(item) == 0:
        return None
    accounts, first, at = np.unique(item * (problem.k + 1) + given, return_index=True, return_inverse=True)
    at = at.reshape(-1)
    start = answer[first]
    slack = ROUNDING * float(np.abs(answer).max())
    return _noise(known, at, first, answer - start[at], slack) or _growth(
        problem, known.sub_gaussian, accounts, at, start, answer - start[at], slack
    )


def _noise(known: Values, at: Ints, first: Ints, deviation: Floats, slack: float) -> str | None:
    if known.noise is None:  # no answer outside a range is taken
        return None
    later = np.ones(len(deviation), bool)
    later[first] = False
    count = np.bincount(at[later], minlength=len(first))
    total = np.bincount(at[later], weights=deviation[later], minlength=len(first))
    mean = np.divide(total, count, out=np.zeros(len(first)), where=count > 0)
    off = deviation[later] - mean[at[later]]
    n, means = int(count.sum()), int((count > 0).sum())
    if n == means or not off.any():
        return None
    R = max(known.noise, slack)
    squares = float(((off / R) ** 2).sum())
    if 0.5 * n * math.log1p(-2 * T) + T * squares < -math.log(LEVEL):
        return None
    spread = R * math.sqrt(squares / (n - means))
    said = exactly(known.noise)
    return f"answers about the same thing vary by {spread:.3g} (standard deviation), where R = {said} was said"


def _growth(
    problem: Problem, R: float, accounts: Ints, at: Ints, start: Floats, deviation: Floats, slack: float
) -> str | None:
    count = np.bincount(at)
    mean = start + np.bincount(at, weights=deviation) / count
    alpha = LEVEL / (problem.size * (problem.k + 1))
    radius = np.zeros(len(count))
    for n in np.unique(count):
        radius[count == n] = normal_mixture(float(n), R, alpha, RHO)
    item, given = accounts // (problem.k + 1), accounts % (problem.k + 1)
    low, high = mean - radius, mean + radius
    for p in range(1, len(accounts)):  # in order of items, and of how many picks were given
        q = p - 1
        while q >= 0 and item[q] == item[p]:
            if low[p] > high[q] + slack:
                grown = f"{mean[q]:.3g} given {given[q]} picks and {mean[p]:.3g} given {given[p]}"
                return f"the gain of an item grew as more was picked (it was about {grown}), so f is not submodular"
            q -= 1
    return None

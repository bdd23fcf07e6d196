"""The paper's explorers as settings: TopX in its variants, and UNIFORM. What all settings share is here too."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from handful.core.checks import is_finite, whole
from handful.core.explorers import topx
from handful.core.explorers.protocol import State
from handful.core.feedback import Preferences, Values
from handful.core.guarantees import NO_GUARANTEE, OPTIMUM_BOUND, Guarantee, PerRound, Variant, per_round, promise
from handful.core.problem import Problem
from handful.errors import InvalidProblem

AS_PRINTED = "the printed radius is wide enough, though it allows for one sample per item and step"
FROM_CHOSEN = "f(S), f(OPT) and greedy count what is added to the items chosen at the start"
IN_ORDER = "that a question is left unanswered does not depend on what its answer would be"


class Explorer(Protocol):
    """What all settings share.

    order: "item" if answers about an item must be told in the order they were asked, because they enter bounds;
    "none" if they only teach a belief and may be told as they come.
    """

    name: ClassVar[str]
    order: ClassVar[Literal["item", "none"]]

    def guarantee(self, problem: Problem) -> Guarantee:
        """What is promised if every round is decided by its rule."""

    def build(self, problem: Problem) -> State:
        """The compiled state, ready for the first round."""


@dataclass(frozen=True)
class TopX:
    """The paper's TopX (Algorithm 2).

    variant: "full" (k′ = k, ε′ = ε/k), "O" (k′ = 1, ε′ = ε/k) or "G" (k′ = 1, ε′ = 0, competes with exact greedy).
    l: fix the size of the set returned: 1 is noisy greedy, k is randomised greedy. None: whichever is decided first.
    radius: "counted" (union bound over samples) or "literal" (the paper's formula as printed).
    out_of_budget: "best-mean" picks the item of best mean, "smallest-gap" draws from the set closest to being decided.
    """

    name: ClassVar[str] = "topx"
    order: ClassVar[Literal["item", "none"]] = "item"
    variant: Variant = "full"
    l: int | None = None
    radius: Literal["counted", "literal"] = "counted"
    out_of_budget: Literal["best-mean", "smallest-gap"] = "best-mean"
    shrink: float = 1.0

    def __post_init__(self) -> None:
        _check_shared(self)
        if self.l is not None:
            whole("l", self.l, 1)

    def per_round(self, problem: Problem) -> PerRound:
        """ε′, δ′ and k′ for this problem."""
        most = per_round(self.variant, problem.rounds, problem.epsilon or 0.0, problem.delta)
        if self.l is None:
            return most
        if self.l > problem.rounds:
            raise InvalidProblem(f"l = {self.l} is more than the {problem.rounds} items to pick")
        return PerRound(most.epsilon, most.delta, self.l)

    def guarantee(self, problem: Problem) -> Guarantee:
        """Theorem 1 or 2."""
        if self.shrink < 1 or (problem.epsilon is None and self.variant != "G"):
            return NO_GUARANTEE
        assumptions = assumptions_of(problem)
        if self.radius == "literal" and self.l is None and self.variant == "full" and problem.in_flight == 1:
            assumptions = (*assumptions, AS_PRINTED)
        given = promise(self.variant, problem.epsilon or 0.0, problem.delta, assumptions)
        if self.l is None or (self.l == 1 and self.variant == "G"):
            return given
        epsilon = 0.0 if self.variant == "G" else given.epsilon  # the l best for sure, but any of them
        return Guarantee(OPTIMUM_BOUND, epsilon, given.delta, self.l > 1, given.assumptions)

    def build(self, problem: Problem) -> State:
        """Algorithm 2 with value queries, or with the Borda reduction for preferences."""
        needs_an_end(self.name, problem, self.variant == "G")
        return _topx(problem, self.per_round(problem), asking=topx.ADAPTIVE, only=self.l or 0, **_codes(self))


@dataclass(frozen=True)
class Uniform:
    """UNIFORM: every candidate is asked equally often. stop: "rule" is TopX's stopping rule for the best item;
    "fixed" estimates every gain to ε′/2 with a number of samples known before the start.
    """

    name: ClassVar[str] = "uniform"
    order: ClassVar[Literal["item", "none"]] = "item"
    stop: Literal["rule", "fixed"] = "rule"
    variant: Variant = "O"
    radius: Literal["counted", "literal"] = "counted"
    out_of_budget: Literal["best-mean", "smallest-gap"] = "best-mean"
    shrink: float = 1.0

    def __post_init__(self) -> None:
        one_of("stop", self.stop, ("rule", "fixed"))
        _check_shared(self)

    def guarantee(self, problem: Problem) -> Guarantee:
        """As TopX of the same variant; the fixed-sample form as variant O."""
        if self.stop == "fixed" and isinstance(problem.feedback, Preferences):
            return NO_GUARANTEE
        return TopX(variant="O" if self.stop == "fixed" else self.variant, shrink=self.shrink).guarantee(problem)

    def build(self, problem: Problem) -> State:
        """TopX that asks everybody in every step."""
        needs_an_end(self.name, problem, self.variant == "G")
        variant: Variant = "O" if self.stop == "fixed" else self.variant
        parts = per_round(variant, problem.rounds, problem.epsilon or 0.0, problem.delta)
        if self.stop == "rule":
            return _topx(problem, parts, asking=topx.UNIFORM, **_codes(self))
        repeats = fixed_sample_size(problem.size, noise_of(problem), parts)
        return _topx(problem, parts, asking=topx.FIXED, repeats=repeats, **_codes(self))


def fixed_sample_size(size: int, noise: float, parts: PerRound) -> int:
    """Samples per item so that all N means are within ε′/2 with probability 1 − δ′ (Hoeffding): 8R² log(2N/δ′)/ε′²."""
    if parts.epsilon <= 0:
        raise InvalidProblem("the fixed-sample form of UNIFORM needs epsilon: it estimates all gains to ε′/2")
    return max(1, math.ceil(8 * noise**2 * math.log(2 * size / parts.delta) / parts.epsilon**2))


def noise_of(problem: Problem) -> float:
    """R of one answer; ½ for a comparison."""
    if isinstance(problem.feedback, Preferences):
        return 0.5
    known = problem.feedback.sub_gaussian
    if known is None:
        raise InvalidProblem("this explorer needs to know the noise: give Values(noise=R) or Values(range=(lo, hi))")
    return known


def _topx(problem: Problem, parts: PerRound, **rules: float) -> State:
    tau, beta = 1, -1.0
    if isinstance(problem.feedback, Preferences):
        tau = problem.feedback.tau
        beta = math.nan if problem.feedback.beta is None else problem.feedback.beta
    return topx.new_topx(
        problem.size,
        problem.k,
        problem.seed,
        problem.in_flight,
        most=parts.most,
        epsilon=parts.epsilon,
        delta=parts.delta,
        noise=noise_of(problem),
        tau=tau,
        beta=beta,
        **rules,
    )


def _codes(settings: TopX | Uniform) -> dict[str, float]:
    return {
        "radius": topx.LITERAL if settings.radius == "literal" else topx.COUNTED,
        "out_of_budget": topx.BEST_MEAN if settings.out_of_budget == "best-mean" else topx.SMALLEST_GAP,
        "shrink": settings.shrink,
    }


def assumptions_of(problem: Problem) -> tuple[str, ...]:
    """What must be true of the answers for any claim about this problem."""
    if isinstance(problem.feedback, Values):
        known = f"are sub-Gaussian with R = {noise_of(problem):g}"
        if problem.feedback.range is not None:
            lo, hi = problem.feedback.range
            known = f"lie in [{lo:g}, {hi:g}]"
        held: tuple[str, ...] = (f"answers are independent with mean f(item | chosen) and {known}",)
    elif problem.feedback.beta is None:
        held = ("comparisons are independent, and more often right the larger the difference in f",)
    else:
        held = (f"comparisons are independent and follow Bradley-Terry-Luce with β = {problem.feedback.beta:g}",)
    if problem.chosen:
        held = (*held, FROM_CHOSEN)
    return held if problem.in_flight == 1 else (*held, IN_ORDER)


def needs_an_end(name: str, problem: Problem, exact: bool) -> None:
    """Refuse a problem that nothing would end."""
    if problem.epsilon is None and problem.total is None and not exact:
        raise InvalidProblem(f"{name} needs epsilon=, budget= or both: else nothing says when enough has been asked")


def _check_shared(settings: TopX | Uniform) -> None:
    one_of("variant", settings.variant, ("full", "O", "G"))
    one_of("radius", settings.radius, ("counted", "literal"))
    one_of("out_of_budget", settings.out_of_budget, ("best-mean", "smallest-gap"))
    check_shrink(settings.shrink)


def check_shrink(shrink: float) -> None:
    """Refuse a factor of the radius that is none."""
    if not (is_finite(shrink) and shrink > 0):
        raise InvalidProblem(f"shrink multiplies the radius and must be positive, got {shrink!r}")


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse a word that is not among those allowed."""
    if value not in allowed:
        raise InvalidProblem(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")

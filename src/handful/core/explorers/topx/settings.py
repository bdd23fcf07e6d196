"""TopX as settings; what UNIFORM has in common with it is here too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from handful.core.certificates import Certificate
from handful.core.checks import whole
from handful.core.evidence import Evidence, claim_of
from handful.core.explorers.protocol import Explorer, State
from handful.core.explorers.topx.sets import (
    ADAPTIVE,
    BEST_MEAN,
    COUNTED,
    LITERAL,
    SMALLEST_GAP,
    TopXState,
    new_topx,
    scale,
)
from handful.core.feedback import Preferences
from handful.core.guarantees import NO_GUARANTEE, OPTIMUM_BOUND, Guarantee, PerRound, Variant, per_round, promise
from handful.core.parts.requirements import (
    assumptions_of,
    beta_of,
    check_shrink,
    needs_an_end,
    noise_of,
    one_of,
    pairs_only,
)
from handful.core.problem import Problem
from handful.core.views import SHARE, View, interval_view
from handful.errors import InvalidProblem

_AS_PRINTED = "the printed radius is wide enough, though it allows for one sample per item and step"
Radius = Literal["counted", "literal"]
OutOfBudget = Literal["best-mean", "smallest-gap"]


@dataclass(frozen=True)
class TopX(Explorer):
    """The paper's TopX (Algorithm 2).

    variant: "full" (k′ = k, ε′ = ε/k), "O" (k′ = 1, ε′ = ε/k) or "G" (k′ = 1, ε′ = 0, competes with exact greedy).
    l: fix the size of the set returned: 1 is noisy greedy, k is randomised greedy. None: whichever is decided first.
    radius: "counted" (union bound over samples) or "literal" (the paper's formula as printed).
    out_of_budget: "best-mean" picks the item of best mean, "smallest-gap" draws from the set closest to being decided.
    """

    name: ClassVar[str] = "topx"
    variant: Variant = "full"
    l: int | None = None
    radius: Radius = "counted"
    out_of_budget: OutOfBudget = "best-mean"
    shrink: float = 1.0

    def __post_init__(self) -> None:
        check_shared(self.variant, self.radius, self.out_of_budget, self.shrink)
        if self.l is not None:
            whole("l", self.l, 1)

    @property
    def edition(self) -> int:
        """2: ties, and the order of first questions, are drawn from the seed."""
        return 2

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
            assumptions = (*assumptions, _AS_PRINTED)
        given = promise(self.variant, problem.epsilon or 0.0, problem.delta, assumptions)
        if self.l is None or (self.l == 1 and self.variant == "G"):
            return given
        epsilon = 0.0 if self.variant == "G" else given.epsilon  # the l best for sure, but any of them
        return Guarantee(OPTIMUM_BOUND, epsilon, given.delta, self.l > 1, given.assumptions)

    def build(self, problem: Problem) -> State:
        """Algorithm 2 with value queries, or with the Borda reduction for preferences."""
        pairs_only(self.name, problem)
        needs_an_end(self.name, problem, self.variant == "G")
        return topx_state(
            problem,
            self.per_round(problem),
            asking=ADAPTIVE,
            only=self.l or 0,
            **codes(self.radius, self.out_of_budget, self.shrink),
        )

    def view(self, problem: Problem, state: TopXState) -> View:
        """Means and rad_t(i)."""
        return topx_view(problem, state)

    def claim(self, evidence: Evidence, state: TopXState) -> Certificate:
        """Theorem 1 or 2, and what the answers show."""
        return claim_of(evidence, self.guarantee(evidence.problem), shrink=self.shrink)


def topx_state(problem: Problem, parts: PerRound, **rules: float) -> State:
    """Algorithm 2 for this problem, with value queries or with the Borda reduction for preferences."""
    return new_topx(
        problem.size,
        problem.k,
        problem.seed,
        problem.in_flight,
        most=parts.most,
        epsilon=parts.epsilon,
        delta=parts.delta,
        noise=noise_of(problem),
        tau=problem.feedback.tau if isinstance(problem.feedback, Preferences) else 1,
        beta=beta_of(problem),
        **rules,
    )


def codes(radius: Radius, out_of_budget: OutOfBudget, shrink: float) -> dict[str, float]:
    """Options as the fields of _RULES."""
    return {
        "radius": LITERAL if radius == "literal" else COUNTED,
        "out_of_budget": BEST_MEAN if out_of_budget == "best-mean" else SMALLEST_GAP,
        "shrink": shrink,
    }


def check_shared(variant: str, radius: str, out_of_budget: str, shrink: float) -> None:
    """Refuse options that TopX and UNIFORM do not know."""
    one_of("variant", variant, ("full", "O", "G"))
    one_of("radius", radius, ("counted", "literal"))
    one_of("out_of_budget", out_of_budget, ("best-mean", "smallest-gap"))
    check_shrink(shrink)


def topx_view(problem: Problem, state: TopXState) -> View:
    """Means and rad_t(i); shares of comparisons won lie between 0 and 1."""
    count = state.board.items["count"]
    root = np.sqrt(count)
    radius = np.divide(scale(state), root, out=np.full(len(count), np.inf), where=count > 0)
    if not problem.feedback.compares:
        return interval_view(state.board, radius)
    return interval_view(state.board, radius, SHARE).within(0.0, 1.0, count > 0)

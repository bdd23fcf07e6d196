"""UNIFORM, the paper's baseline: every candidate is asked equally often."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from handful.certificates import (
    NO_GUARANTEE,
    Certificate,
    Evidence,
    Guarantee,
    PerRound,
    Variant,
    claim_of,
    needs_an_end,
    noise_of,
    one_of,
    pairs_only,
    per_round,
)
from handful.errors import InvalidProblem
from handful.explorers.board import View
from handful.explorers.protocol import Explorer, ExplorerState
from handful.explorers.topx import (
    EVERYBODY,
    FIXED,
    OutOfBudget,
    Radius,
    TopX,
    TopXState,
    check_shared,
    codes,
    topx_state,
    topx_view,
)
from handful.problem import Preferences, Problem


@dataclass(frozen=True)
class Uniform(Explorer):
    """UNIFORM: every candidate is asked equally often. stop: "rule" is TopX's stopping rule for the best item;
    "fixed" estimates every gain to ε′/2 with a number of samples known before the start.
    """

    name: ClassVar[str] = "uniform"
    stop: Literal["rule", "fixed"] = "rule"
    variant: Variant = "O"
    radius: Radius = "counted"
    out_of_budget: OutOfBudget = "best-mean"
    shrink: float = 1.0

    def __post_init__(self) -> None:
        one_of("stop", self.stop, ("rule", "fixed"))
        check_shared(self.variant, self.radius, self.out_of_budget, self.shrink)

    def guarantee(self, problem: Problem) -> Guarantee:
        """As TopX of the same variant; the fixed-sample form as variant O."""
        if self.stop == "fixed" and isinstance(problem.feedback, Preferences):
            return NO_GUARANTEE
        return TopX(variant="O" if self.stop == "fixed" else self.variant, shrink=self.shrink).guarantee(problem)

    def build(self, problem: Problem) -> ExplorerState:
        """TopX that asks everybody in every step."""
        pairs_only(self.name, problem)
        needs_an_end(self.name, problem, self.variant == "G")
        variant: Variant = "O" if self.stop == "fixed" else self.variant
        parts = per_round(variant, problem.rounds, problem.epsilon or 0.0, problem.delta)
        options = codes(self.radius, self.out_of_budget, self.shrink)
        if self.stop == "rule":
            return topx_state(problem, parts, asking=EVERYBODY, **options)
        repeats = fixed_sample_size(problem.size, noise_of(problem), parts)
        return topx_state(problem, parts, asking=FIXED, repeats=repeats, **options)

    def view(self, problem: Problem, state: TopXState) -> View:
        """Means and rad_t(i), as TopX."""
        return topx_view(problem, state)

    def claim(self, evidence: Evidence, state: TopXState) -> Certificate:
        """Theorem 1 or 2, and what the answers show."""
        return claim_of(evidence, self.guarantee(evidence.problem), shrink=self.shrink)


def fixed_sample_size(size: int, noise: float, parts: PerRound) -> int:
    """Samples per item so that all N means are within ε′/2 with probability 1 − δ′ (Hoeffding): 8R² log(2N/δ′)/ε′²."""
    if parts.epsilon <= 0:
        raise InvalidProblem("the fixed-sample form of UNIFORM needs epsilon: it estimates all gains to ε′/2")
    return max(1, math.ceil(8 * noise**2 * math.log(2 * size / parts.delta) / parts.epsilon**2))

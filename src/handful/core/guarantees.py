"""The theorems, as data: what each variant promises, and the per-round (ε′, δ′, k′) that buy it.

Theorem 1 and 2 of the paper, read right: for k′ = 1 the bound holds with probability 1 − δ; for k′ = k the
expectation is over the uniform draw from A, and what may be claimed is that, except with probability δ, the run is one
whose expectation over those draws satisfies the bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from handful.core.kernels import kernel
from handful.core.rounding import at_least, at_most, confidence
from handful.errors import InvalidProblem

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

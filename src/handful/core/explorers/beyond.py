"""Explorers beyond the paper, as settings: the same promise for far fewer answers, or the best guess for few."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from handful.core.checks import is_finite
from handful.core.explorers import audited, bounds, certified, duels, joint, pivot, scout, sharp, thompson
from handful.core.explorers.paper import TopX, assumptions_of, check_shrink, needs_an_end, noise_of, one_of
from handful.core.explorers.protocol import State
from handful.core.feedback import Preferences, Values
from handful.core.guarantees import (
    NO_GUARANTEE,
    Guarantee,
    Variant,
    finite_step,
    free_share,
    per_round,
    promise,
    within,
)
from handful.core.objective import Floats
from handful.core.problem import Problem
from handful.errors import InvalidProblem, UnknownExplorer

AUDITED = 0.9  # the share of δ that an audit may spend; the rest is for what can be said where answers end before it
POOLED = 0.05  # the share of δ spent on the sequences over all rounds


@dataclass(frozen=True)
class Sharp:
    """TopX with sharper bounds, carried upper bounds, the free ε′, and questions for the l that is closest to
    decided.
    """

    name: ClassVar[str] = "sharp"
    order: ClassVar[Literal["item", "none"]] = "item"
    variant: Variant = "full"
    shrink: float = 1.0

    def __post_init__(self) -> None:
        one_of("variant", self.variant, ("full", "O", "G"))
        check_shrink(self.shrink)

    def guarantee(self, problem: Problem) -> Guarantee:
        """Theorem 1 or 2, as for TopX."""
        return TopX(variant=self.variant, shrink=self.shrink).guarantee(problem)

    def build(self, problem: Problem) -> State:
        """Values or comparisons."""
        needs_an_end(self.name, problem, self.variant == "G")
        k = problem.rounds
        parts = per_round(self.variant, k, problem.epsilon or 0.0, problem.delta, free=True)
        beta = -1.0
        if isinstance(problem.feedback, Preferences):
            beta = math.nan if problem.feedback.beta is None else problem.feedback.beta
        limits = item_bounds(problem, 2 * parts.most, self.shrink)
        return sharp.new_sharp(
            problem.size,
            problem.k,
            problem.seed,
            problem.in_flight,
            limits,
            most=parts.most,
            epsilon=parts.epsilon,
            beta=beta,
        )


@dataclass(frozen=True)
class Certified:
    """The guarantee of the paper for values, from the weakest condition that implies it; nothing is picked at random.

    rule: "audit" scouts for each pick and proves the whole at the end (cheapest by far); "plain", "chain" and "bank"
    prove every round. near: how close to the best a pick should be, as a share of its gain, as far as a scout can tell
    (where gains are small: of half the mean gain so far, or of ε/k). Smaller asks more and picks better. With `ratio`,
    the audit goes on until that share of the optimum is certified, or says that it is out of reach.
    """

    name: ClassVar[str] = "certified"
    order: ClassVar[Literal["item", "none"]] = "item"
    rule: Literal["audit", "bank", "chain", "plain"] = "audit"
    near: float = 0.1
    shrink: float = 1.0

    def __post_init__(self) -> None:
        one_of("rule", self.rule, ("audit", "bank", "chain", "plain"))
        check_shrink(self.shrink)
        if not (is_finite(self.near) and self.near > 0):
            raise InvalidProblem(f"near must be a positive share, such as 0.1, got {self.near!r}")

    def guarantee(self, problem: Problem) -> Guarantee:
        """(1 − 1/e)·f(OPT) − ε with probability 1 − δ, or the ratio wished for."""
        if self.shrink < 1 or (problem.epsilon is None and problem.ratio is None):
            return NO_GUARANTEE
        if problem.ratio is not None:
            return within(problem.ratio, problem.delta, assumptions_of(problem))
        return promise("O", problem.epsilon or 0.0, problem.delta, assumptions_of(problem))

    def build(self, problem: Problem) -> State:
        """The audit, or a proof in every round."""
        values = values_only(self.name, problem)
        if problem.epsilon is None and problem.ratio is None:
            needs_an_end(self.name, problem, False)
        k = problem.rounds
        if self.rule == "audit":
            return self._audited(problem, values)
        if problem.ratio is not None:
            raise InvalidProblem("a ratio is certified by an audit: use Certified(rule='audit'), which is the default")
        return certified.new_certified(
            problem.size,
            k,
            problem.seed,
            problem.in_flight,
            item_bounds(problem, k, self.shrink),
            chained=0 if self.rule == "plain" else 1,
            banked=1 if self.rule == "bank" else 0,
            rounds=k,
            share=finite_step(k),
            epsilon=(problem.epsilon or 0.0) * finite_step(k) / (1.0 - 1.0 / math.e),
        )

    def _audited(self, problem: Problem, values: Values) -> State:
        """A scout, U and W."""
        size, k = problem.size, problem.rounds
        above = joint.new_joint(
            size,
            k,
            noise=noise_of(problem),
            span=values.span,
            high=values.most,
            delta=0.7 * AUDITED * problem.delta,
            shrink=self.shrink,
        )
        return audited.new_audited(
            size,
            k,
            problem.seed,
            problem.in_flight,
            scout.new_scout(size, self.near, 2.0, noise_of(problem), scores(problem)),
            above,
            share=problem.ratio or 1.0 - 1.0 / math.e,
            epsilon=0.0 if problem.ratio else problem.epsilon or 0.0,
            delta=0.3 * AUDITED * problem.delta,
        )


@dataclass(frozen=True)
class Thompson:
    """Values under a budget too small for any guarantee: ask what promises most, by a belief about gains."""

    name: ClassVar[str] = "thompson"
    order: ClassVar[Literal["item", "none"]] = "item"  # what it learns may enter a certificate

    def guarantee(self, problem: Problem) -> Guarantee:
        """None."""
        return NO_GUARANTEE

    def build(self, problem: Problem) -> State:
        """Nothing needs to be known of the noise; a budget must be given."""
        if not isinstance(problem.feedback, Values):
            raise UnknownExplorer("thompson asks for values; for comparisons use duels")
        needs_a_budget(self.name, problem)
        return thompson.new_thompson(
            problem.size, problem.k, problem.seed, problem.in_flight, scores(problem), stay=0.5, fall=0.3
        )


@dataclass(frozen=True)
class Duels:
    """Comparisons between contenders, by a belief about strengths. Needs no knowledge of β; any budget will do."""

    name: ClassVar[str] = "duels"
    order: ClassVar[Literal["item", "none"]] = "none"
    variance: float = 1.5
    widen: float = 0.1
    careless: float = 0.1

    def __post_init__(self) -> None:
        if not (is_finite(self.variance) and self.variance > 0):
            raise InvalidProblem(f"variance of strengths must be a positive number, got {self.variance!r}")
        if not (is_finite(self.widen) and self.widen >= 0):
            raise InvalidProblem(f"widen is a variance added between rounds, 0 or more, got {self.widen!r}")
        if not (is_finite(self.careless) and 0 <= self.careless < 1):
            raise InvalidProblem(f"careless is a share of answers, from 0 to less than 1, got {self.careless!r}")

    def guarantee(self, problem: Problem) -> Guarantee:
        """None before the start; the certificate says what the comparisons showed."""
        return NO_GUARANTEE

    def build(self, problem: Problem) -> State:
        """A budget must be given."""
        comparisons_only(self.name, problem)
        needs_a_budget(self.name, problem)
        return duels.new_duels(
            problem.size,
            problem.k,
            problem.seed,
            problem.in_flight,
            scores(problem),
            variance=self.variance,
            widen=self.widen,
            careless=self.careless,
        )


@dataclass(frozen=True)
class Pivot:
    """Comparisons with a proof and no model: each pick is shown to be within ε′ of the best, for a crowd of sharpness
    β or more.
    """

    name: ClassVar[str] = "pivot"
    order: ClassVar[Literal["item", "none"]] = "item"
    shrink: float = 1.0

    def __post_init__(self) -> None:
        check_shrink(self.shrink)

    def guarantee(self, problem: Problem) -> Guarantee:
        """Theorem 1 for k′ = 1."""
        if self.shrink < 1 or problem.epsilon is None:
            return NO_GUARANTEE
        return promise("O", problem.epsilon, problem.delta, assumptions_of(problem))

    def build(self, problem: Problem) -> State:
        """γ = ½·tanh(β₀ε′/2)."""
        comparisons_only(self.name, problem)
        needs_an_end(self.name, problem, False)
        assert isinstance(problem.feedback, Preferences)
        gamma, share = 0.0, 0.0
        if problem.epsilon is not None:
            if problem.feedback.beta is None:
                raise InvalidProblem("pivot needs to know how sharp the crowd is at least: give Preferences(beta=...)")
            share = free_share(problem.rounds) * problem.epsilon
            gamma = 0.5 * math.tanh(0.5 * problem.feedback.beta * share)
        return pivot.new_pivot(
            problem.size,
            problem.k,
            problem.seed,
            problem.in_flight,
            scores(problem),
            gamma=gamma,
            epsilon=share,
            delta=problem.delta / problem.rounds,
            shrink=self.shrink,
        )


def item_bounds(problem: Problem, top: int, shrink: float) -> bounds.Bounds:
    """The sharpest valid bounds on single items for what is known of the answers."""
    error = problem.delta / (problem.rounds * problem.size)
    rules: dict[str, float] = {"alpha": error, "shrink": shrink, "noise": noise_of(problem), "rho": 30.0}
    feedback = problem.feedback
    if isinstance(feedback, Preferences):
        return bounds.new_bounds(problem.size, top, kind=bounds.COMPARED, **rules)
    rules["alpha"] = (1.0 - POOLED) * error
    rules["alpha_pooled"] = POOLED * problem.delta / problem.size
    if feedback.range is None:
        return bounds.new_bounds(problem.size, top, kind=bounds.NORMAL, **rules)
    rules["alpha"] *= 0.5  # two sequences share each
    rules["alpha_pooled"] *= 0.5
    return bounds.new_bounds(problem.size, top, feedback.most, kind=bounds.BOUNDED, span=feedback.span, **rules)


def scores(problem: Problem) -> Floats | None:
    """The prior as an array."""
    return None if problem.prior is None else np.array(problem.prior)


def values_only(name: str, problem: Problem) -> Values:
    """What is known of the values; refuse comparisons."""
    if not isinstance(problem.feedback, Values):
        raise UnknownExplorer(f"{name} asks for values; for comparisons use duels, pivot, sharp or topx")
    return problem.feedback


def comparisons_only(name: str, problem: Problem) -> None:
    """Refuse values."""
    if not isinstance(problem.feedback, Preferences):
        raise UnknownExplorer(f"{name} asks for comparisons; for values use certified, thompson, sharp or topx")


def needs_a_budget(name: str, problem: Problem) -> None:
    """Refuse what would never end."""
    if problem.total is None:
        raise InvalidProblem(f"{name} asks as long as it may: give budget=, the number of answers you can afford")

"""`certified` as settings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from handful.certificates import (
    NO_GUARANTEE,
    Certificate,
    Evidence,
    Guarantee,
    assumptions_of,
    check_shrink,
    claim_of,
    finite_step,
    needs_an_end,
    noise_of,
    one_of,
    promise,
    scores,
    values_only,
    within,
)
from handful.errors import InvalidProblem
from handful.explorers import audit, claim, every_round, gains
from handful.explorers.audit import AUDITED, audit_view, claim_of_audit
from handful.explorers.board import GAIN, View
from handful.explorers.bounds import bounds_view, item_bounds
from handful.explorers.protocol import Explorer, ExplorerState
from handful.numbers import is_finite
from handful.problem import Problem, Values


@dataclass(frozen=True)
class Certified(Explorer):
    """The guarantee of the paper for values, from the weakest condition that implies it; nothing is picked at random.

    rule: "audit" scouts for each pick and proves the whole at the end (cheapest by far); "plain", "chain" and "bank"
    prove every round. near: what a pick may be expected to lose to the best, as a share of its gain, as far as a scout
    can tell (where gains are small: of half the mean gain so far); or half of epsilon/k, where that is more. Smaller
    asks more and picks better. With `ratio`, the audit goes on until that share of the optimum is certified, or says
    that it is out of reach.
    """

    name: ClassVar[str] = "certified"
    rule: Literal["audit", "bank", "chain", "plain"] = "audit"
    near: float = 0.011
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

    def build(self, problem: Problem) -> ExplorerState:
        """The audit, or a proof in every round."""
        values = values_only(self.name, problem)
        if problem.epsilon is None and problem.ratio is None:
            needs_an_end(self.name, problem, False)
        k = problem.rounds
        if self.rule == "audit":
            return self._audited(problem, values)
        if problem.ratio is not None:
            raise InvalidProblem("a ratio is certified by an audit: use Certified(rule='audit'), which is the default")
        return every_round.new_state(
            problem.size,
            k,
            problem.seed,
            problem.in_flight,
            item_bounds(problem, k, self.shrink, of_optimum=True),
            chained=0 if self.rule == "plain" else 1,
            banked=1 if self.rule == "bank" else 0,
            rounds=k,
            share=finite_step(k),
            epsilon=(problem.epsilon or 0.0) * finite_step(k) / (1.0 - 1.0 / math.e),
        )

    def _audited(self, problem: Problem, values: Values) -> ExplorerState:
        """A scout, and the claim it picks for."""
        size, k = problem.size, problem.rounds
        tested = claim.new_claim(
            size,
            k,
            share=problem.ratio or 1.0 - 1.0 / math.e,
            epsilon=0.0 if problem.ratio else problem.epsilon or 0.0,
            noise=noise_of(problem),
            span=values.span,
            high=values.most,
            delta=AUDITED * problem.delta,
            shrink=self.shrink,
        )
        looking = gains.new_scout(size, problem.seed, self.near, noise_of(problem), scores(problem))
        return audit.new_state(size, k, len(problem.chosen), problem.seed, problem.in_flight, looking, tested)

    def view(self, problem: Problem, state: Any) -> View:
        """Anytime intervals of this round, or the bounds by which every round is proved."""
        return audit_view(state) if self.rule == "audit" else bounds_view(state.bounds, state.board, GAIN)

    def claim(self, evidence: Evidence, state: Any) -> Certificate:
        """The guarantee, and what the audit or the rounds' own answers show."""
        guarantee = self.guarantee(evidence.problem)
        if self.rule == "audit" and self.shrink >= 1:
            return claim_of_audit(evidence, state, guarantee)
        return claim_of(evidence, guarantee, shrink=self.shrink)

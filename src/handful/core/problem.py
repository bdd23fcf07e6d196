"""A selection problem, validated once: everything an explorer is built from."""

from __future__ import annotations

from dataclasses import dataclass, field

from handful.core.budget import PerItem, Total
from handful.core.checks import is_finite, is_number, make_plain, whole
from handful.core.feedback import Feedback
from handful.errors import InvalidProblem


@dataclass(frozen=True)
class Problem:
    """Pick k of `size` items by asking. Items are indices here; names live in the study."""

    size: int
    k: int
    feedback: Feedback
    epsilon: float | None = None
    delta: float = 0.05
    budget: int | PerItem | Total | None = None
    ratio: float | None = None
    in_flight: int = 1
    prior: tuple[float, ...] | None = None
    chosen: tuple[int, ...] = ()
    seed: int = 0
    total: Total | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        make_plain(self)
        whole("size", self.size, 0)
        if self.size < 1:
            raise InvalidProblem("there are no items to pick from: give at least one")
        whole("k", self.k, 1)
        if self.k > self.size:
            raise InvalidProblem(f"k = {self.k} is more than the {self.size} items there are: lower k or add items")
        if self.epsilon is not None and not (is_finite(self.epsilon) and self.epsilon > 0):
            raise InvalidProblem(f"epsilon must be a positive number in the units of f, got {self.epsilon!r}")
        if not (is_number(self.delta) and 0 < self.delta < 1):
            raise InvalidProblem(f"delta is a probability of error and must lie between 0 and 1, got {self.delta!r}")
        if self.ratio is not None and not (is_number(self.ratio) and 0 < self.ratio < 1):
            raise InvalidProblem(f"ratio is the share of the optimum to certify, between 0 and 1, got {self.ratio!r}")
        whole("in_flight", self.in_flight, 1)
        whole("seed", self.seed, 0)
        if self.seed >= 2**64:
            raise InvalidProblem(f"seed must be a whole number from 0 to 2⁶⁴ − 1, got {self.seed!r}")
        self._check_chosen()
        self._check_prior()
        object.__setattr__(self, "total", self._total())

    def _check_chosen(self) -> None:
        if len(set(self.chosen)) != len(self.chosen):
            raise InvalidProblem(f"the items chosen at the start name one twice: {self.chosen}")
        if any(isinstance(i, bool) or not isinstance(i, int) or not 0 <= i < self.size for i in self.chosen):
            raise InvalidProblem(f"the items chosen at the start must be among the items, got {self.chosen}")
        if len(self.chosen) >= self.k:
            raise InvalidProblem(f"{len(self.chosen)} items are chosen already and k = {self.k}: nothing is left")

    def _check_prior(self) -> None:
        if self.prior is None:
            return
        if len(self.prior) != self.size:
            raise InvalidProblem(f"the prior needs one score per item: got {len(self.prior)} for {self.size} items")
        if not all(is_finite(x) for x in self.prior):
            raise InvalidProblem("the prior's scores must be finite numbers")

    def _total(self) -> Total | None:
        if self.budget is None or isinstance(self.budget, Total):
            return self.budget
        if isinstance(self.budget, PerItem):
            return self.budget.total(self.size, self.k)
        whole("budget", self.budget, 1)
        return Total(self.budget)

    @property
    def rounds(self) -> int:
        """How many items are still to be picked."""
        return self.k - len(self.chosen)

    @property
    def candidates(self) -> int:
        """How many items may be picked in the first round."""
        return self.size - len(self.chosen)

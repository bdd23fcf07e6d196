"""A selection problem: what an answer is, how many may be spent, how a round can end, what f can do."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from handful.errors import InvalidAnswer, InvalidProblem
from handful.numbers import is_finite, is_number, make_plain, whole

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class GrowingSet(Protocol):
    """A set function at a growing set S. `gain` costs what one item costs, not what S costs."""

    @property
    def chosen(self) -> tuple[int, ...]:
        """S, in the order added."""

    @property
    def value(self) -> float:
        """f(S)."""

    def gain(self, item: int) -> float:
        """f(item | S); zero for an item of S."""

    def gains(self, items: Ints | None = None) -> Floats:
        """f(a | S) for every item a, or for these items; zero on S."""

    def add(self, item: int) -> None:
        """S = S ∪ {item}."""


class Objective(Protocol):
    """A monotone submodular function of subsets of 0..size-1."""

    @property
    def size(self) -> int:
        """N, the number of items."""

    def start(self) -> GrowingSet:
        """The function at the empty set, ready to grow."""


class Budget(Protocol):
    """What may still be spent."""

    def left(self, spent: int) -> int:
        """What is left after so many answers; -1 for no limit."""


@dataclass(frozen=True)
class Unlimited:
    """Rounds end by their rule alone."""

    def left(self, spent: int) -> int:
        """No limit."""
        return -1


@dataclass(frozen=True)
class Total:
    """So many answers in all."""

    answers: int

    def __post_init__(self) -> None:
        make_plain(self)
        whole("budget", self.answers, 0)

    def left(self, spent: int) -> int:
        """What is not spent yet."""
        return max(self.answers - spent, 0)


@dataclass(frozen=True)
class PerItem:
    """So many answers per item and round, the paper's x-axis: b·N·k in all."""

    answers: float

    def __post_init__(self) -> None:
        make_plain(self)
        if not (is_finite(self.answers) and self.answers >= 0):
            raise InvalidProblem(f"a budget per item must be 0 or more and finite, got {self.answers!r}")

    def total(self, size: int, k: int) -> Total:
        """The budget of all items and rounds together."""
        return Total(round(self.answers * size * k))


MOST_OPTIONS = 9  # of one question: more than a person can look over
LARGEST = 1e150  # of answers
SMALLEST = 1e-150  # of answers and R, but for 0


@dataclass(frozen=True)
class Values:
    """Answers are numbers whose mean is the gain f(item | chosen).

    Say what you know of the noise: `noise=R` if it is sub-Gaussian with parameter R (R = half the range always
    holds; for normal noise R is its standard deviation), or `range=(lo, hi)` if every answer lies between two numbers.
    Say nothing, and no guarantee can be given.
    """

    noise: float | None = None
    range: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        make_plain(self)
        if self.noise is not None and self.range is not None:
            raise InvalidProblem("give Values(noise=R) or Values(range=(lo, hi)), not both: one of them is the sharper")
        if self.noise is not None and not (is_finite(self.noise) and self.noise >= 0):
            raise InvalidProblem(f"noise must be a finite number, 0 or more, got {self.noise!r}")
        if self.range is not None:
            pair = isinstance(self.range, (tuple, list)) and len(self.range) == 2 and all(map(is_finite, self.range))
            if not (pair and self.range[0] < self.range[1]):
                raise InvalidProblem(f"range must be (lo, hi) with finite lo < hi, got {self.range}")
            if not 1e-100 < self.span < 1e100:
                raise InvalidProblem(f"a range of length {self.span:g} cannot be reckoned with: scale the answers")

    @property
    def options(self) -> int:
        """How many items a question is about."""
        return 1

    @property
    def span(self) -> float:
        """How far apart two answers may be; 0 where that is not known."""
        return 0.0 if self.range is None else self.range[1] - self.range[0]

    @property
    def most(self) -> float:
        """No answer is larger."""
        return math.inf if self.range is None else self.range[1]

    @property
    def sub_gaussian(self) -> float | None:
        """R, if anything is known: half the range for bounded answers (Hoeffding)."""
        if self.range is not None:
            return self.span / 2
        return None if self.noise is None else float(self.noise)  # as one type for all: kernels are compiled once

    @property
    def compares(self) -> bool:
        """Whether a question has a rival."""
        return False

    def check_unit(self) -> None:
        """Refuse an R that cannot be reckoned with; a stored study that was made with one still opens."""
        if self.noise is not None and not (self.noise == 0 or SMALLEST <= self.noise <= LARGEST):
            raise InvalidProblem(
                f"noise must be 0 or lie between {SMALLEST:g} and {LARGEST:g}, got {self.noise!r}: beyond, its square "
                "is no number; give answers and noise in another unit"
            )

    def check(self, answer: object) -> float:
        """The answer as a number, or InvalidAnswer."""
        what = f"this study takes numbers, got {answer!r}"
        if isinstance(answer, (bool, np.bool_)):
            if self.range == (0.0, 1.0):
                return 1.0 if answer else 0.0
            raise InvalidAnswer(f"{what}: tell the gain of the item (True and False are 1 and 0 with range=(0, 1))")
        if not isinstance(answer, (int, float, np.number)):
            raise InvalidAnswer(f"{what}: tell the gain of the item as a number")
        if not is_finite(answer):
            raise InvalidAnswer(f"an answer must be a finite number, got {answer!r:.40}")
        value = float(answer)
        if abs(value) > LARGEST:
            raise InvalidAnswer(
                f"an answer must lie between −{LARGEST:g} and {LARGEST:g}, got {value!r}: beyond, its square is no "
                "number; give answers in a larger unit"
            )
        if 0.0 < abs(value) < SMALLEST and not self.sub_gaussian:  # else it is as good as 0
            raise InvalidAnswer(
                f"an answer must be 0 or at least {SMALLEST:g} in size, got {value!r}: below, its square is no number; "
                "give answers in a smaller unit, or 0 if it is a rounding error"
            )
        if self.range is not None and not self.range[0] <= value <= self.range[1]:
            raise InvalidAnswer(f"answer {value!r} lies outside the range {self.range} that this study was told")
        return value


@dataclass(frozen=True)
class Preferences:
    """Answers say which of `options` items (2 to 9) is the best addition: with two, whether the item or its rival is.

    `tau` comparisons make one query of the Borda reduction (TopX only). `beta`, if known, is the sharpness of a
    Bradley-Terry-Luce crowd, at least; it turns statements about probabilities into statements about f.
    """

    tau: int = 1
    beta: float | None = None
    options: int = 2

    def __post_init__(self) -> None:
        make_plain(self)
        whole("tau", self.tau, 1)
        if self.beta is not None and not (is_number(self.beta) and self.beta > 0):
            raise InvalidProblem(f"beta must be positive, got {self.beta!r}; leave it out if it is not known")
        if whole("options", self.options, 2) > MOST_OPTIONS:
            raise InvalidProblem(f"options is how many items a question shows, 2 to {MOST_OPTIONS}, got {self.options}")

    @property
    def compares(self) -> bool:
        """Whether a question has a rival."""
        return True

    def check(self, answer: object) -> float:
        """1.0 for the item, 0.0 for its rival, or InvalidAnswer; for a question with two options."""
        if isinstance(answer, (bool, np.bool_)):
            return 1.0 if answer else 0.0
        raise InvalidAnswer(f"this study takes True (the item) or False (its rival), got {answer!r}")


Feedback = Values | Preferences


OPEN, RULE, BUDGET, ALONE, CLOSED, UNREACHABLE, FILLED = range(7)  # as they stand on a board; OPEN: it has not ended


@dataclass(frozen=True)
class Ending:
    """The words for one way to end.

    `name` stands in journals and results, `by` completes "decided by", and `short` is a label in a picture.
    """

    code: int
    name: str
    by: str
    short: str


ENDINGS = (
    Ending(RULE, "rule", "its rule", "decided"),
    Ending(BUDGET, "budget", "the budget", "out of budget"),
    Ending(ALONE, "alone", "there being no choice", "no choice"),
    Ending(CLOSED, "closed", "finishing the study early", "finished early"),
    Ending(UNREACHABLE, "out of reach", "the claim being out of reach", "out of reach"),
    Ending(FILLED, "filled", "what was known when the study was finished early", "filled in"),
)
BY_BELIEF = Ending(RULE, "rule", "its belief", "by its belief")
"""A rule that shows nothing of its pick goes by what it believes."""
DECIDED = ("rule", "alone")  # endings that a guarantee allows
_BY_CODE = {ending.code: ending for ending in ENDINGS}
_BY_NAME = {ending.name: ending for ending in ENDINGS}


def ending_of(code: int) -> Ending:
    """The ending that stands on a board as `code`."""
    return _BY_CODE[int(code)]


def ending_named(name: str) -> Ending:
    """The ending that a journal or a result calls `name`."""
    return _BY_NAME[name]


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

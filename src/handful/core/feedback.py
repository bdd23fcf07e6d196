"""What an answer is, and what is known about its noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from handful.core.checks import is_finite, is_number, make_plain, whole
from handful.errors import InvalidAnswer, InvalidProblem

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

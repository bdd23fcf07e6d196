"""How many answers may be spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from handful.core.checks import is_finite, make_plain, whole
from handful.errors import InvalidProblem


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

"""A round that is over, kept small: of most rounds most items were asked nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.explorers.board import View
from handful.problem import Floats, Ints
from handful.study import events


class PackedNumbers:
    """An array of numbers that does not change. Where most of them are the same one, only the others are kept."""

    __slots__ = ("_fill", "_size", "_values", "_where")

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        bits = np.ascontiguousarray(values).view(np.int64)
        middle = len(bits) // 2
        self._size = len(values)
        most = np.partition(bits, middle)[middle : middle + 1].copy()  # what most are, if most are the same
        self._fill = most.view(values.dtype)
        others = np.flatnonzero(bits != self._fill.view(np.int64))
        few = 2 * len(others) < len(bits)
        self._where: np.ndarray[Any, Any] | None = others.astype(np.int32) if few else None
        self._values = values[others] if few else values.copy()

    def unpacked(self) -> np.ndarray[Any, Any]:
        """The whole array, a new one each time."""
        if self._where is None:
            return self._values.copy()
        whole = np.repeat(self._fill, self._size)
        whole[self._where] = self._values
        return whole


@dataclass(frozen=True)
class _PackedView:
    mean: PackedNumbers
    lower: PackedNumbers
    upper: PackedNumbers
    scale: str
    believed: bool


class ClosedRound:
    """A round that is over."""

    __slots__ = ("_answers", "_means", "_spreads", "_view", "closing", "excluded_by_hand", "questions")

    def __init__(
        self,
        closing: events.RoundClosed,
        questions: range,
        answers: Ints,
        means: Floats,
        spreads: Floats,
        view: View,
        excluded_by_hand: bool,
    ) -> None:
        self.closing, self.questions = closing, questions
        self.excluded_by_hand = excluded_by_hand  # whether answers were left out that no rule fixed before excludes
        self._answers, self._means, self._spreads = (PackedNumbers(a) for a in (answers, means, spreads))
        mean, lower, upper = (PackedNumbers(a) for a in (view.mean, view.lower, view.upper))
        self._view = _PackedView(mean, lower, upper, view.scale, view.believed)

    @property
    def answers(self) -> Ints:
        """How many were counted, per item."""
        return self._answers.unpacked()

    @property
    def means(self) -> Floats:
        """Of the answers counted; nan where there are none."""
        return self._means.unpacked()

    @property
    def spreads(self) -> Floats:
        """Σ (answer − mean of those before it)², as on the board."""
        return self._spreads.unpacked()

    @property
    def view(self) -> View:
        """Of the explorer, when the round closed."""
        of = self._view
        return View(of.mean.unpacked(), of.lower.unpacked(), of.upper.unpacked(), of.scale, of.believed)

"""Sums of functions: mixtures with weights, and the average over stored scenarios."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from handful.errors import InvalidProblem
from handful.numbers import is_finite
from handful.objectives.arrays import RowIndex
from handful.objectives.function import Function
from handful.objectives.growing import Growing
from handful.problem import Floats, GrowingSet, Objective


class Mixture:
    """f(S) = Σ_i weights[i]·f_i(S), weights ≥ 0. Monotone if all parts are, and submodular if all parts are.

    A bonus per item is a part too: `Mixture([coverage, Modular(bonus)], [1.0, 0.3])`.
    """

    def __init__(self, parts: Sequence[Objective], weights: Sequence[float] | None = None) -> None:
        self.parts = tuple(parts)
        if not self.parts:
            raise InvalidProblem("there is nothing to mix: give at least one objective")
        self.weights = tuple([1.0] * len(self.parts) if weights is None else map(float, weights))
        if len(self.weights) != len(self.parts):
            raise InvalidProblem(f"{len(self.weights)} weights for {len(self.parts)} objectives: give one weight each")
        for weight in self.weights:
            if not is_finite(weight) or weight < 0.0:
                raise InvalidProblem(f"a weight is {weight}: give finite numbers ≥ 0")
        sizes = {part.size for part in self.parts}
        if len(sizes) > 1:
            raise InvalidProblem(f"the objectives have {sorted(sizes)} items: they must be about the same items")
        self.monotone = all(getattr(part, "monotone", True) for part in self.parts)
        self.submodular = all(getattr(part, "submodular", True) for part in self.parts)
        self.keeps_gains = all(getattr(part, "keeps_gains", False) for part in self.parts)
        named = (getattr(part, "ids", None) for part in self.parts)
        self.ids = next((ids for ids in named if ids is not None), None)

    @property
    def size(self) -> int:
        """N, the number of items."""
        return self.parts[0].size

    def start(self) -> MixtureProgress:
        """Progress at the empty set."""
        return MixtureProgress([part.start() for part in self.parts], self.weights, self.size)


class MixtureProgress(Growing):
    """A mixture at a growing set: each part's own progress."""

    def __init__(self, parts: list[GrowingSet], weights: tuple[float, ...], size: int) -> None:
        super().__init__(size)
        self._parts = parts
        self._weights = weights

    def gains(self, items: Any = None) -> Floats:
        """Σ_i weights[i]·f_i(a | S) for every item a, or for these items; zero on S."""
        total = np.zeros(self._size if items is None else len(items))
        for part, weight in zip(self._parts, self._weights, strict=True):
            total += weight * part.gains(items)
        return total

    def _gain(self, item: int) -> float:
        return sum(w * part.gain(item) for part, w in zip(self._parts, self._weights, strict=True))

    def _gains(self, rows: RowIndex) -> Floats:
        return self.gains(np.arange(self._size)[rows])

    def _absorb(self, item: int) -> None:
        for part in self._parts:
            part.add(item)


class SampleAverage(Mixture):
    """f(S) = the mean of the scenarios' functions at S: sample-average approximation.

    `scenarios` are objectives over the same items, one per stored scenario (a drawn cascade, a query, a season). Use it
    where one scenario can be asked about every set: all answers are then reused, which beats asking one gain at a time.
    """

    def __init__(self, scenarios: Sequence[Objective]) -> None:
        count = len(scenarios)
        if not count:
            raise InvalidProblem("there are no scenarios: give at least one")
        super().__init__(scenarios, [1.0 / count] * count)

    @classmethod
    def of(cls, value: Callable[[tuple[int, ...], Any], float], scenarios: Sequence[Any], size: int) -> SampleAverage:
        """From a function `value(items, scenario)` that gives the same number each time."""
        return cls([Function(_InScenario(value, scenario), size) for scenario in scenarios])

    def values(self, items: Sequence[int]) -> Floats:
        """f of this set in every scenario: their mean is f, and their spread says how sure that is."""
        values = []
        for part in self.parts:
            progress = part.start()
            for item in items:
                progress.add(item)
            values.append(progress.value)
        return np.array(values)


class _InScenario:
    """value(·, scenario); a class, so that it can be pickled."""

    def __init__(self, value: Callable[[tuple[int, ...], Any], float], scenario: object) -> None:
        self._value = value
        self._scenario = scenario

    def __call__(self, items: tuple[int, ...]) -> float:
        return self._value(items, self._scenario)

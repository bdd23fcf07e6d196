"""A user's own function of a set, sums of functions, and functions by their values."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from handful.errors import InvalidProblem
from handful.numbers import is_finite, whole
from handful.objectives.arrays import RowIndex, ids_of, numbers
from handful.objectives.progress import KnownGains, Progress
from handful.problem import Floats, GrowingSet, Objective

NOISY = (
    "the function gave {first!r} and then {second!r} for the same set {items}: its answers are noisy. "
    "maximize needs a function that gives the same value each time; for noisy answers use handful.Study, "
    "which asks again as often as needed"
)


class Function:
    """f(S) = function(items) − function(()), where `function` takes a tuple of items and returns a number.

    Items are 0..size−1, or the `ids` that are given. Say whether it is monotone and submodular: ratios rest on that,
    and lazy greedy is right only for submodular functions. `handful.check` looks for sets that say otherwise.
    """

    def __init__(
        self,
        function: Callable[..., float],
        size: int | None = None,
        *,
        ids: Sequence[Hashable] | None = None,
        monotone: bool = True,
        submodular: bool = True,
    ) -> None:
        if not callable(function):
            raise InvalidProblem(f"function is {function!r}: give a function of a tuple of items")
        if (size is None) == (ids is None):
            raise InvalidProblem("say what the items are: size=N for 0..N-1, or ids=[...], not both")
        self.ids = None if ids is None else tuple(ids)
        self._size = len(self.ids) if self.ids is not None else size or 0
        whole("size", self._size, 1)
        self.function = function
        self.monotone = monotone
        self.submodular = submodular

    @property
    def size(self) -> int:
        """N, the number of items."""
        return self._size

    def start(self) -> FunctionProgress:
        """Progress at the empty set; refuses a function that gives two values for the same set."""
        empty = self.value(())
        self._same((), empty)
        self._same((0,), self.value((0,)))
        return FunctionProgress(self, empty)

    def value(self, items: tuple[int, ...]) -> float:
        """function(items)."""
        named = items if self.ids is None else tuple(self.ids[i] for i in items)
        value = self.function(named)
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise InvalidProblem(f"the function returned {value!r} for {named}: return a number") from None
        if not math.isfinite(number):
            raise InvalidProblem(f"the function returned {number} for {named}: return a finite number")
        return number

    def _same(self, items: tuple[int, ...], first: float) -> None:
        second = self.value(items)
        if second != first:
            raise InvalidProblem(NOISY.format(first=first, second=second, items=items))


class FunctionProgress(Progress):
    """A user's function at a growing set."""

    def __init__(self, function: Function, empty: float) -> None:
        super().__init__(function.size)
        self._function = function
        self._empty = self._now = empty
        self._seen: dict[int, float] = {}  # the function at S and one item more, as far as asked

    @property
    def value(self) -> float:
        """f(S), as the function says."""
        return self._now - self._empty

    def add(self, item: int) -> None:
        """S = S ∪ {item}; refuses a function that gives another value now than when the gain was asked for."""
        self._check(item)
        if item in self._chosen:
            return
        after = (*self._chosen, int(item))
        value = self._function.value(after)
        if self._seen.get(item, value) != value:
            raise InvalidProblem(NOISY.format(first=self._seen[item], second=value, items=after))
        self._now, self._chosen, self._seen = value, after, {}

    def _gains(self, rows: RowIndex) -> Floats:
        items = range(self._size)[rows] if isinstance(rows, slice) else rows.tolist()
        inside = set(self._chosen)
        for item in items:
            if item not in inside:
                self._seen[item] = self._function.value((*self._chosen, item))
        return np.array([0.0 if item in inside else self._seen[item] - self._now for item in items])

    def _absorb(self, item: int) -> None:
        raise NotImplementedError  # `add` does it


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


class MixtureProgress(Progress):
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


class Modular:
    """f(S) = Σ_{s∈S} values[s], values ≥ 0. Monotone and submodular (with equality)."""

    monotone = True
    submodular = True
    keeps_gains = True

    def __init__(self, values: object) -> None:
        self.values: Floats = numbers("values", values, 1).astype(np.float64)
        self.ids = ids_of(values)

    @property
    def size(self) -> int:
        """N, the number of items."""
        return len(self.values)

    def start(self) -> ModularProgress:
        """Progress at the empty set."""
        return ModularProgress(self.values)


class ModularProgress(KnownGains):
    """A modular function at a growing set; it has nothing to remember."""

    def _absorb(self, item: int) -> None:
        pass


Subset = frozenset[int]

ROUNDING = 1e-9
"""Violations of monotonicity or submodularity up to this are taken for rounding."""


class Table:
    """f(S) looked up in a table with a value for every subset of 0..N-1.

    The table must be complete, with f(∅) = 0, monotone and submodular: no guarantee would hold otherwise.
    """

    monotone = True
    submodular = True

    def __init__(self, values: Mapping[Subset, float]) -> None:
        items = sorted(frozenset().union(*values))
        if not items or items != list(range(len(items))):
            raise InvalidProblem(f"the table is about items {items}: name them 0..N-1, at least one")
        self._size = len(items)
        self.values: Mapping[Subset, float] = {key: float(value) for key, value in values.items()}
        self._check()

    @property
    def size(self) -> int:
        """N, the number of items."""
        return self._size

    def start(self) -> TableProgress:
        """Progress at the empty set."""
        return TableProgress(self.values, self._size)

    def _check(self) -> None:
        for subset in self._subsets():
            if subset not in self.values:
                raise InvalidProblem(f"the table has no value for {_named(subset)}: give all {2**self._size} subsets")
            if not math.isfinite(self.values[subset]):
                raise InvalidProblem(f"f({_named(subset)}) is {self.values[subset]}: give finite numbers")
        if self.values[frozenset()] != 0.0:
            raise InvalidProblem(f"f({{}}) is {self.values[frozenset()]}: subtract it everywhere, so that f({{}}) = 0")
        for subset in self._subsets():
            self._check_gains_at(subset)

    def _check_gains_at(self, subset: Subset) -> None:
        """Looking one item ahead is enough: both properties follow for all pairs of sets."""
        outside = [item for item in range(self._size) if item not in subset]
        for item in outside:
            gain = self._gain(item, subset)
            if gain < -ROUNDING:
                raise InvalidProblem(f"not monotone: item {item} adds {gain:g} to {_named(subset)}; gains must be ≥ 0")
            for other in outside:
                later = self._gain(item, subset | {other}) if other != item else gain
                if later > gain + ROUNDING:
                    raise InvalidProblem(
                        f"not submodular: item {item} adds {gain:g} to {_named(subset)} but {later:g} to "
                        f"{_named(subset | {other})}; gains must not grow with the set"
                    )

    def _gain(self, item: int, subset: Subset) -> float:
        return self.values[subset | {item}] - self.values[subset]

    def _subsets(self) -> Iterator[Subset]:
        for count in range(self._size + 1):
            yield from map(frozenset, combinations(range(self._size), count))


class TableProgress(Progress):
    """A table at a growing set: the set is all there is to remember."""

    def __init__(self, values: Mapping[Subset, float], size: int) -> None:
        super().__init__(size)
        self._values = values
        self._subset: Subset = frozenset()

    @property
    def value(self) -> float:
        """f(S), as the table has it."""
        return self._values[self._subset]

    def _gains(self, rows: RowIndex) -> Floats:
        items = range(self._size)[rows] if isinstance(rows, slice) else rows.tolist()
        return np.array([self._values[self._subset | {item}] - self._values[self._subset] for item in items])

    def _absorb(self, item: int) -> None:
        self._subset = self._subset | {item}


def appendix_b(alpha: float) -> Table:
    """Appendix B: items a, b, c = 0, 1, 2, where picking c first spoils the greedy value 2 by as much as ½ + α.

    The paper asks for α > 0; beyond ½ its function is no longer monotone, so 0 < α ≤ ½.
    """
    if not 0.0 < alpha <= 0.5:
        raise InvalidProblem(f"alpha is {alpha}: Appendix B's table is monotone submodular for 0 < alpha ≤ 0.5")
    a, b, c = 0, 1, 2
    return Table(
        {
            frozenset(): 0.0,
            frozenset({a}): 1.0,
            frozenset({b}): 1.0,
            frozenset({c}): 1.0 - 2.0 * alpha,
            frozenset({a, b}): 2.0,
            frozenset({a, c}): 1.5 - alpha,
            frozenset({b, c}): 1.5 - alpha,
            frozenset({a, b, c}): 2.0,
        }
    )


def _named(subset: Subset) -> str:
    return "{" + ", ".join(map(str, sorted(subset))) + "}"

"""What a set may be: how many items, what they may cost, how many of each group; and what that leaves to be gained."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.errors import InvalidProblem
from handful.numbers import is_finite, whole
from handful.objectives.arrays import numbers
from handful.problem import Floats, Ints


@dataclass(frozen=True)
class Limits:
    """At most `count` items more; at most `budget` of `costs` in all; at most `most[g]` more of group g."""

    count: int
    costs: Floats | None = None
    budget: float = np.inf
    codes: Ints | None = None
    most: Ints | None = None

    def close(self, open_: Any, taken: Sequence[int]) -> None:
        """Close the items that cannot be taken besides those taken."""
        if self.costs is not None:
            open_ &= self.costs <= self.budget - self.costs[list(taken)].sum() + 1e-9 * self.budget
        if self.codes is not None and self.most is not None:
            used = np.bincount(self.codes[list(taken)], minlength=len(self.most))
            open_ &= (used < self.most)[self.codes]

    def more(self, upper: Floats) -> tuple[float, Ints]:
        """An upper bound of what any allowed set can add, from an upper bound per item; and the items it rests on."""
        found = [self._by_count(upper)]
        if self.costs is not None:
            found.append(self._by_cost(upper))
        return min(found, key=lambda bound: bound[0])

    def _by_count(self, upper: Floats) -> tuple[float, Ints]:
        count = min(self.count, len(upper))
        if self.codes is None or self.most is None:
            items = np.argpartition(-upper, count - 1)[:count] if count else np.empty(0, np.int64)
        else:
            order = np.argsort(-upper, kind="stable")
            by_group = order[np.argsort(self.codes[order], kind="stable")]
            codes = self.codes[by_group]
            rank = np.arange(len(codes)) - np.searchsorted(codes, codes)
            allowed = by_group[rank < self.most[codes]]
            items = allowed[np.argsort(-upper[allowed], kind="stable")][:count]
        items = items[upper[items] > 0.0]
        return float(upper[items].sum()), items

    def _by_cost(self, upper: Floats) -> tuple[float, Ints]:
        """The fractional knapsack: the last item may be taken in part."""
        assert self.costs is not None
        useful = np.flatnonzero((self.costs <= self.budget) & (upper > 0.0))
        order = useful[np.argsort(-upper[useful] / self.costs[useful], kind="stable")]
        room = self.budget - (np.cumsum(self.costs[order]) - self.costs[order])
        items = order[room > 0.0]
        shares = np.minimum(room[room > 0.0] / self.costs[items], 1.0)
        return float((upper[items] * shares).sum()), items


def limits_from(
    size: int,
    k: int | None,
    costs: object,
    budget: float | None,
    groups: object,
    limit: int | Mapping[Hashable, int] | None,
    names: Sequence[Hashable],
    given: Sequence[int],
) -> Limits:
    """The limits a user means, validated, after `given` items were taken."""
    if k is not None:
        whole("k", k, 1)
        if k > size:
            raise InvalidProblem(f"k must lie between 1 and the {size} items there are, got {k}")
        if k <= len(given):
            raise InvalidProblem(f"{len(given)} items are chosen already and k = {k}: nothing is left")
    elif costs is None:
        raise InvalidProblem("say how many: give k, or costs= with budget=")
    if (costs is None) != (budget is None):
        raise InvalidProblem("costs and budget go together: give one cost per item and what all may cost")
    if (groups is None) != (limit is None):
        raise InvalidProblem("groups and limit go together: give one group per item and how many of each may be picked")
    prices, left = None, np.inf
    if costs is not None and budget is not None:
        prices = _costs(costs, size, names)
        if not is_finite(budget) or budget <= 0:
            raise InvalidProblem(f"budget is {budget!r}: give a number above 0, in the unit of the costs")
        left = float(budget)
        if given and prices[list(given)].sum() > left:
            raise InvalidProblem("the items chosen already cost more than the budget: raise it")
        if not (prices <= left - prices[list(given)].sum()).any():
            raise InvalidProblem(f"no item fits a budget of {budget}: the cheapest costs {prices.min():g}")
    codes, most = (None, None) if groups is None else _groups(groups, limit, size, names)
    return Limits((size if k is None else k) - len(given), prices, left, codes, most)


def _per_item(what: str, given: object, size: int, names: Sequence[Hashable]) -> list[Any]:
    values: list[Any]
    if isinstance(given, Mapping):
        missing = [name for name in names if name not in given]
        if missing:
            raise InvalidProblem(f"{what} has nothing for item {missing[0]!r}: give one for each item")
        return [given[name] for name in names]
    values = list(given)  # type: ignore[call-overload]
    if len(values) != size:
        raise InvalidProblem(f"{len(values)} {what} for {size} items: give one for each item")
    return values


def _costs(given: object, size: int, names: Sequence[Hashable]) -> Floats:
    costs = numbers("costs", _per_item("costs", given, size, names), 1).astype(np.float64)
    if (costs <= 0.0).any():
        raise InvalidProblem(f"item {names[int((costs <= 0.0).argmax())]!r} costs nothing: give costs above 0")
    return costs


def _groups(
    given: object, limit: int | Mapping[Hashable, int] | None, size: int, names: Sequence[Hashable]
) -> tuple[Ints, Ints]:
    labels = _per_item("groups", given, size, names)
    number = {label: code for code, label in enumerate(dict.fromkeys(labels))}
    codes = np.array([number[label] for label in labels], dtype=np.int64)
    if isinstance(limit, Mapping):
        most = [limit.get(label, size) for label in number]
    else:
        most = [limit] * len(number)  # type: ignore[list-item]
    for each in most:
        whole("limit", each, 0)
    return codes, np.array(most, dtype=np.int64)

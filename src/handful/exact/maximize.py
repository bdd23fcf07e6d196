"""`handful.maximize`: the best few of many, for a function that can be computed."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from handful.errors import InvalidProblem
from handful.exact.candidates import Candidates
from handful.exact.least_bound import LeastBound
from handful.exact.limits import Limits, limits_from
from handful.exact.memory_needed import check_memory
from handful.exact.ranking import Ranking
from handful.problem import GrowingSet, Objective

METHODS = ("auto", "naive", "lazy", "stochastic")
GREEDY = 1.0 - 1.0 / math.e
LOG = logging.getLogger("handful.exact")

Watch = Callable[[int, int], None]


def maximize(
    objective: Objective,
    k: int | None = None,
    *,
    method: str = "auto",
    chosen: Iterable[Hashable] = (),
    costs: object = None,
    budget: float | None = None,
    groups: object = None,
    limit: int | Mapping[Hashable, int] | None = None,
    ids: Sequence[Hashable] | None = None,
    epsilon: float = 0.1,
    seed: int = 0,
    progress: bool | Watch = False,
) -> Ranking:
    """Pick k items, or what fits the budget, with a large f; ties go to the item named first.

    method: "naive" computes every gain each time; "lazy" gives the same set with far fewer gains, for submodular
    functions; "stochastic" looks at a drawn sample of N/k·ln(1/epsilon) items per pick. "auto" is lazy for submodular
    functions that compute a gain when asked, else naive.
    chosen: items that are there already; k counts them.
    costs, budget: one cost per item (a list, or a mapping by id), and what all may cost: greedy+max.
    groups, limit: one group per item, and how many of each may be picked (a number, or one per group).
    ids: the items' own names, in the order of the objective's items; a pandas index is taken by itself.
    progress: True for a bar, or a function of (picked, of). Ctrl-C ends the run and keeps the ranking so far.

    A function with noisy answers is refused: that is what `handful.Study` is for.
    """
    _refuse_what_is_no_objective(objective)
    names = _names(objective, ids)
    position = {name: at for at, name in enumerate(names)} if not isinstance(names, range) else None
    given = _positions(chosen, names, position)
    limits = limits_from(objective.size, k, costs, budget, groups, limit, names, given)
    if method not in METHODS:
        raise InvalidProblem(f"method is {method!r}: give one of {', '.join(METHODS)}")
    if not 0.0 < epsilon < 1.0:
        raise InvalidProblem(f"epsilon is {epsilon}: give a share between 0 and 1")
    how = _method(objective, method)
    if how == "stochastic" and (costs is not None or groups is not None):
        raise InvalidProblem('method="stochastic" is for a number of items alone: with costs or groups use "lazy"')
    check_memory(objective, len(given) + limits.count)
    with _watching(progress, len(given) + limits.count) as watch:
        run = _Run(objective, limits, how, given, epsilon, seed, watch)
        run.go()
    return run.ranking(names)


@dataclass
class _Run:
    """One maximization, and what is known when it is interrupted."""

    objective: Objective
    limits: Limits
    how: str
    given: tuple[int, ...]
    epsilon: float
    seed: int
    watch: Watch
    complete: bool = True
    gains: dict[int, float] = field(default_factory=dict)

    def go(self) -> None:
        """Pick, then find the bound; after Ctrl-C the picks made so far are kept."""
        self.pool = self._begin()
        self.certificate = LeastBound(self.limits, self.given, self.objective.size)
        try:
            for item in self.given:
                self._take(item)
            if self.limits.costs is not None:
                self._by_cost()
            elif self.how == "stochastic":
                self._by_samples()
            else:
                self._by_gain()
        except KeyboardInterrupt:
            self.complete = False
            LOG.warning("interrupted with %d picks", len(self.gains))
        if self._has_bound and self.complete:
            with suppress(KeyboardInterrupt):
                self.certificate.finish(self.pool)
        self.evaluations = self.pool.evaluations

    def ranking(self, names: Sequence[Hashable]) -> Ranking:
        """The result: the items picked, what each added, f of them and the bound."""
        items = tuple(self.gains)
        limits = self.limits
        error = getattr(self.objective, "error", None)
        return Ranking(
            chosen=tuple(names[i] for i in items),
            indices=items,
            gains=tuple(self.gains.values()),
            value=self.value,
            bound=self._bound(),
            guarantee=self._guarantee(),
            method=self._called(),
            evaluations=self.evaluations,
            size=self.objective.size,
            cost=None if limits.costs is None else float(limits.costs[list(items)].sum()),
            complete=self.complete,
            in_expectation=self.how == "stochastic",
            sampling_error=0.0 if error is None or not items else error(len(items)),
        )

    @property
    def value(self) -> float:
        """f of what is picked."""
        return self._value

    def _begin(self) -> Candidates:
        self._value = 0.0
        self.evaluations = 0
        return Candidates(_steady(self.objective), self.objective.size, lazy=self._may_be_lazy)

    def _take(self, item: int) -> None:
        gain = self.pool.take(item)
        self.gains[item] = gain
        self._value = self.pool.progress.value
        self.evaluations = self.pool.evaluations
        self.limits.close(self.pool.open, list(self.gains))
        self.watch(len(self.gains), len(self.given) + self.limits.count)

    def _by_gain(self) -> None:
        self.limits.close(self.pool.open, self.given)
        while len(self.gains) < len(self.given) + self.limits.count:
            item = self.pool.best()
            if item is None:
                return
            self._note()
            self._take(item)

    def _by_samples(self) -> None:
        """Stochastic greedy (Mirzasoleiman et al. 2015)."""
        draws = np.random.default_rng(self.seed)
        count = math.ceil(self.objective.size / self.limits.count * math.log(1.0 / self.epsilon))
        for _ in range(self.limits.count):
            rest = np.flatnonzero(self.pool.open)
            drawn = rest if count >= len(rest) else np.sort(draws.choice(rest, size=count, replace=False))
            item = self.pool.best(drawn)
            assert item is not None
            self._take(item)

    def _by_cost(self) -> None:
        """Greedy+max (Yaroslavtsev, Zhou, Avdiukhin 2020): greedy by gain per cost; and of all its prefixes with one
        item more, whichever fits, the best.
        """
        costs = self.limits.costs
        self.limits.close(self.pool.open, self.given)
        best, best_value = dict(self.gains), self._value
        first = None
        while len(self.gains) < len(self.given) + self.limits.count:
            single = self.pool.best()
            if single is None:
                break
            self._note()
            if first is None:
                first = self.pool.upper.copy()
            if self._value + self.pool.upper[single] > best_value:
                best = {**self.gains, single: float(self.pool.upper[single])}
                best_value = self._value + float(self.pool.upper[single])
            item = self.pool.best(costs=costs)
            assert item is not None
            self._take(item)
        if best_value > self._value * (1.0 + 1e-12):
            self._instead(best, first)

    def _instead(self, picked: dict[int, float], first: Any) -> None:
        """Take this set and fill what is left of the budget; interrupted, keep the better of both."""
        if self._has_bound:
            self.certificate.finish(self.pool)
        before = self.pool, self.gains, self._value
        self.pool = Candidates(self.objective.start(), self.objective.size, lazy=self._may_be_lazy)
        self.pool.evaluations = before[0].evaluations
        self.gains = {}
        try:
            for taken in picked:
                self._take(taken)
            if first is not None and getattr(self.objective, "submodular", True):
                self.pool.upper[:] = first
                self.pool.upper[list(picked)] = 0.0
            while len(self.gains) < len(self.given) + self.limits.count:
                item = self.pool.best(costs=self.limits.costs)
                if item is None:
                    return
                self._take(item)
        except KeyboardInterrupt:
            if self._value < before[2]:
                self.pool, self.gains, self._value = before
            raise

    @property
    def _has_bound(self) -> bool:
        o = self.objective
        return getattr(o, "monotone", True) and getattr(o, "submodular", True) and not getattr(o, "ordered", False)

    @property
    def _may_be_lazy(self) -> bool:
        """Whether a gain computed earlier bounds the gain now."""
        return self.how != "naive" and getattr(self.objective, "submodular", True)

    def _note(self) -> None:
        if self._has_bound:
            self.certificate.note(self.pool)

    def _bound(self) -> float | None:
        """The least bound known: the certificate's, or f(S) over the share that is proved for this method."""
        proved = self._guarantee()
        least = self.certificate.bound
        if proved is not None and self.how != "stochastic":
            least = min(least, self.value / proved)
        return max(least, self.value) if self._has_bound and math.isfinite(least) else None

    def _guarantee(self) -> float | None:
        if not (self._has_bound and self.complete):
            return None
        counted = self.limits.count < self.objective.size - len(self.given)
        if self.limits.costs is not None:
            return 0.5 if self.limits.codes is None and not counted else None
        if self.limits.codes is not None:
            return 0.5
        return GREEDY - self.epsilon if self.how == "stochastic" else GREEDY

    def _called(self) -> str:
        plain = {"naive": "greedy", "lazy": "lazy greedy", "stochastic": "stochastic greedy"}[self.how]
        return f"{plain}+max" if self.limits.costs is not None else plain


def _method(objective: Objective, method: str) -> str:
    submodular = getattr(objective, "submodular", True)
    if method == "auto":
        return "lazy" if submodular and not getattr(objective, "keeps_gains", False) else "naive"
    if method == "lazy" and not submodular:
        raise InvalidProblem('method="lazy" is right only for submodular functions, and this one is not: use "naive"')
    return method


def _refuse_what_is_no_objective(objective: object) -> None:
    if hasattr(objective, "start") and hasattr(objective, "size"):
        return
    if callable(objective):
        raise InvalidProblem(
            "maximize needs an objective: for a function of a set that gives the same value each time write "
            "handful.objectives.Function(function, size); for noisy answers use handful.Study"
        )
    raise InvalidProblem(f"maximize needs an objective such as handful.objectives.FacilityLocation, got {objective!r}")


def _steady(objective: Objective) -> GrowingSet:
    """Progress at the empty set; refuses an objective that gives two different gains for the same item."""
    progress, again = objective.start(), objective.start()
    few = np.arange(min(2, objective.size))
    first, second = progress.gains(few), again.gains(few)
    if not np.array_equal(first, second):
        raise InvalidProblem(
            f"the same gains are {first.tolist()} and then {second.tolist()}: the answers are noisy. maximize needs a "
            "function that gives the same value each time; for noisy answers use handful.Study"
        )
    return progress


def _names(objective: Objective, ids: Sequence[Hashable] | None) -> Sequence[Hashable]:
    names = ids if ids is not None else getattr(objective, "ids", None)
    if names is None:
        return range(objective.size)
    names = tuple(names)
    if len(names) != objective.size:
        raise InvalidProblem(f"{len(names)} ids for {objective.size} items: give one id per item")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidProblem(f"the id {twice!r} is there more than once: give each item an id of its own")
    return names


def _positions(
    chosen: Iterable[Hashable], names: Sequence[Hashable], position: dict[Hashable, int] | None
) -> tuple[int, ...]:
    found: list[int] = []
    for item in chosen:
        at = position.get(item) if position is not None else item
        if not isinstance(at, (int, np.integer)) or not 0 <= at < len(names):
            raise InvalidProblem(f"chosen names {item!r}, which is not among the {len(names)} items")
        if at in found:
            raise InvalidProblem(f"chosen names {item!r} twice: name each item once")
        found.append(int(at))
    return tuple(found)


def _watching(progress: bool | Watch, total: int) -> Any:
    if progress is False:
        return nullcontext(lambda picked, of: None)
    if callable(progress):
        return nullcontext(progress)
    from handful.exact.bar import bar

    return bar(total)

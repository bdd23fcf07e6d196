"""`handful.maximize`: the best few of many, for a function that can be computed."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from handful.errors import InvalidProblem
from handful.exact.limits import Limits, limits_from
from handful.numbers import at_most, percent_at_least
from handful.objectives import FacilityLocation, FeatureBased, GraphCut, LogDet
from handful.objectives.arrays import free_memory
from handful.problem import Floats, GrowingSet, Ints, Objective

METHODS = ("auto", "naive", "lazy", "stochastic")
GREEDY = 1.0 - 1.0 / math.e
LOG = logging.getLogger("handful.exact")
NAMES = ("facility-location", "feature-based", "graph-cut", "log-det")
AT_ONCE = 4096  # gains asked for together at most
CLEARLY = 1.25  # times the largest gain found: bounds above that will have to be looked at
EVERY = 100_000  # items times picks up to which every prefix is looked at; beyond, the first and then each doubling
ROUNDS = 6  # looks at the items that the last bound rests on, at twice as many each time
NOT_WORTH_ASKING = 10_000_000  # bytes that are always there
WORTH_SAYING = 500_000_000
PER_ITEM = 40  # bytes: an upper bound, a cost, and what is drawn or sorted

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

    return bar(total)


def objective_named(
    name: str, features: Any, *, metric: str = "rbf", represent: int | None = None, seed: int = 0
) -> Objective:
    """An objective over the rows of `features`; cosines and dot products below zero count as 0."""
    if name not in NAMES:
        raise InvalidProblem(f"there is no objective {name!r}: give one of {', '.join(NAMES)}")
    if represent is not None and name != "facility-location":
        raise InvalidProblem(f"represent is for facility-location: leave it out with {name}")
    if name == "feature-based":
        return FeatureBased(features)
    if name == "log-det":
        return LogDet.from_features(features, metric=metric)
    if name == "graph-cut":
        return GraphCut.from_features(features, metric=metric, negatives="clip")
    return FacilityLocation.from_features(features, metric=metric, negatives="clip", represent=represent, seed=seed)


@dataclass(frozen=True)
class Ranking:
    """The items picked, in the order picked, and what may be said about them.

    chosen    the items, by the user's own ids
    indices   the same as positions 0..N−1
    gains     what each added when it was picked
    value     f(S)
    bound     no allowed set has a larger f; None where that is not known (the function is not monotone or submodular)
    guarantee the share of the optimum that this method reaches on every instance; None where none is proved
    method    how it was found
    """

    chosen: tuple[Hashable, ...]
    indices: tuple[int, ...]
    gains: tuple[float, ...]
    value: float
    bound: float | None
    guarantee: float | None
    method: str
    evaluations: int
    size: int
    cost: float | None = None
    complete: bool = True
    in_expectation: bool = False
    sampling_error: float = 0.0

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.chosen)

    def __len__(self) -> int:
        return len(self.chosen)

    @property
    def ratio(self) -> float | None:
        """f(S)/bound: at least this share of the optimum was reached on this instance."""
        if self.bound is None:
            return None
        return 1.0 if self.bound <= 0.0 else min(1.0, self.value / self.bound)

    def __str__(self) -> str:
        """What was found, in sentences."""
        said = [
            f"{len(self.chosen):,} of {self.size:,} items picked by {self.method}, with {self.evaluations:,} gains "
            f"computed: f = {self.value:.6g}."
        ]
        if not self.complete:
            said.append("Interrupted: these are the picks so far.")
        if self.cost is not None:
            said.append(f"They cost {self.cost:g}.")
        if self.ratio is not None:
            said.append(
                f"No allowed set has more than {at_most(self.bound or 0.0, 6)}: this is at least "
                f"{percent_at_least(self.ratio, 1)} of the best."
            )
        else:
            said.append("The function is not both monotone and submodular: no share of the best can be stated.")
        if self.guarantee is not None:
            mean = " in expectation" if self.in_expectation else ""
            share = percent_at_least(self.guarantee, 1)
            said.append(f"On every instance this method reaches at least {share} of the best{mean}.")
        elif self.ratio is not None:
            said.append("For these limits together no share is proved for every instance; the one above is.")
        if self.sampling_error:
            said.append(
                f"f is estimated from a sample of rows: with 95% probability it is off by no more than "
                f"{self.sampling_error:.6g}, for all sets of this size at once."
            )
        return " ".join(said)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "chosen": list(self.chosen),
            "indices": list(self.indices),
            "gains": list(self.gains),
            "value": self.value,
            "bound": self.bound,
            "ratio": self.ratio,
            "guarantee": self.guarantee,
            "method": self.method,
            "evaluations": self.evaluations,
            "size": self.size,
            "cost": self.cost,
            "complete": self.complete,
        }


class Candidates:
    """The items still to be had, with an upper bound of what each adds.

    Gains of a submodular function only fall as the set grows, so a gain computed earlier is an upper bound now
    (Minoux 1978). With lazy=False every gain is computed anew each time. Ties go to the lowest index either way.
    """

    def __init__(self, progress: GrowingSet, size: int, *, lazy: bool) -> None:
        self.progress = progress
        self.upper: Floats = np.full(size, np.inf)
        self.open: Any = np.ones(size, dtype=bool)
        self.evaluations = 0
        self._lazy = lazy
        self._at_once = getattr(progress, "at_once", AT_ONCE)
        self._tighten = getattr(progress, "tighten", None) if lazy else None
        self._fresh: Any = np.zeros(size, dtype=bool)  # the bound is the gain
        self._sharp: Any = np.zeros(size, dtype=bool)  # nearly so

    def best(self, pool: Ints | None = None, costs: Floats | None = None) -> int | None:
        """The open item with the largest gain (per cost, where costs are given), of those in `pool`; None if none."""
        where: Any = slice(None) if pool is None else pool
        if pool is None and (self._all_unknown() or not self._lazy):
            self._start()
        elif not self._lazy:
            self.refresh(where)
        if self._tighten is not None and pool is None and self.progress.chosen:
            self._tighten(self.upper, self.open, costs)
        keys = self._keys(where, costs)
        top = int(keys.argmax()) if len(keys) else 0
        if not len(keys) or keys[top] == -np.inf:
            return None
        fresh = self._fresh[where]
        if not fresh[top]:
            self._settle(where, keys, fresh, costs, top)
            top = int(keys.argmax())
        return top if pool is None else int(pool[top])

    def _settle(self, where: Any, keys: Floats, fresh: Any, costs: Floats | None, top: int) -> None:
        """Compute gains, largest bounds first, until the largest of all is not a bound but a gain."""
        at = np.array([top])
        batch = 1
        floor = keys[fresh].max() if fresh.any() else -np.inf
        waiting: Ints | None = None
        while len(at):
            self.refresh(at if isinstance(where, slice) else where[at])
            keys[at] = self._keys(at if isinstance(where, slice) else where[at], costs)
            floor = max(floor, keys[at].max())
            if waiting is None and int(keys.argmax()) == top:
                return
            if waiting is None:
                fresh = self._fresh[where]
                waiting = np.flatnonzero(~fresh & (keys >= floor) & (keys > -np.inf))
                waiting = waiting[np.argsort(-keys[waiting], kind="stable")]
            else:
                waiting = waiting[len(at) :]
                waiting = waiting[: len(waiting) - np.searchsorted(keys[waiting][::-1], floor)]
            batch = min(2 * batch, self._at_once)
            clear = np.searchsorted(-keys[waiting], -CLEARLY * floor) if batch == self._at_once else 0
            at = waiting[: max(batch, clear)]

    def take(self, item: int) -> float:
        """S = S ∪ {item}; what it added."""
        before = self.progress.value
        self.progress.add(item)
        self.open[item] = False
        self.upper[item] = 0.0
        self._fresh[:] = False
        self._sharp[:] = False
        return self.progress.value - before

    def refresh(self, items: Ints) -> None:
        """Compute the gains of these items now, unless they are known."""
        stale = items[~self._fresh[items]]
        if len(stale):
            self.upper[stale] = self.progress.gains(stale)
            self._fresh[stale] = True
            self.evaluations += len(stale)

    def sharpen(self, items: Ints) -> None:
        """Lower the bounds of these items to their gains, or nearly so where the progress has a quicker way."""
        stale = items[~self._fresh[items] & ~self._sharp[items]]
        quick = getattr(self.progress, "sharpen", None)
        if len(stale) and quick is not None and quick(self.upper, stale):
            self._sharp[stale] = True
        else:
            self.refresh(stale)

    def knows(self, items: Ints) -> bool:
        """Whether the bounds of all these items are their gains, or nearly so."""
        return bool((self._fresh[items] | self._sharp[items]).all())

    def refresh_all(self) -> None:
        """Compute all gains now, unless they are known."""
        if self._fresh.all():
            return
        self.upper[:] = self.progress.gains()
        self._fresh[:] = True
        self.evaluations += len(self.upper) - len(self.progress.chosen)

    def _start(self) -> None:
        """All gains, or, to be lazy, bounds of them where the progress has some."""
        bounds = getattr(self.progress, "bounds", None) if self._lazy else None
        at_most = None if bounds is None else bounds()
        if at_most is None:
            self.refresh_all()
        else:
            self.upper[:] = at_most

    def _all_unknown(self) -> bool:
        return self.upper[0] == np.inf and bool((self.upper == np.inf).all())

    def _keys(self, where: Any, costs: Floats | None) -> Floats:
        upper = self.upper[where] if costs is None else self.upper[where] / costs[where]
        return np.where(self.open[where], upper, -np.inf)


class LeastBound:
    """The least bound found, over the empty set, the prefixes of the ranking and the ranking itself."""

    def __init__(self, limits: Limits, given: tuple[int, ...], size: int) -> None:
        self.bound = math.inf
        self._room = _room(limits, given)
        self._every = size * limits.count <= EVERY
        self._given = len(given)

    def note(self, pool: Candidates) -> None:
        """The set is at a prefix; what is known of gains there is an upper bound of them."""
        picked = len(pool.progress.chosen) - self._given
        if self._every or picked & (picked - 1) == 0:
            self._lower(pool)

    def finish(self, pool: Candidates) -> None:
        """Look at the items that the bound at the whole set rests on, until it rests on gains."""
        pool.sharpen(np.flatnonzero((pool.upper == np.inf) & pool.open))  # a sample may never have looked at some
        for doubled in range(ROUNDS):
            _, items = self._room.more(np.maximum(pool.upper, 0.0))
            if pool.knows(items):
                break
            many = min(len(items) << doubled, len(pool.upper))
            pool.sharpen(items if many == len(items) else np.argpartition(-pool.upper, many - 1)[:many])
        self._lower(pool)

    def _lower(self, pool: Candidates) -> None:
        upper: Floats = np.maximum(pool.upper, 0.0)
        self.bound = min(self.bound, pool.progress.value + self._room.more(upper)[0])


def _room(limits: Limits, given: tuple[int, ...]) -> Limits:
    """What the optimum may add to the items that were there already."""
    taken = list(given)
    if not taken:
        return limits
    most = limits.most
    if most is not None and limits.codes is not None:
        most = np.maximum(most - np.bincount(limits.codes[taken], minlength=len(most)), 0)
    budget = limits.budget if limits.costs is None else limits.budget - limits.costs[taken].sum()
    return Limits(limits.count, limits.costs, budget, limits.codes, most)


def estimate_memory(objective: Objective, k: int) -> int:
    """Bytes that picking k items takes, besides what the objective holds already."""
    own = getattr(objective, "memory", None)
    return objective.size * PER_ITEM + (0 if own is None else int(own(k)))


def check_memory(objective: Objective, k: int) -> None:
    """Refuse a run that cannot fit, and say what a large one takes."""
    needed = estimate_memory(objective, k)
    if needed < NOT_WORTH_ASKING:
        return
    free = free_memory()
    if needed > free:
        raise InvalidProblem(
            f"this would take about {needed / 1e9:.1f} GB and {free / 1e9:.1f} GB are free: use float32, represent= "
            "(facility location), or a smaller k"
        )
    if needed > WORTH_SAYING:
        LOG.info("this takes about %.1f GB of memory", needed / 1e9)


@contextmanager
def bar(total: int) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error that shows how many items are picked."""
    from rich.console import Console  # not before somebody wants to see it
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("picking"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("picking", total=total)
        yield lambda picked, of: progress.update(task, completed=picked, total=of)

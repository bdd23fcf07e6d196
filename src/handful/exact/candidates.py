"""Which item to take next: the one with the largest gain, found without computing gains that cannot matter."""

from __future__ import annotations

from typing import Any

import numpy as np

from handful.problem import Floats, GrowingSet, Ints

AT_ONCE = 4096  # gains asked for together at most
CLEARLY = 1.25  # times the largest gain found: bounds above that will have to be looked at


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

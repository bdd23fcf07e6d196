"""One measurement in a process of its own: `python worker.py CASE LIBRARY`, in an environment that has the library.

It imports nothing of handful but where handful is measured, so that it runs where only a peer is installed. Data are
drawn from a fixed seed, the same for all. Printed as JSON: processor and wall seconds of the first call (compiling
and conversion included), of a later one, and the peak of memory during them.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

_Call = Callable[[], Any]

SIZES = {
    "similarity 2,000": (2_000, 32, 100),
    "similarity 10,000": (10_000, 32, 100),
    "features 10,000": (10_000, 64, 100),
    "feature-based": (20_000, 200, 200),
    "mmr": (10_000, 128, 100),
    "log det": (20_000, 64, 100),
    "million feature-based": (1_000_000, 64, 100),
    "million facility": (1_000_000, 64, 100),
}


def main() -> None:
    """Measure one case by one library, and print the result as JSON."""
    case, library = sys.argv[1:]
    if not case.startswith("million"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows, columns, k = SIZES[case]
    rng = np.random.default_rng(1)
    features = np.abs(rng.normal(size=(rows, columns)).astype(np.float32))
    if not case.startswith("million"):
        features = features.astype(np.float64)
    if case.startswith("similarity"):
        unit = features / np.linalg.norm(features, axis=1, keepdims=True)
        features = unit @ unit.T
    make = globals()[f"_{library}"]
    call: _Call = make(case, features, k)
    before = _memory_now()
    first, picks = _timed(call)
    warm = first if case.startswith("million") else _warm(call)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"first": first, "warm": warm, "peak": peak, "before": before, "picks": picks}))


def _warm(call: _Call) -> dict[str, float]:
    """The quickest of up to five calls after the second, or of as many as begin within ten seconds.

    The second is left out, for all: handful compiles there.
    """
    _timed(call)
    began = time.perf_counter()
    found = [_timed(call)[0]]
    while len(found) < 5 and time.perf_counter() - began < 10.0:
        found.append(_timed(call)[0])
    return min(found, key=lambda seconds: seconds["processor"])


def _timed(call: _Call) -> tuple[dict[str, float], list[int]]:
    wall, processor = time.perf_counter(), time.process_time()
    picks = [int(i) for i in call()]
    return {"processor": time.process_time() - processor, "wall": time.perf_counter() - wall}, picks


def _memory_now() -> float:
    """The memory in use by this process, in megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _handful(case: str, x: Any, k: int) -> _Call:
    import handful
    from handful.kernel_cache import KernelCache
    from handful.objectives import FacilityLocation, FeatureBased, LogDet, MarginalRelevance

    KernelCache.load_overload = lambda *given: None  # type: ignore[method-assign]  # as where handful has never run
    if case.startswith("similarity"):
        return lambda: handful.maximize(FacilityLocation(x), k).indices
    if case == "features 10,000":
        return lambda: handful.maximize(FacilityLocation.from_features(x), k).indices
    if case.endswith("feature-based"):
        return lambda: handful.maximize(FeatureBased(x), k).indices
    if case == "mmr":
        return lambda: handful.maximize(MarginalRelevance(x, x[:, 0]), k).indices
    if case == "log det":
        return lambda: handful.maximize(LogDet.from_features(x), k).indices
    drawn = FacilityLocation.from_features
    return lambda: handful.maximize(drawn(x, represent=20_000), k, method="stochastic").indices


def _apricot(case: str, x: Any, k: int) -> _Call:
    from apricot import FacilityLocationSelection, FeatureBasedSelection

    if case == "feature-based":
        return lambda: FeatureBasedSelection(k, concave_func="sqrt").fit(x).ranking
    metric = "precomputed" if case.startswith("similarity") else "cosine"
    return lambda: FacilityLocationSelection(k, metric=metric).fit(x).ranking


def _submodlib(case: str, x: Any, k: int) -> _Call:
    from submodlib import FacilityLocationFunction, FeatureBasedFunction
    from submodlib_cpp import FeatureBased

    n = len(x)

    def picks(function: Any) -> list[int]:
        how = {"optimizer": "LazyGreedy", "stopIfZeroGain": False, "stopIfNegativeGain": False}
        return [item for item, _ in function.maximize(budget=k, show_progress=False, **how)]

    if case == "feature-based":
        root = FeatureBased.Type.squareRoot
        return lambda: picks(
            FeatureBasedFunction(
                n=n,
                features=x.tolist(),
                numFeatures=x.shape[1],
                sparse=False,
                featureWeights=[1.0] * x.shape[1],
                mode=root,
            )
        )
    if case.startswith("similarity"):
        return lambda: picks(FacilityLocationFunction(n=n, mode="dense", sijs=x, separate_rep=False))
    return lambda: picks(FacilityLocationFunction(n=n, mode="dense", data=x, metric="cosine"))


def _pyversity(case: str, x: Any, k: int) -> _Call:
    from pyversity import diversify

    return lambda: diversify(embeddings=x, scores=x[:, 0], k=k, strategy="mmr", diversity=0.5).indices


def _numpy(case: str, x: Any, k: int) -> _Call:
    """Greedy for log det(I + L) by incremental Cholesky, written down as published (Chen, Zhang, Zhou 2018)."""

    def greedy() -> list[int]:
        unit = x / np.linalg.norm(x, axis=1, keepdims=True)
        factor = np.zeros((k, len(unit)))
        pivots = 2.0 * np.ones(len(unit))
        picks: list[int] = []
        for count in range(k):
            score = np.log(pivots)
            score[picks] = -np.inf
            best = int(np.argmax(score))
            row = unit @ unit[best]
            row[best] += 1.0
            row = (row - factor[:count, best] @ factor[:count]) / np.sqrt(pivots[best])
            factor[count] = row
            pivots = pivots - row**2
            pivots[best] = 1.0
            picks.append(best)
        return picks

    return greedy


if __name__ == "__main__":
    main()

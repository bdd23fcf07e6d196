"""What many processes and a Dask cluster save, by how long a simulation takes, and what many in flight cost.

python -m benchmarks.running [--seconds 0.00001 0.001 0.1] [--wait] [--without-dask] [--albums 20] [--without-costs]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from handful import Question, Study, Values
from handful.explorers.registry import explorer_of
from handful.problem import Problem, Total
from handful.responses import uniform
from handful.simulation import lazy_greedy, simulate
from handful.venice import venice

TURNS = 3
LONG_ENOUGH_S = 2.0


def work(q: Question[int], seconds: float, wait: bool) -> float:
    """Work for so long by the processor's clock, or wait for so long by the wall's."""
    began = time.process_time()
    if wait:
        time.sleep(seconds)
    while not wait and time.process_time() - began < seconds:
        pass
    return q.item + (q.seed % 1000) / 500


def run(oracle: Callable[[Question[int]], float], simulations: int, **where: object) -> float:
    """Seconds from the first question to the last, without starting the workers."""
    study = Study(range(20), 2, feedback=Values(noise=1.0), budget=simulations, in_flight=64)
    first: list[float] = []

    def note(event: object) -> None:
        if not first and type(event).__name__ == "Told":
            first.append(time.perf_counter())

    end = study.subscribe(note)
    study.run(oracle, **where)  # type: ignore[arg-type]
    end()
    return time.perf_counter() - first[0]


def in_flight_costs(albums: int) -> None:
    """Answers (or f) against how many are out at once, in the compiled simulator, and how long that takes to wait for.

    A wait is the time of one answer, where all that are out are answered side by side. Answers and waits are medians:
    where a claim is at the edge of what holds, a proof can take ten times as long as usual.
    """
    worlds = [("N = 60, noise 0.5", 60, 6, 0.5), ("N = 60, noise 1", 60, 6, 1.0), ("N = 500, noise 0.3", 500, 10, 0.3)]
    for name, n, k, noise in worlds:
        objectives = [venice(300 + seed, n=n).objective for seed in range(albums)]
        best = [lazy_greedy(objective, k).value for objective in objectives]
        budget = Total(3 * n * k)
        for in_flight in (1, 16, 64, 256):
            proved, spent = [], []
            for seed, objective in enumerate(objectives):
                epsilon = 0.1 if n == 60 else 0.05 * best[seed]
                known = Values(noise=noise)
                problem = Problem(n, k, known, epsilon=epsilon, in_flight=in_flight, seed=seed)
                proved.append(simulate(explorer_of("certified").build(problem), objective, uniform(noise), k))
                problem = Problem(n, k, known, budget=budget, in_flight=in_flight, seed=seed)
                state = explorer_of("worth").build(problem)
                spent.append(simulate(state, objective, uniform(noise), k, budget=budget))
            answers, waits = (np.median([getattr(r, what) for r in proved]) for what in ("answers", "waits"))
            good = (np.mean([r.value / f for r, f in zip(of, best, strict=True)]) for of in (proved, spent))
            print(
                f"{name}, {in_flight} in flight | certified: {answers:,.0f} answers, {waits:,.0f} waits, "
                f"f/greedy {next(good):.3f} | worth: f/greedy {next(good):.3f}, "
                f"{np.mean([r.waits for r in spent]):,.0f} waits",
                flush=True,
            )


def compare(seconds: float, wait: bool, *, with_dask: bool) -> None:
    """Print what a simulation costs in one process, in two and on a cluster of two: the best of some turns."""
    simulations = round(min(6_000, max(120, LONG_ENOUGH_S / seconds)))
    oracle = partial(work, seconds=seconds, wait=wait)
    times: dict[str, list[float]] = {"one process": [], "two processes": [], "Dask, two workers": []}
    for _ in range(TURNS):
        times["one process"].append(run(oracle, simulations, n_jobs=1))
        times["two processes"].append(run(oracle, simulations, n_jobs=2))
        if with_dask:
            import distributed

            with distributed.LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=2, threads_per_worker=1, dashboard_address=None
            ) as cluster:
                times["Dask, two workers"].append(run(oracle, simulations, dask=cluster))
    for name, taken in times.items():
        if taken:
            each, faster = min(taken) / simulations, min(times["one process"]) / min(taken)
            print(
                f"simulations of {1e3 * seconds:g} ms | {name}: {1e3 * each:.3f} ms for each of {simulations:,}, "
                f"{faster:.2f}× one process",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, nargs="+", default=[1e-5, 1e-3, 0.1], help="what a simulation takes")
    parser.add_argument("--albums", type=int, default=20, help="of each kind for what many in flight cost")
    parser.add_argument("--without-dask", action="store_true")
    parser.add_argument("--without-costs", action="store_true", help="leave out what many in flight cost")
    parser.add_argument("--wait", action="store_true", help="simulations sleep instead of computing")
    options = parser.parse_args()
    if not options.without_costs:
        in_flight_costs(options.albums)
    for seconds in options.seconds:
        compare(seconds, options.wait, with_dask=not options.without_dask)


if __name__ == "__main__":
    main()

"""Small studies of every explorer, for golden journals: each ends by itself, with few answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handful import Preferences, Sharp, Study, TopX, Values
from handful.objectives import Coverage, Modular
from handful.oracles import chooses, compares, noisy
from handful.responses import Response, btl, uniform
from tests.study.worlds import Clock, coverage


def values(
    world: Coverage | Modular, response: Response, k: int, *, then: Callable[[Study], None] | None = None, **how: Any
) -> Study:
    """A study that asks for numbers, run to its end; `then` acts on it after the first round."""
    study = Study([f"node {i}" for i in range(world.size)], k, clock=Clock(), **how)
    return _run(study, noisy(world, response, study.items), then)


def comparisons(size: int, k: int, *, then: Callable[[Study], None] | None = None, **how: Any) -> Study:
    """A study that asks for comparisons, run to its end."""
    how = {"feedback": Preferences()} | how
    study = Study([f"photo {i}.jpg" for i in range(size)], k, clock=Clock(), **how)
    return _run(study, compares(coverage(size), btl(4.0), study.items), then)


def choices(size: int, k: int, options: int, *, then: Callable[[Study], None] | None = None, **how: Any) -> Study:
    """A study that asks for choices among several, run to its end."""
    study = Study(
        [f"photo {i}.jpg" for i in range(size)], k, feedback=Preferences(options=options), clock=Clock(), **how
    )
    return _run(study, chooses(coverage(size), btl(4.0), study.items), then)


def _run(study: Study, oracle: Any, then: Callable[[Study], None] | None) -> Study:
    if then is not None:
        while len(study.result().chosen) < 1:
            for q in study.ask():
                study.tell(q.id, oracle(q))
        then(study)
    study.run(oracle)
    return study


def withdraw_one(study: Study) -> None:
    """Withdraw the first item that is not chosen."""
    chosen = study.result().chosen
    study.withdraw(next(item for item in study.items if item not in chosen), "copyright")


NARROW = {"feedback": Values(noise=0.1), "epsilon": 1.0, "delta": 0.1}
NOISY = {"feedback": Values(noise=0.3), "epsilon": 0.5, "delta": 0.1}
EXPLORERS: dict[str, Callable[[], Study]] = {
    "audit": lambda: values(Modular([0.2, 0.4, 1.0, 0.9, 0.1, 1.2]), uniform(0.3), 3, seed=1, **NOISY),
    "audit-range": lambda: values(coverage(6), uniform(0.1), 2, feedback=Values(range=(-0.2, 4.0)), ratio=0.4, seed=2),
    "audit-anew": lambda: values(
        Coverage([1.0], [[1.0]] * 6), uniform(0.1), 3, feedback=Values(noise=0.1), ratio=0.8, seed=2
    ),  # out of reach from ∅, and shown given the first pick
    "audit-withdrawn": lambda: values(coverage(8), uniform(0.1), 3, seed=4, then=withdraw_one, **NARROW),
    "sharp": lambda: values(coverage(6), uniform(0.1), 2, seed=9, explorer=Sharp(), **NARROW),
    "topx-small": lambda: values(
        coverage(6), uniform(0.1), 2, seed=10, explorer=TopX(variant="O"), **NARROW | {"epsilon": 3.0}
    ),
    "uniform": lambda: values(
        coverage(6), uniform(0.1), 2, feedback=Values(noise=0.1), budget=60, seed=11, explorer="uniform"
    ),
    "worth": lambda: values(coverage(10), uniform(0.5), 3, feedback=Values(), budget=120, seed=12),
    "worth-withdrawn": lambda: values(
        coverage(10), uniform(0.5), 3, feedback=Values(noise=0.5), budget=120, in_flight=4, seed=13, then=withdraw_one
    ),
    "topx-compared": lambda: comparisons(6, 2, budget=80, seed=14, explorer="topx"),
    "uniform-compared": lambda: comparisons(6, 2, budget=80, seed=15, explorer="uniform"),
    "sharp-compared": lambda: comparisons(6, 2, budget=120, seed=16, explorer="sharp"),
    "duels": lambda: comparisons(10, 3, budget=150, in_flight=3, seed=17),
    "duels-withdrawn": lambda: comparisons(10, 3, budget=90, seed=18, chosen=["photo 4.jpg"], then=withdraw_one),
    "choices": lambda: choices(8, 6, 4, budget=60, in_flight=3, seed=22, prior=[8, 7, 6, 5, 4, 3, 2, 1]),
    "choices-withdrawn": lambda: choices(9, 3, 4, budget=45, seed=23, chosen=["photo 4.jpg"], then=withdraw_one),
    "pivot": lambda: comparisons(6, 2, feedback=Preferences(beta=4.0), epsilon=1.5, seed=19),
}

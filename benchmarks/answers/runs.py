"""What is run and how much of it, on which functions, and one simulated run."""

from __future__ import annotations

import logging
import math
import multiprocessing
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from benchmarks.answers.clairvoyant import clairvoyant
from benchmarks.answers.statements import JudgedStatement, statements_of
from handful.compilation import tasks
from handful.explorers.registry import EXPLORERS, Duels, Explorer
from handful.kernels import COMPILING
from handful.numbers import whole
from handful.objectives import Coverage, Modular, SampleAverage
from handful.problem import Feedback, PerItem, Problem, Total, Values
from handful.responses import Response
from handful.simulation import lazy_greedy, simulate
from handful.venice import venice


@dataclass(frozen=True)
class BenchPlan:
    """Instances and repetitions of each section."""

    instances: int
    proofs: int  # runs per instance for the guarantee
    repeats: int  # runs per instance under a budget, for values
    duels: int  # and for comparisons
    many: int  # instances of many items
    half_widths: tuple[float, ...]  # of values under a budget
    links: tuple[str, ...]
    sizes: tuple[int, ...]
    people: int  # runs per instance with one consistent person
    spending: int = 1  # runs per function and cell of many items under a budget
    first_seed: int = 0

    def instance_seeds(self, count: int | None = None) -> range:
        """The seeds of the collections that are drawn."""
        return range(self.first_seed, self.first_seed + (self.instances if count is None else count))


QUICK = BenchPlan(10, 1, 2, 2, 1, (1.0,), ("btl",), (60,), 4)
FULL = BenchPlan(20, 2, 6, 10, 10, (1.0, 3.0, 10.0), ("btl", "careless", "linear", "saturating"), (60, 300), 10, 5)


PEOPLE = 25
SHAPE = 0.3  # of the gamma distribution of how much a topic matters to a person: few matter much, most hardly


def people_with_tastes(album: Coverage, people: int = PEOPLE, seed: int = 0) -> SampleAverage:
    """A part per person: the album's topics with weights of that person's own, which add up to the album's."""
    whole("people", people, 1)
    rng = np.random.Generator(np.random.Philox(key=whole("seed", seed, 0)))
    parts = []
    for _ in range(people):
        weights = album.weights * rng.gamma(SHAPE, 1.0 / SHAPE, len(album.weights))
        parts.append(Coverage(weights * album.weights.sum() / weights.sum(), album.matrix))
    return SampleAverage(parts)


DELTA = 0.05
Prior = Literal["none", "right", "opposite", "random"]
World = Literal["album", "modular", "diverse", "clear"]


@dataclass(frozen=True)
class Run:
    """What is run. `series` names the line of the table or the curve it belongs to."""

    series: str
    explorer: Explorer
    feedback: Feedback
    response: Response
    instance: int
    seed: int
    size: int = 60
    k: int = 6
    epsilon: float | None = None
    epsilon_share: float | None = None  # ε as a share of f(greedy) instead
    budget: PerItem | Total | None = None
    in_flight: int = 1
    prior: Prior = "none"
    people: int = 0  # who each want their own topics; 0: everybody wants the same
    world: World = "album"
    judged: bool = False  # whether what is said of the picks is looked at


@dataclass(frozen=True)
class RunOutcome:
    """How it went: `quality` is f over exact greedy's; `shown` whether every round ended by its rule; `fewest` how many
    answers would prove the claim about the same picks to somebody who knows f (nan where nothing is to be proved);
    `proof` how many were asked once the last item was picked; `fewest_from_first` is as `fewest`, for somebody who
    proves it from ∅; `said` what is said of the picks, where that is judged.
    """

    run: Run
    answers: int
    quality: float
    shown: bool
    fewest: float = math.nan
    proof: int = 0
    fewest_from_first: float = math.nan
    said: tuple[JudgedStatement, ...] = ()


@lru_cache(maxsize=64)
def instance(
    seed: int, size: int, k: int, people: int = 0, world: World = "album"
) -> tuple[Coverage | SampleAverage | Modular, float]:
    """A function, and f of exact greedy.

    "album" is the coverage function of a synthetic album, or the mean of so many people's; "diverse" the same with
    gains of 1 at most; "modular" has gains drawn from a beta distribution, of which few are large; "clear" has k items
    that stand out, each by 0.2 before the next, and others with gains of 0.4 at most.
    """
    objective: Coverage | SampleAverage | Modular
    if world == "modular":
        objective = Modular(np.random.Generator(np.random.Philox(key=seed)).beta(2.0, 5.0, size))
    elif world == "clear":
        rng = np.random.Generator(np.random.Philox(key=seed))
        gains = np.concatenate([0.4 + 0.2 * np.arange(1, k + 1), 0.4 * rng.random(size - k)])
        objective = Modular(rng.permutation(gains))
    else:
        album = venice(seed, n=size).objective
        objective = people_with_tastes(album, people, seed) if people else album
        if world == "diverse":
            objective = Coverage(album.weights / album.start().gains().max(), album.matrix)
    return objective, lazy_greedy(objective, k).value


def perform(run: Run) -> RunOutcome:
    """Simulate one run."""
    objective, best = instance(run.instance, run.size, run.k, run.people, run.world)
    epsilon = run.epsilon if run.epsilon_share is None else run.epsilon_share * best
    seed = 1_000_003 * run.instance + run.seed
    problem = Problem(
        run.size,
        run.k,
        run.feedback,
        epsilon=epsilon,
        delta=DELTA,
        budget=run.budget,
        in_flight=run.in_flight,
        prior=scores(objective, run.prior, seed),
        seed=seed,
    )
    result = simulate(run.explorer.build(problem), objective, run.response, run.k, budget=problem.total)
    said: tuple[JudgedStatement, ...] = ()
    if run.judged:
        assert isinstance(run.explorer, Duels)
        said = tuple(statements_of(run.explorer, problem, objective, run.response))
    shown = all(r.ended in ("rule", "alone") for r in result.rounds)
    fewest = fewest_from_first = math.nan
    if epsilon is not None and isinstance(run.feedback, Values):  # whose R is the half-width of a uniform answer
        of = (objective, result.chosen, run.response.scale, epsilon, DELTA)
        fewest, fewest_from_first = clairvoyant(*of), clairvoyant(*of, anchors=1)
    proof = result.answers - sum(int(r.per_item.sum()) for r in result.rounds)
    return RunOutcome(run, result.answers, result.value / best, shown, fewest, proof, fewest_from_first, said)


def scores(objective: Coverage | SampleAverage | Modular, prior: Prior, seed: int) -> tuple[float, ...] | None:
    """The gains of the first round, their opposite, or chance."""
    gains = objective.start().gains()
    match prior:
        case "none":
            return None
        case "right":
            return tuple(gains.tolist())
        case "opposite":
            return tuple((-gains).tolist())
        case "random":
            return tuple(np.random.Generator(np.random.Philox(key=seed)).random(len(gains)).tolist())


def perform_all(runs: Iterable[Run], processes: int, advance: Callable[[int], object]) -> list[RunOutcome]:
    """The outcomes of all runs, in the order given; `advance(n)` is called as n more are done."""
    todo = list(runs)
    outcomes: list[RunOutcome | None] = [None] * len(todo)
    # Long and short runs are mixed, so that all processes end at about the same time and the bar moves evenly.
    order = np.random.Generator(np.random.Philox(key=0)).permutation(len(todo))
    parts = [order[start : start + 8] for start in range(0, len(order), 8)]
    if processes == 1:
        for part in parts:
            for at in part:
                outcomes[at] = perform(todo[at])
            advance(len(part))
    else:
        # Compiled and said once, here: else each process would do both.
        for _, compile_one in tasks(sorted({run.explorer.name for run in todo} & set(EXPLORERS))):
            compile_one()
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(processes, mp_context=context, initializer=_say_nothing_of_compiling) as pool:
            done = pool.map(perform_some, ([todo[at] for at in part] for part in parts))
            for part, results in zip(parts, done, strict=True):
                for at, outcome in zip(part, results, strict=True):
                    outcomes[at] = outcome
                advance(len(part))
    return [outcome for outcome in outcomes if outcome is not None]


def _say_nothing_of_compiling() -> None:
    logging.getLogger(COMPILING).setLevel(logging.ERROR)


def perform_some(runs: list[Run]) -> list[RunOutcome]:
    """Perform several runs in this process."""
    return [perform(run) for run in runs]

"""What a number of answers buys: how good a selection a crowd of so many people is likely to end with, by simulation.

As in `pricing`, collections like the paper's stand in for the user's own, which nobody knows before asking. People
answer at the same time, so each question is chosen without the answers that are still out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from handful.explorers.registry import explorer_of
from handful.lab.pricing import world_like
from handful.numbers import percent_at_least, percent_at_most
from handful.problem import Objective, Preferences, Problem, Total
from handful.responses import btl
from handful.simulation import lazy_greedy, simulate
from handful.wording import counted

AIM = 0.95  # of exact greedy: less is said to be little
BETA = 2.0
MOST_RUNS, FEWEST_RUNS, AFFORDED = 32, 4, 120_000  # simulated studies, and how many answers they may have in all
RANDOM_DRAWS = 32  # selections at random, of each collection
STEP, MOST_STEPS = 2, 3  # how budgets grow until the aim is reached, and how often


@dataclass(frozen=True)
class Bought:
    """The mean quality that `answers` buy, as a share of exact greedy, and what 80% of the simulated studies lie
    between.

    `enough` is how many answers reach the `AIM`; None if that is far more, `answers` or fewer if these do. `at_random`
    is the mean quality of selections that nobody was asked about; None if that is not known.
    """

    items: int
    k: int
    answers: int
    quality: float
    low: float
    high: float
    enough: int | None
    runs: int
    at_random: float | None = None

    @property
    def suffices(self) -> bool:
        """Whether the answers reach the aim."""
        return self.enough is not None and self.enough <= self.answers

    def words(self, people: int | None = None, each: float | None = None) -> str:
        """What it buys, in whole sentences; with `people`, how many more of them would be enough.

        They give as many answers `each`; None: what is bought, in equal parts.
        """
        chance = "" if self.at_random is None else f"; at random it would be {percent_at_most(self.at_random)}"
        said = (
            f"In simulation, {counted(self.answers, 'answer')} choose{'s' if self.answers == 1 else ''} {self.k} of "
            f"{self.items:,} about {percent_at_least(self.quality)} as well as if everybody's taste were known{chance} "
            f"(80% of {self.runs} studies: {percent_at_least(self.low)} to {math.ceil(100 * self.high)}%; drawn "
            f"collections of this size, people who often err: β = {BETA:g})."
        )
        return said if self.suffices else f"{said} {self._advice(people, each)}"

    def _advice(self, people: int | None, each: float | None) -> str:
        aim = percent_at_least(AIM)
        far = self.enough is None
        enough = self.answers * STEP**MOST_STEPS if self.enough is None else self.enough
        said = f"{aim} takes {'more than' if far else 'about'} {counted(enough, 'answer')}"
        if people is not None:
            more = max(math.ceil(enough / (each or self.answers / people)) - people, 1)
            said += f": {'more than ' if far else ''}{more:,} more {'people' if more != 1 else 'person'}"
        return f"{said}. Or choose from fewer items, or choose fewer." if far else f"{said}."


@lru_cache(maxsize=64)
def bought(items: int, k: int, answers: int, options: int = 2, explorer: str = "duels", at_once: int = 1) -> Bought:
    """What so many answers buy, where `at_once` people answer at the same time."""
    worlds = [world_like(items, seed, 1.0) for seed in range(FEWEST_RUNS)]
    best = [lazy_greedy(world, k).value for world in worlds]
    settings = explorer_of(explorer)

    def shares(budget: int) -> list[float]:
        out = max(1, min(at_once, budget))
        made = []
        for run in range(min(max(AFFORDED // budget, FEWEST_RUNS), MOST_RUNS)):
            problem = Problem(items, k, Preferences(options=options), budget=budget, in_flight=out, seed=run)
            world = run % len(worlds)
            state = settings.build(problem)
            made.append(simulate(state, worlds[world], btl(BETA), k, budget=Total(budget)).value / best[world])
        return made

    found = shares(answers)
    low, high = np.quantile(found, (0.1, 0.9))
    quality = float(np.mean(found))
    enough = answers if quality >= AIM else _enough(lambda budget: float(np.mean(shares(budget))), answers, quality)
    chance = _at_random(worlds, best, k)
    return Bought(items, k, answers, quality, float(low), float(high), enough, len(found), chance)


def _at_random(worlds: Sequence[Objective], best: Sequence[float], k: int) -> float:
    """The mean share of exact greedy that k items reach which are drawn at random."""
    draw, shares = np.random.default_rng(0), []
    for world, most in zip(worlds, best, strict=True):
        for _ in range(RANDOM_DRAWS):
            drawn = world.start()
            for item in draw.choice(world.size, k, replace=False):
                drawn.add(int(item))
            shares.append(drawn.value / most)
    return float(np.mean(shares))


def _enough(quality_of: Callable[[int], float], answers: int, quality: float) -> int | None:
    """Where the mean quality first crosses the aim, interpolated in the logarithm of the budget; None if far off."""
    before, was = answers, quality
    for _ in range(MOST_STEPS):
        budget = STEP * before
        now = quality_of(budget)
        if now >= AIM:
            return math.ceil(before * math.pow(STEP, (AIM - was) / (now - was)))
        before, was = budget, max(was, now)
    return None

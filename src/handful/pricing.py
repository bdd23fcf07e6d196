"""The price before you start: how many answers a guarantee or a quality is likely to cost, and what so many buy.

Nobody knows the user's f before asking, so the simulation stands in for it with collections like the paper's
(`handful.venice`) of the same size, scaled so that the best single item gains `best_gain`. Real costs depend on how
close the contenders are; hence the range. What answers of a crowd buy is simulated with people who answer at the same
time, so each question is chosen without the answers that are still out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from handful import notebook, responses
from handful.errors import InvalidProblem
from handful.explorers.registry import Explorer, default_explorer, explorer_of, spelled
from handful.numbers import is_finite, percent_at_least, percent_at_most, whole
from handful.objectives import Coverage
from handful.problem import Feedback, Floats, Objective, Preferences, Problem, Total, Values
from handful.responses import btl
from handful.simulation import lazy_greedy, simulate
from handful.venice import venice
from handful.wording import counted

CAP = 2_000_000  # answers of one simulated run; more is reported as "at least"
FEWEST, STEP = 0.25, 1.6  # the budgets tried for a quality: answers per item and round, and their ratio

# What a number of answers buys.
AIM = 0.95  # of exact greedy: less is said to be little
BETA = 2.0
MOST_RUNS, FEWEST_RUNS, AFFORDED = 32, 4, 120_000  # simulated studies, and how many answers they may have in all
RANDOM_DRAWS = 32  # selections at random, of each collection
BUDGET_STEP, MOST_STEPS = 2, 3  # how budgets grow until the aim is reached, and how often


@dataclass(frozen=True)
class Price:
    """Answers: the middle of the simulated runs, and what 80% of them lie between."""

    answers: int
    low: int
    high: int
    quality: float  # mean f over exact greedy
    explorer: str
    aim: str
    runs: int
    capped: int  # runs that were stopped at the cap
    missed: int = 0  # runs that found it out of reach
    assumed: str = ""

    def __str__(self) -> str:
        least = "at least " if self.capped else "about "
        return (
            f"{least}{counted(self.answers, 'answer')} for {self.aim} with {self.explorer} "
            f"(80% of {counted(self.runs, 'simulated run')}: {self.low:,} to {self.high:,}; "
            f"mean quality {100 * self.quality:.1f}% of exact greedy)"
            + (f"; {self.capped} of {self.runs} runs were stopped at {CAP:,}" if self.capped else "")
            + (f"; out of reach in {self.missed} of {self.runs} runs" if self.missed else "")
            + (f", if {self.assumed}" if self.assumed else "")
        )

    def _repr_html_(self) -> str:
        return notebook.card(
            f"{'At least' if self.capped else 'About'} {counted(self.answers, 'answer')} for {self.aim}",
            notebook.facts(
                (
                    ("explorer", self.explorer),
                    (f"80% of {self.runs} simulated runs", f"{self.low:,} to {self.high:,} answers"),
                    ("mean quality", f"{100 * self.quality:.1f}% of exact greedy"),
                    (f"stopped at {CAP:,} answers", f"{self.capped} of {self.runs} runs" if self.capped else None),
                    ("out of reach", f"{self.missed} of {self.runs} runs" if self.missed else None),
                )
            ),
            notebook.paragraph(f"This assumes that {self.assumed}." if self.assumed else ""),
        )

    def to_dict(self) -> dict[str, object]:
        """The price as plain JSON."""
        return dict(vars(self))


def price(
    n: int,
    k: int,
    *,
    feedback: Feedback,
    epsilon: float | None = None,
    ratio: float | None = None,
    quality: float | None = None,
    delta: float = 0.05,
    beta: float = 2.0,
    best_gain: float = 1.0,
    explorer: str | Explorer | None = None,
    in_flight: int = 1,
    runs: int = 60,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Price:
    """What a guarantee (`epsilon` or `ratio`) or a quality (`quality`, as a share of exact greedy) is likely to cost.

    `best_gain` is what the best single item is worth, in the units of the answers: noise and ε are judged against
    it. `beta` is how sharp comparisons are, for one unit of f, when `feedback` does not say.
    """
    n, runs, seed = whole("n", n, 1), whole("runs", runs, 1), whole("seed", seed, 0)
    if not isinstance(feedback, (Values, Preferences)):
        raise InvalidProblem(f"feedback must be Values(...) or Preferences(...), got {feedback!r}")
    aims = sum(aim is not None for aim in (epsilon, ratio, quality))
    if aims == 0:
        raise InvalidProblem("say what to pay for: epsilon= or ratio= for a guarantee, or quality= (say 0.95)")
    if aims > 1:
        raise InvalidProblem("a price is for one aim: give epsilon=, ratio= or quality=, not several of them")
    if not (is_finite(best_gain) and best_gain > 0):
        raise InvalidProblem(f"best_gain is what the best item is worth in the units of the answers, got {best_gain!r}")
    if quality is not None and not 0 < quality <= 1:
        raise InvalidProblem(f"quality is a share of exact greedy, such as 0.95, got {quality!r}")
    worlds = [world_like(n, seed + r, best_gain) for r in range(min(runs, 10))]
    response = _response(feedback, beta, best_gain)

    def problem(run: int, budget: int | None) -> Problem:
        return Problem(n, k, feedback, epsilon, delta, budget, ratio, in_flight, seed=seed + run)

    if explorer is None:
        explorer = default_explorer(problem(0, None if quality is None else n))
    settings = explorer_of(explorer)
    settings.build(problem(0, None if quality is None else n))  # or refused, before it is said that it is simulated
    if progress:
        progress(0, runs if quality is None else 1)
    if quality is None:
        price = _of_guarantee(settings, problem, worlds, response, k, runs, progress)
    else:
        price = _of_quality(settings, problem, worlds, response, k, runs, quality, progress)
    return replace(price, assumed=_assumed(feedback, beta, best_gain))


def _assumed(feedback: Feedback, beta: float, best_gain: float) -> str:
    """What the price depends on most, in words."""
    best = f"the best single item is worth {best_gain:g}"
    if not isinstance(feedback, Values):
        what = "comparisons are" if feedback.options == 2 else f"choices among {feedback.options} are"
        return f"{best} and {what} as sharp as β = {feedback.beta or beta:g} for one unit of it"
    if feedback.range is not None:
        low, high = feedback.range
        noisiest = f"answers are as noisy as they may be (each {low:g} or {high:g}; fewer are needed if they vary less)"
        return f"{best} and {noisiest}"
    return f"{best} and answers are as noisy as they may be (a standard deviation of {feedback.noise:g})"


def _of_guarantee(
    settings: Explorer,
    problem: Callable[[int, int | None], Problem],
    worlds: list[Objective],
    response: responses.Response,
    k: int,
    runs: int,
    progress: Callable[[int, int], None] | None,
) -> Price:
    answers, shares, capped, missed = [], [], 0, 0
    best = [lazy_greedy(world, k).value for world in worlds]
    for run in range(runs):
        world = run % len(worlds)
        made = simulate(settings.build(problem(run, None)), worlds[world], response, k, cap=CAP)
        answers.append(made.answers)
        shares.append(made.value / best[world])
        capped += made.capped
        missed += made.rounds[-1].ended == "out of reach"
        if progress:
            progress(run + 1, runs)
    low, middle, high = np.quantile(answers, (0.1, 0.5, 0.9))
    ratio = problem(0, None).ratio
    aim = "the guarantee" if ratio is None else f"{100 * ratio:g}% of the optimum"
    return Price(
        round(middle), round(low), round(high), float(np.mean(shares)), spelled(settings), aim, runs, capped, missed
    )


def _of_quality(
    settings: Explorer,
    problem: Callable[[int, int | None], Problem],
    worlds: list[Objective],
    response: responses.Response,
    k: int,
    runs: int,
    quality: float,
    progress: Callable[[int, int], None] | None,
) -> Price:
    """Budgets grow until the mean is there; the range is of resampled sets of runs."""
    best = [lazy_greedy(world, k).value for world in worlds]
    budgets: list[int] = []
    reached: list[list[float]] = []
    per_item = FEWEST
    while not reached or np.mean(reached[-1]) < quality or len(reached) < 2:
        budget = round(per_item * worlds[0].size * k)
        if budget > CAP:
            raise InvalidProblem(f"a quality of {quality:g} would cost more than {CAP:,} answers: lower it")
        shares = [
            simulate(
                settings.build(problem(run, budget)), worlds[run % len(worlds)], response, k, budget=Total(budget)
            ).value
            / best[run % len(worlds)]
            for run in range(runs)
        ]
        budgets.append(budget)
        reached.append(shares)
        per_item *= STEP
        if progress:
            progress(len(budgets), len(budgets) + 1)
    table = np.array(reached)
    rng = np.random.Generator(np.random.Philox(0))
    costs = [_crossing(budgets, table[:, rng.integers(0, runs, runs)].mean(1), quality) for _ in range(200)]
    low, high = np.quantile(costs, (0.1, 0.9))
    middle = _crossing(budgets, table.mean(1), quality)
    aim = f"{100 * quality:g}% of exact greedy"
    return Price(round(middle), round(low), round(high), quality, spelled(settings), aim, runs, 0)


def _crossing(budgets: list[int], means: Floats, quality: float) -> float:
    """Where the mean quality first crosses, interpolated in the logarithm of the budget."""
    for b in range(len(budgets)):
        if means[b] >= quality:
            if b == 0:
                return float(budgets[0])
            share = (quality - means[b - 1]) / (means[b] - means[b - 1])
            return float(np.exp(np.log(budgets[b - 1]) + share * np.log(budgets[b] / budgets[b - 1])))
    return float(budgets[-1])


def world_like(n: int, seed: int, best_gain: float) -> Objective:
    """A collection like the paper's whose best single item gains `best_gain`."""
    coverage = venice(seed, n=n).objective
    return Coverage(coverage.weights * best_gain / float(coverage.start().gains().max()), coverage.matrix)


def _response(feedback: Feedback, beta: float, best_gain: float) -> responses.Response:
    """Answers as noisy as the feedback allows: a user who says R is taken at their word."""
    if not isinstance(feedback, Values):
        return responses.btl(feedback.beta or beta)
    if feedback.range is not None:
        low, high = feedback.range
        if not low <= 0.0 < best_gain <= high:
            raise InvalidProblem(
                f"answers from {low:g} to {high:g} cannot have a mean of 0 for an item that adds nothing and of "
                f"{best_gain:g} for the best one: give another range, or the right best_gain="
            )
        return responses.bernoulli(low, high)
    if feedback.noise is None:
        raise InvalidProblem("the price depends on the noise: give Values(noise=R) or Values(range=(lo, hi))")
    return responses.gaussian(feedback.noise)


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
        enough = self.answers * BUDGET_STEP**MOST_STEPS if self.enough is None else self.enough
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
        budget = BUDGET_STEP * before
        now = quality_of(budget)
        if now >= AIM:
            return math.ceil(before * math.pow(BUDGET_STEP, (AIM - was) / (now - was)))
        before, was = budget, max(was, now)
    return None

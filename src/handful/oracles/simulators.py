"""Oracles that need no people: your own simulator, a known objective with noise, a portfolio, and sample average."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from handful.draws import PERSON, below
from handful.errors import InvalidProblem
from handful.numbers import at_least, at_most, confidence, is_finite, whole
from handful.objectives import SampleAverage
from handful.problem import Floats, Objective
from handful.responses import Response, choose, respond
from handful.simulation import lazy_greedy, parts_of

SimulatesGain = Callable[[tuple[Any, ...], Any, int], float]
SimulatesSet = Callable[[tuple[Any, ...], int], float]
KnownFunction = Callable[[tuple[Any, ...]], float]
REMEMBERED = 64  # sets whose gains are remembered
KEPT = 4096  # values of what is chosen that are remembered
STORED = (
    "one call about one item in one scenario says something of every set: handful.oracles.sample_average("
    "portfolio.value, items, k, most=...) calls all items on some scenarios and uses every call for every set; where "
    "it wins, and where a Study does, is measured on the page 'When not to ask one gain at a time'"
)


class SimulatedGain:
    """Answers with `simulate(chosen, item, seed)`: the gain itself."""

    def __init__(self, simulate: SimulatesGain) -> None:
        self._simulate = _function("simulate(chosen, item, seed)", simulate)

    def __call__(self, question: Asks) -> float:
        answer: float = self._simulate(question.chosen, question.item, question.seed)
        return answer


class SimulatedSet:
    """Answers with `simulate(chosen + (item,), seed) − simulate(chosen, seed)`, both with the same seed.

    What is chosen is simulated once for each seed: with `Study(..., scenarios="paired")` most questions of a round
    then cost one simulation, not two.
    """

    def __init__(self, simulate: SimulatesSet) -> None:
        self._simulate = _function("simulate(set, seed)", simulate)
        self._known = _Kept()

    def __call__(self, question: Asks) -> float:
        chosen, seed = question.chosen, question.seed
        before = self._known.get((chosen, seed), lambda: self._simulate(chosen, seed))
        after: float = self._simulate((*chosen, question.item), seed)
        return after - before


class NoisyFunction:
    """Answers with the gain of a known function of a set, `f(items)`, and noise: made by `noisy_function`."""

    def __init__(self, f: KnownFunction, response: Response) -> None:
        self._f = f
        self._response = response
        self._known = _Kept()

    def __call__(self, question: Asks) -> float:
        chosen = question.chosen
        before = self._known.get(chosen, lambda: self._f(chosen))
        gain = self._known.get((*chosen, question.item), lambda: self._f((*chosen, question.item))) - before
        return float(respond(self._response, gain, 0.0, question.seed))


def noisy_function(f: KnownFunction, response: Response) -> NoisyFunction:
    """An oracle of values from any function of a tuple of items: `noisy_function(f, gaussian(0.5))`."""
    if response.compares:
        raise InvalidProblem("this response model answers comparisons: give uniform, gaussian or bernoulli")
    return NoisyFunction(_function("f(items)", f), response)


class _Kept:
    """The last values computed; a race between threads only computes one twice. They do not travel."""

    def __init__(self) -> None:
        self._values: OrderedDict[Hashable, float] = OrderedDict()

    def get(self, key: Hashable, compute: Callable[[], float]) -> float:
        found = self._values.get(key)
        if found is None:
            found = float(compute())
            self._values[key] = found
            while len(self._values) > KEPT:
                try:
                    self._values.popitem(last=False)
                except KeyError:  # another thread was there first
                    break
        return found

    def __reduce__(self) -> tuple[type[_Kept], tuple[()]]:
        return _Kept, ()


def _function(what: str, function: Any) -> Any:
    if not callable(function):
        raise InvalidProblem(f"give a function {what}, got {function!r}")
    return function


class Asks(Protocol):
    """What these oracles need to know of a question."""

    @property
    def item(self) -> Any: ...

    @property
    def rival(self) -> Any: ...

    @property
    def options(self) -> tuple[Any, ...]: ...

    @property
    def chosen(self) -> tuple[Any, ...]: ...

    @property
    def seed(self) -> int: ...


class Simulated:
    """Answers by the gains of `objective` given `chosen`; `items[i]` stands for its item i (default: i itself)."""

    def __init__(self, objective: Objective, response: Response, items: Sequence[Hashable] | None) -> None:
        self._response = response
        names = range(objective.size) if items is None else items
        if len(names) != objective.size:
            raise InvalidProblem(f"{len(names)} items for an objective of {objective.size}: give one per item")
        self._positions = {item: position for position, item in enumerate(names)}
        self._people = parts_of(objective) if response.differs else (objective,)
        self._known: dict[tuple[Any, ...], Floats] = {}

    def respond(self, question: Asks) -> float:
        """One answer as a number."""
        gains = self._gains(question)
        rival = 0.0 if question.rival is None else gains[self._positions[question.rival]]
        return float(respond(self._response, gains[self._positions[question.item]], rival, question.seed))

    def choose(self, question: Asks) -> Any:
        """The option that is named."""
        options = np.array([self._positions[item] for item in question.options])
        named = choose(self._response, self._gains(question), options, question.seed)
        return question.options[int(np.flatnonzero(options == named)[0])]

    def _gains(self, question: Asks) -> Floats:
        """Every gain, for the person who answers the question."""
        gains = self._gains_of_all(question.chosen)
        person: Floats = gains[0 if len(gains) == 1 else below(len(gains), question.seed, 0, PERSON, 0)]
        return person

    def _gains_of_all(self, chosen: tuple[Any, ...]) -> Floats:
        """A row of gains per person, kept for the next question; a race between threads only computes them twice."""
        known = self._known.get(chosen)
        if known is None:
            if len(self._known) == REMEMBERED:
                self._known.clear()
            rows = []
            for person in self._people:
                progress = person.start()
                for item in chosen:
                    progress.add(self._positions[item])
                rows.append(progress.gains())
            known = self._known[chosen] = np.array(rows)
        return known


class Noisy(Simulated):
    """Answers with numbers around the true gain."""

    def __call__(self, question: Asks) -> float:
        return self.respond(question)


class Compares(Simulated):
    """Answers whether the item is the better addition, whichever is named first."""

    impartial = True

    def __call__(self, question: Asks) -> bool:
        return self.respond(question) == 1.0


class Chooses(Simulated):
    """Answers with the option that is the best addition, in whatever order they are shown."""

    impartial = True

    def __call__(self, question: Asks) -> Any:
        return self.choose(question)


def noisy(objective: Objective, response: Response, items: Sequence[Hashable] | None = None) -> Noisy:
    """An oracle of values: `noisy(objective, gaussian(0.5))`. For any function of a set: `noisy_function`."""
    if response.compares:
        raise InvalidProblem("this response model answers comparisons: use handful.oracles.compares")
    return Noisy(objective, response, items)


def compares(objective: Objective, response: Response, items: Sequence[Hashable] | None = None) -> Compares:
    """An oracle of comparisons: `compares(objective, btl(2.0))`."""
    if not response.compares:
        raise InvalidProblem("this response model answers with numbers: use handful.oracles.noisy")
    return Compares(objective, response, items)


def chooses(objective: Objective, response: Response, items: Sequence[Hashable] | None = None) -> Chooses:
    """An oracle of choices among several: `chooses(objective, btl(2.0))`, for Preferences(options=3) or more.

    People who differ are `chooses(mixture, tastes())`: each question is answered by one of the mixture's parts.
    """
    if not response.chooses:
        raise InvalidProblem("this response model does not choose among several: give btl(...) or tastes(...)")
    return Chooses(objective, response, items)


Score = Callable[[Any, int], float]


class Portfolio:
    """f(S) is the mean, over scenarios, of the best `score(item, seed)` in S: from 0 up, the same for the same seed.

    `value(items, seed)` is what `sample_average` takes. As an oracle it answers with the gain of an item in the
    question's scenario. `calls` is how many scores were asked for; each is asked for once, and kept.
    """

    better_tool = STORED

    def __init__(self, score: Score) -> None:
        if not callable(score):
            raise InvalidProblem(f"give a function score(item, seed), got {score!r}")
        self._score = score
        self._known: dict[tuple[Hashable, int], float] = {}

    @property
    def calls(self) -> int:
        """How many scores were asked for in this process."""
        return len(self._known)

    def value(self, items: Iterable[Hashable], seed: int) -> float:
        """The best score of `items` in the scenario of `seed`; 0 of none."""
        return max((self._outcome(item, seed) for item in items), default=0.0)

    def __call__(self, question: Asks) -> float:
        before = self.value(question.chosen, question.seed)
        return max(self._outcome(question.item, question.seed) - before, 0.0)

    def _outcome(self, item: Hashable, seed: int) -> float:
        found = self._known.get((item, seed))
        if found is None:
            found = self._known[item, seed] = float(self._score(item, seed))
            if not found >= 0:
                raise InvalidProblem(f"score({item!r}, {seed}) gave {found:g}: expected a number from 0 up")
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": {}}


Value = Callable[[tuple[Any, ...], int], float]


@dataclass(frozen=True)
class Averaged:
    """What sample average picked, and what fresh scenarios show of it.

    With probability 1 − δ: f(chosen) ≥ `lower`, and, if f is monotone and submodular, f(OPT) ≤ `upper`.
    """

    chosen: tuple[Any, ...]
    stored_value: float  # the mean over the stored scenarios, which is too good
    fresh_value: float
    lower: float
    upper: float
    delta: float
    simulations: int

    @property
    def ratio(self) -> float:
        """The share of the optimum that is shown."""
        return max(0.0, min(1.0, self.lower / self.upper)) if self.upper > 0 else 0.0

    def __str__(self) -> str:
        return (
            f"{len(self.chosen)} chosen by {self.simulations:,} simulations; with {confidence(self.delta)} confidence "
            f"f(S) ≥ {at_least(self.lower, 4)} and f(OPT) ≤ {at_most(self.upper, 4)}, so "
            f"f(S) ≥ {at_least(self.ratio, 2)}·f(OPT), if f is monotone and submodular"
        )


def sample_average(
    simulate: Value,
    items: Sequence[Hashable],
    k: int,
    *,
    most: float,
    scenarios: int = 100,
    fresh: int = 400,
    delta: float = 0.05,
    seed: int = 0,
) -> Averaged:
    """Pick `k` of `items` by lazy greedy on stored scenarios, and certify by fresh ones.

    `simulate(set, seed)` gives f of a set in the scenario of a seed, the same each time, from 0 to `most`. The
    certificate asks every item once in each fresh scenario.
    """
    whole("scenarios", scenarios, 1)
    whole("fresh", fresh, 2)
    if not (is_finite(most) and most > 0):
        raise InvalidProblem(f"most must be a positive number that no simulation exceeds, got {most!r}")
    if not 0 < delta < 1:
        raise InvalidProblem(f"delta must lie between 0 and 1, got {delta!r}")
    drawn = np.random.SeedSequence(seed).generate_state(scenarios + fresh, np.uint64) >> np.uint64(1)
    stored, unseen = [int(s) for s in drawn[:scenarios]], [int(s) for s in drawn[scenarios:]]
    calls = 0

    def value(positions: tuple[int, ...], scenario: int) -> float:
        nonlocal calls
        calls += 1
        found = float(simulate(tuple(items[p] for p in positions), scenario))
        if not 0 <= found <= most:
            raise InvalidProblem(f"a simulation gave {found:g}: expected a number from 0 to most={most:g}")
        return found

    picked = lazy_greedy(SampleAverage.of(value, stored, len(items)), k)
    here = picked.chosen
    base = np.array([value(here, scenario) for scenario in unseen])
    others = [p for p in range(len(items)) if p not in here]
    gains = np.array([[value((*here, p), scenario) for scenario in unseen] for p in others]) - base
    # Half of δ for the picks, on either side; half for the gains, of which the k largest bound what is missing.
    lower = float(base.mean()) - radius(base, most, delta / 4)
    above = float(base.mean()) + radius(base, most, delta / 4)
    bounds = sorted((float(g.mean()) + radius(g, most, delta / (2 * len(others))) for g in gains), reverse=True)
    upper = min(float(most), above + sum(max(0.0, bound) for bound in bounds[:k]))
    return Averaged(
        tuple(items[p] for p in here), picked.value, float(base.mean()), max(0.0, lower), upper, delta, calls
    )


def radius(values: Floats, span: float, alpha: float) -> float:
    """How far the mean of independent values of a known span is from the truth, on one side, but for probability α.

    The empirical Bernstein bound of Maurer and Pontil (COLT 2009, Theorem 4).
    """
    count, log = len(values), math.log(2 / alpha)
    return math.sqrt(2 * float(values.var(ddof=1)) * log / count) + 7 * span * log / (3 * (count - 1))

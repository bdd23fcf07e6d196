"""Your own simulator as an oracle: a function that simulates a set, or what one more item adds to it.

Each answer comes from the question's seed alone. A gain is a difference of two simulations with the same seed, so that
what both have in common cancels.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from handful.errors import InvalidProblem
from handful.oracles.simulated import Asks
from handful.responses import Response, respond

SimulatesGain = Callable[[tuple[Any, ...], Any, int], float]
SimulatesSet = Callable[[tuple[Any, ...], int], float]
KnownFunction = Callable[[tuple[Any, ...]], float]
KEPT = 4096  # values of what is chosen that are remembered


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

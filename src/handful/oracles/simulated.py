"""Oracles that answer from a known objective, with noise: a world to try things in.

They draw from the question's own seed alone, so an answer does not depend on when, where or in which order it is
given, and a study decides exactly as the compiled simulator does on the same seed.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

from handful.core.objective import Floats, Objective
from handful.core.responses import Response, respond
from handful.errors import InvalidProblem

KEPT = 64  # sets whose gains are remembered


class Asks(Protocol):
    """What these oracles need to know of a question."""

    @property
    def item(self) -> Any: ...

    @property
    def rival(self) -> Any: ...

    @property
    def chosen(self) -> tuple[Any, ...]: ...

    @property
    def seed(self) -> int: ...


class Simulated:
    """Answers by the gains of `objective` given `chosen`; `items[i]` stands for its item i (default: i itself)."""

    def __init__(self, objective: Objective, response: Response, items: Sequence[Hashable] | None) -> None:
        self._objective = objective
        self._response = response
        names = range(objective.size) if items is None else items
        if len(names) != objective.size:
            raise InvalidProblem(f"{len(names)} items for an objective of {objective.size}: give one per item")
        self._positions = {item: position for position, item in enumerate(names)}
        self._known: dict[tuple[Any, ...], Floats] = {}

    def respond(self, question: Asks) -> float:
        """One answer as a number."""
        gains = self._gains(question.chosen)
        rival = 0.0 if question.rival is None else gains[self._positions[question.rival]]
        return float(respond(self._response, gains[self._positions[question.item]], rival, question.seed))

    def _gains(self, chosen: tuple[Any, ...]) -> Floats:
        """Every gain at once, kept for the next question; a race between threads only computes them twice."""
        known = self._known.get(chosen)
        if known is None:
            if len(self._known) == KEPT:
                self._known.clear()
            progress = self._objective.start()
            for item in chosen:
                progress.add(self._positions[item])
            known = self._known[chosen] = progress.gains()
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

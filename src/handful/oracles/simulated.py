"""Oracles that answer from a known objective, with noise: a world to try things in.

They draw from the question's own seed alone, so an answer does not depend on when, where or in which order it is
given, and a study decides exactly as the compiled simulator does on the same seed.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

import numpy as np

from handful.draws import PERSON, below
from handful.errors import InvalidProblem
from handful.problem import Floats, Objective
from handful.responses import Response, choose, respond
from handful.simulation import parts_of

KEPT = 64  # sets whose gains are remembered


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
            if len(self._known) == KEPT:
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

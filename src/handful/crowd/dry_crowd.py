"""A dry run: a study answered by simulated people, from its first question to its result.

The study is one like any other, with its own settings and its own rule of who counts, but in memory, so that nothing
of it is left. Whoever answers is made up: their taste is that of a drawn collection, since nobody knows yet what people
think of the items. So which items are chosen means nothing; how much is asked, who is excluded and how good the
selection is, does.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from handful.numbers import percent_at_least
from handful.pricing import world_like
from handful.problem import Floats, GrowingSet
from handful.questions import Question
from handful.results import Result
from handful.rules import GOLD
from handful.study import Study
from handful.wording import counted
from handful.workers import PRACTICE

CARELESS = 0.1
"""Which share of the simulated people answers without looking."""
DULLEST, SHARPEST = 1.0, 4.0
"""How sharply the others see a difference (Bradley-Terry-Luce)."""
CHECKS_SEEN = 0.99
"""How often somebody who looks answers a check rightly."""
SECONDS_EACH = 5.0


class TurnClock:
    """The time in a dry run: everybody answers once in a turn."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class DryOutcome:
    """What came of a dry run: the study's result, its people, and the share of exact greedy that the picks are worth.

    `quality` is None where nothing was chosen.
    """

    result: Result[str]
    people: int
    careless: int
    excluded: int
    careless_excluded: int
    planned: int
    k: int
    quality: float | None

    @property
    def words(self) -> str:
        """What happened, in whole sentences."""
        careless = f", {self.careless:,} of them careless," if self.careless else ""
        people = "1 simulated person" if self.people == 1 else f"{self.people:,} simulated people"
        said = [f"{people}{careless} gave {counted(self.result.answers, 'answer')}."]
        if self.excluded:
            excluded = f"{self.excluded:,} {'was' if self.excluded == 1 else 'were'} excluded by the rule"
            said.append(f"{excluded}, of whom {self.careless_excluded:,} careless.")
        if self.result.answers < self.planned:
            chosen = len(self.result.chosen)
            short = "" if chosen == self.k else f", and {chosen} of {self.k} are chosen"
            said.append(f"That is fewer than the {self.planned:,} planned{short}: expect more people.")
        if self.quality is not None:
            worth = percent_at_least(self.quality)
            said.append(f"Their selection is worth {worth} of the one that exact greedy finds.")
        said.append("Their taste is made up, so which items they chose means nothing.")
        return " ".join(said)


class _Person:
    def __init__(self, number: int, seed: int) -> None:
        self.rng = random.Random(f"dry run {seed} {number}")
        self.name = f"simulated-{number + 1}"
        self.careless = self.rng.random() < CARELESS
        self.beta = DULLEST * (SHARPEST / DULLEST) ** self.rng.random()
        self.held: Question | None = None
        self.answers = 0
        self.until_check = 0

    def names(self, gains: Floats) -> int:
        """Which option this person names."""
        if self.careless:
            return self.rng.randrange(len(gains))
        most = max(gains)
        return self.rng.choices(range(len(gains)), [math.exp(self.beta * (gain - most)) for gain in gains])[0]

    def sees(self, options: int) -> bool:
        """Whether they answer a check rightly."""
        return self.rng.random() < (1 / options if self.careless else CHECKS_SEEN)

    def took(self) -> int:
        """How many milliseconds they look at a question."""
        return round(1000 * SECONDS_EACH * math.exp(self.rng.gauss(0.0, 0.4)))


class DryCrowd:
    """So many simulated people, with so many answers `each`. All are there at once, and answer in turn.

    `make` gives the study in memory, on the clock that it is called with.
    """

    def __init__(self, make: Callable[[TurnClock], Study], people: int, each: int, seed: int = 0) -> None:
        self._clock = TurnClock()
        self.study = make(self._clock)
        self._rule, self._each = self.study.setup.rule, each
        self._options = self.study.setup.problem.feedback.options
        self._at = {id_: at for at, id_ in enumerate(self.study.setup.ids)}
        self._world = world_like(len(self._at), seed, 1.0)
        self._known: tuple[tuple[str, ...], Floats] = ((), self._world.start().gains())
        self._people = [_Person(number, seed) for number in range(people)]

    def answer_all(
        self, progress: Callable[[int], None] = lambda _: None, stopped: Callable[[], bool] = lambda: False
    ) -> DryOutcome:
        """Answer until the study is finished, everybody has given what is asked of them, or nobody can go on.

        `progress` is called after every turn with the answers so far.
        """
        there = [person for person in self._people if self._enters(person)]
        patience = most = math.ceil(self.study.setup.lease_s / SECONDS_EACH) + 1  # until what others hold is free
        while patience and there and self.study.finished is None and not stopped():
            self._clock.now += SECONDS_EACH
            moved = [self._turn(person) for person in there if not stopped()]
            patience = most if any(moved) else patience - 1
            there = [person for person in there if self._stays(person)]
            progress(self.study.state.answers)
        return self._outcome()

    def _enters(self, person: _Person) -> bool:
        """Practice and the checks before admission, where the rule has them."""
        entry = None if self._rule is None else self._rule.admission
        for _ in range(0 if entry is None else entry.practice):
            self.study.check(person.name, PRACTICE, True)
        for _ in range(0 if entry is None else entry.checks):
            self._check(person)
        self._draw_next_check(person)
        return self._stays(person)

    def _check(self, person: _Person) -> None:
        checks = None if self._rule is None else self._rule.checks
        kind = GOLD if checks is None else person.rng.choice(checks.kinds)
        self.study.check(person.name, kind, person.sees(self._options), person.took())

    def _draw_next_check(self, person: _Person) -> None:
        if self._rule is not None and self._rule.checks is not None:
            person.until_check = self._rule.checks.gap(1.0 - person.rng.random())

    def _stays(self, person: _Person) -> bool:
        return person.answers < self._each and not self.study.state.workers.excludes(person.name)

    def _turn(self, person: _Person) -> bool:
        """Answer what this person holds, and take the next question; whether anything moved."""
        if self.study.finished is not None:
            return False
        question = person.held
        if question is None:
            person.held = next(iter(self.study.ask(1, person.name)), None)
            return person.held is not None
        person.answers += 1
        answer, meta = self._answer(person, question)
        self.study.tell(question.id, answer, person.name, meta, duration=person.took())
        person.until_check -= 1
        if person.until_check == 0 and self.study.finished is None and self._stays(person):
            self._check(person)
            self._draw_next_check(person)
        person.held = next(iter(self.study.ask(1, person.name)), None) if self._stays(person) else None
        return True

    def _answer(self, person: _Person, question: Question) -> tuple[object, dict[str, object]]:
        """What this person says, and where on the page it stood."""
        gains = self._gains(question.chosen)
        places = list(question.options)
        person.rng.shuffle(places)
        named = person.names(gains[[self._at[id_] for id_ in places]])
        if self._options == 2:
            return places[named] == question.item, {"side": ("left", "right")[named]}
        return places[named], {"place": named + 1, "places": len(places)}

    def _gains(self, chosen: tuple[str, ...]) -> Floats:
        if self._known[0] != chosen:
            self._known = chosen, self._worth(chosen).gains()
        return self._known[1]

    def _outcome(self) -> DryOutcome:
        result, workers = self.study.result(), self.study.state.workers
        out = [person for person in self._people if workers.excludes(person.name)]
        total = self.study.setup.problem.total
        return DryOutcome(
            result,
            len(self._people),
            sum(person.careless for person in self._people),
            len(out),
            sum(person.careless for person in out),
            result.answers if total is None else total.answers,
            self.study.setup.problem.k,
            self._quality(result.chosen),
        )

    def _quality(self, chosen: tuple[str, ...]) -> float | None:
        """What the picks are worth, as a share of what exact greedy makes of the same beginning with as many."""
        given = len(self.study.setup.problem.chosen)
        if len(chosen) == given:
            return None
        best = self._worth(chosen[:given])
        while len(best.chosen) < len(chosen):
            best.add(int(np.argmax(best.gains())))
        return float(self._worth(chosen).value / best.value)

    def _worth(self, chosen: tuple[str, ...]) -> GrowingSet:
        progress = self._world.start()
        for id_ in chosen:
            progress.add(self._at[id_])
        return progress

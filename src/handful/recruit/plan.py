"""One plan: people, answers each and checks give places, minutes, reward and budget; each changes the others."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from handful.errors import InvalidProblem
from handful.recruit.money import MINIMUM_PER_HOUR, check_currency, money
from handful.study.rules import Rule
from handful.wording import counted

MOST_PEOPLE = 100_000
MOST_ANSWERS_EACH = 10_000
SMALLEST_START = 5


@dataclass(frozen=True)
class Plan:
    """How many people are asked how much, and what each is paid.

    checks:     gold and instructed questions beside those that count, paid for like them: so many before admission,
                or in all where `every` is None.
    every:      one more check in so many answers, as the study's rule has it.
    seconds:    how long one question takes.
    other_s:    reading, consent and practice.
    per_hour:   cents per hour; the reward follows from it.
    """

    people: int = 100
    answers_each: int = 30
    checks: int = 0
    seconds: float = 6.0
    other_s: float = 60.0
    per_hour: int = 900
    currency: str = "GBP"
    first_places: int | None = None
    every: int | None = None

    def __post_init__(self) -> None:
        check_currency(self.currency)
        if not 1 <= self.people <= MOST_PEOPLE:
            raise InvalidProblem(f"{self.people} people make no study: expected 1 to {MOST_PEOPLE:,}")
        if not 1 <= self.answers_each <= MOST_ANSWERS_EACH:
            raise InvalidProblem(f"{self.answers_each} answers each make no study: expected 1 to {MOST_ANSWERS_EACH:,}")
        if self.checks < 0 or not 0 < self.seconds <= 3600 or not 0 <= self.other_s <= 7200:
            raise InvalidProblem("checks, seconds and other_s cannot be below 0, and a question takes up to an hour")
        least = MINIMUM_PER_HOUR[self.currency]
        if self.per_hour < least:
            raise InvalidProblem(
                f"{money(self.per_hour, self.currency)} per hour is below the platform's minimum of "
                f"{money(least, self.currency)}: pay at least that; it is judged by the time people really take"
            )
        if self.first_places is not None and not 1 <= self.first_places <= self.people:
            raise InvalidProblem(f"first_places={self.first_places} is not between 1 and {self.people} people")

    @property
    def budget(self) -> int:
        """The answers that count."""
        return self.people * self.answers_each

    @property
    def checks_each(self) -> int:
        """The checks that each is asked beside the answers that count, on average."""
        return self.checks + (0 if self.every is None else round(self.answers_each / self.every))

    @property
    def minutes(self) -> int:
        """How long it takes one person, in whole minutes."""
        return max(1, math.ceil((self.other_s + self.seconds * (self.answers_each + self.checks_each)) / 60))

    @property
    def longest_minutes(self) -> int:
        """How long somebody may take at most: what the platform demands at least."""
        return math.ceil(2 + 2 * self.minutes + 2 * math.sqrt(self.minutes))

    @property
    def reward(self) -> int:
        """What each is paid, in cents, rounded up."""
        return math.ceil(self.per_hour * self.minutes / 60)

    @property
    def rewards(self) -> int:
        """What all are paid together, in cents, without the platform's fees."""
        return self.people * self.reward

    @property
    def start_with(self) -> int:
        """The places to open first: a tenth, so that what is wrong is found while it is cheap."""
        if self.first_places is not None:
            return self.first_places
        return min(self.people, max(SMALLEST_START, math.ceil(self.people / 10)))

    def more_places(self, now: int) -> int:
        """The places to open next: twice as many, up to all."""
        return min(self.people, 2 * now)

    def by_rule(self, rule: Rule | None) -> Plan:
        """The plan with as many checks as this rule of who counts asks for; none where there is no rule."""
        first = 0 if rule is None or rule.admission is None else rule.admission.checks
        return replace(self, checks=first, every=None if rule is None or rule.checks is None else rule.checks.every)

    def for_budget(self, budget: int) -> Plan:
        """The plan with as many people as this many answers need."""
        return replace(self, people=max(1, math.ceil(budget / self.answers_each)), first_places=None)

    def for_minutes(self, minutes: float) -> Plan:
        """The plan with as many answers each as fit into these minutes, and as many people as the budget needs."""
        room = math.floor((60 * minutes - self.other_s) / self.seconds)
        each = max(0, room - self.checks)
        while each > 0 and each + replace(self, answers_each=each).checks_each > room:
            each -= 1
        if each < 1:
            raise InvalidProblem(
                f"{minutes:g} minutes leave no time for a question that counts: reading takes {self.other_s:g} s and "
                f"{counted(self.checks, 'check')} {self.checks * self.seconds:g} s"
            )
        return replace(self, answers_each=each).for_budget(self.budget)

    def for_rewards(self, cents: int) -> Plan:
        """The plan with as many people as these rewards pay."""
        if cents < self.reward:
            raise InvalidProblem(
                f"{money(cents, self.currency)} does not pay one person, who gets {money(self.reward, self.currency)}"
            )
        return replace(self, people=cents // self.reward, first_places=None)

    def __str__(self) -> str:
        checks = f", and {counted(self.checks_each, 'check')} each" if self.checks_each else ""
        return (
            f"{self.people:,} {'person' if self.people == 1 else 'people'} × {counted(self.answers_each, 'answer')} = "
            f"{counted(self.budget, 'answer')} that {'counts' if self.budget == 1 else 'count'}"
            f"{checks}; {counted(self.minutes, 'minute')} each, {money(self.reward, self.currency)} each "
            f"({money(self.per_hour, self.currency)} per hour), {money(self.rewards, self.currency)} in rewards before "
            "the platform's fees"
        )

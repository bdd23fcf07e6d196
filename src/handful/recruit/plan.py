"""Money, and one plan: people, answers each and checks give minutes, reward and budget.

Money is a whole number of cents inside, and becomes text at the edge only.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from handful.errors import InvalidProblem
from handful.rules import Rule
from handful.wording import counted

MINIMUM_PER_HOUR = {"GBP": 600, "USD": 800}
"""What Prolific asks for at least, in cents per hour."""

_SIGNS = {"GBP": "£", "USD": "$"}
_AMOUNT = re.compile(r"[£$]?\s*(\d{1,7})(?:\.(\d{1,2}))?")

MOST_PEOPLE = 100_000
MOST_ANSWERS_EACH = 10_000


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

    def by_rule(self, rule: Rule | None) -> Plan:
        """The plan with as many checks as this rule of who counts asks for; none where there is no rule."""
        first = 0 if rule is None or rule.admission is None else rule.admission.checks
        return replace(self, checks=first, every=None if rule is None or rule.checks is None else rule.checks.every)

    def for_budget(self, budget: int) -> Plan:
        """The plan with as many people as this many answers need."""
        return replace(self, people=max(1, math.ceil(budget / self.answers_each)))

    def __str__(self) -> str:
        checks = f", and {counted(self.checks_each, 'check')} each" if self.checks_each else ""
        return (
            f"{self.people:,} {'person' if self.people == 1 else 'people'} × {counted(self.answers_each, 'answer')} = "
            f"{counted(self.budget, 'answer')} that {'counts' if self.budget == 1 else 'count'}"
            f"{checks}; {counted(self.minutes, 'minute')} each, {money(self.reward, self.currency)} each "
            f"({money(self.per_hour, self.currency)} per hour), {money(self.rewards, self.currency)} in rewards before "
            "the platform's fees"
        )


def cents_of(text: str) -> int:
    """The cents in an amount as people write it: "9", "9.5" and "£9.50"."""
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        raise InvalidProblem(f"{text!r} is not an amount of money: expected one like 9 or 9.50")
    return 100 * int(found[1]) + int((found[2] or "").ljust(2, "0"))


def as_decimal(cents: int) -> str:
    """Whole units with two decimals, as bonus lists want them: 150 is 1.50."""
    if cents < 0:
        raise InvalidProblem(f"{cents} cents cannot be paid: expected 0 or more")
    return f"{cents // 100}.{cents % 100:02d}"


def money(cents: int, currency: str = "GBP") -> str:
    """An amount as people read it: £1.50."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{_SIGNS.get(currency, currency + ' ')}{abs(cents) // 100:,}.{abs(cents) % 100:02d}"


def check_currency(currency: str) -> str:
    """GBP or USD, the two currencies that accounts have."""
    if currency not in MINIMUM_PER_HOUR:
        raise InvalidProblem(f"currency {currency!r} is not known: expected GBP or USD")
    return currency

"""Money is a whole number of cents inside, and becomes text at the edge only."""

from __future__ import annotations

import re

from handful.errors import InvalidProblem

MINIMUM_PER_HOUR = {"GBP": 600, "USD": 800}
"""What Prolific asks for at least, in cents per hour."""

_SIGNS = {"GBP": "£", "USD": "$"}
_AMOUNT = re.compile(r"[£$]?\s*(\d{1,7})(?:\.(\d{1,2}))?")


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

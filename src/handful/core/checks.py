"""Checks of numbers that a user gives: True and "5" are no numbers, and NaN is none either."""

from __future__ import annotations

import math
from numbers import Real

from handful.errors import InvalidProblem


def whole(name: str, x: object, least: int) -> None:
    """Refuse all but a whole number that is large enough."""
    if isinstance(x, bool) or not isinstance(x, int) or x < least:
        raise InvalidProblem(f"{name} must be a whole number, {least} or more, got {x!r}")


def is_number(x: object) -> bool:
    """Whether x is a real number that computers can reckon with; ∞ is one."""
    if isinstance(x, bool) or not isinstance(x, Real):
        return False
    try:
        return not math.isnan(x)
    except OverflowError:  # a whole number beyond all floats
        return False


def is_finite(x: object) -> bool:
    """Whether x is a real number and not infinite."""
    return is_number(x) and math.isfinite(x)  # type: ignore[arg-type]

"""Numbers as they are printed: what is claimed to be at least so much is rounded down, at most so much up.

A number is taken for the shortest decimal that reads back as it, so that 0.57 is 57% and not 56%.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

_LARGE = Decimal(10) ** 12  # numbers below are written out


def at_least(x: float, digits: int = 3) -> str:
    """So many significant digits, rounded down."""
    return _significant(x, digits, ROUND_FLOOR)


def at_most(x: float, digits: int = 3) -> str:
    """So many significant digits, rounded up."""
    return _significant(x, digits, ROUND_CEILING)


def about(x: float, digits: int = 3) -> str:
    """So many significant digits, rounded to the nearest: for what nothing is claimed of."""
    return _significant(x, digits, ROUND_HALF_EVEN)


def exactly(x: float) -> str:
    """As many digits as it takes to read the same number back: for what a claim rests on, where no rounding is safe."""
    if float(x).is_integer() and abs(x) < _LARGE:
        return f"{int(x)}"
    return short if float(short := f"{x:g}") == x else repr(float(x))


def percent_at_least(share: float, digits: int = 0) -> str:
    """A share in percent with so many digits after the point, rounded down."""
    return f"{(Decimal(repr(float(share))) * 100).quantize(Decimal(1).scaleb(-digits), ROUND_FLOOR)}%"


def percent_at_most(share: float, digits: int = 0) -> str:
    """The same, rounded up."""
    return f"{(Decimal(repr(float(share))) * 100).quantize(Decimal(1).scaleb(-digits), ROUND_CEILING)}%"


def confidence(delta: float) -> str:
    """1 − δ in percent, rounded down where it has more than six digits."""
    return f"{_plain((1 - Decimal(repr(delta))) * 100, 6, ROUND_FLOOR)}%"


def _significant(x: float, digits: int, rounding: str) -> str:
    return _plain(Decimal(repr(float(x))), digits, rounding) if math.isfinite(x) else f"{x:g}"


def _plain(x: Decimal, digits: int, rounding: str) -> str:
    if x == 0:
        return "0"
    rounded = x.quantize(Decimal(1).scaleb(x.adjusted() - digits + 1), rounding)
    if Decimal(10) ** digits <= abs(rounded) < _LARGE:
        return f"{int(rounded):,}"
    return f"{float(rounded):.{digits}g}"

"""Numbers: as users give them, and as they are printed."""

from __future__ import annotations

import math
from dataclasses import fields
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from numbers import Integral, Real
from typing import Any

from handful.errors import InvalidProblem


def whole(name: str, x: object, least: int) -> int:
    """x as an int; all but a whole number that is large enough is refused."""
    if isinstance(x, bool) or not isinstance(x, Integral) or x < least:
        raise InvalidProblem(f"{name} must be a whole number, {least} or more, got {x!r}")
    return int(x)


def is_number(x: object) -> bool:
    """Whether x is a real number other than NaN; ∞ is one."""
    if isinstance(x, bool) or not isinstance(x, Real):
        return False
    try:
        return not math.isnan(x)
    except OverflowError:  # a whole number beyond all floats
        return False


def is_finite(x: object) -> bool:
    """Whether x is a real number and not infinite."""
    return is_number(x) and math.isfinite(x)  # type: ignore[arg-type]


def plain(x: Any) -> Any:
    """x with NumPy's numbers, and those within a tuple or list, as int and float; all else as it is."""
    if isinstance(x, (tuple, list)):
        return type(x)(map(plain, x)) if type(x) in (tuple, list) else x
    if isinstance(x, (bool, int)) or type(x) is float or not isinstance(x, Real):
        return x
    return int(x) if isinstance(x, Integral) else float(x)


def make_plain(settings: Any) -> None:
    """Make the numbers of a frozen dataclass plain, as JSON and other Pythons need them; called when it is made."""
    for field in fields(settings):
        if field.init:
            object.__setattr__(settings, field.name, plain(getattr(settings, field.name)))


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

"""Checks of numbers that a user gives: True and "5" are no numbers, nor is NaN; those of NumPy are as good as any."""

from __future__ import annotations

import math
from dataclasses import fields
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

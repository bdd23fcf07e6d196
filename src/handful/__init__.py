"""Pick the best few of many when quality can only be asked for, and every answer is noisy.

The public names; each is imported when it is first used, so that `import handful` costs nothing.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handful.core.budget import PerItem as PerItem
    from handful.core.certificates import Certificate as Certificate
    from handful.core.explorers.registered import *  # noqa: F403
    from handful.core.feedback import Preferences as Preferences
    from handful.core.feedback import Values as Values
    from handful.exact.check import Checked as Checked
    from handful.exact.check import check as check
    from handful.exact.maximize import maximize as maximize
    from handful.exact.ranking import Ranking as Ranking
    from handful.lab.pricing import Price as Price
    from handful.lab.pricing import price as price
    from handful.study import (
        Question as Question,
    )
    from handful.study import (
        Receipt as Receipt,
    )
    from handful.study import (
        Result as Result,
    )
    from handful.study import (
        RoundResult as RoundResult,
    )
    from handful.study import (
        Row as Row,
    )
    from handful.study import (
        Status as Status,
    )
    from handful.study import (
        Study as Study,
    )


__version__ = "0.1.0"

_HOMES = {
    "Certificate": "handful.core.certificates",
    "Checked": "handful.exact.check",
    "PerItem": "handful.core.budget",
    "Preferences": "handful.core.feedback",
    "Price": "handful.lab.pricing",
    "Question": "handful.study",
    "Ranking": "handful.exact.ranking",
    "Receipt": "handful.study",
    "Result": "handful.study",
    "RoundResult": "handful.study",
    "Row": "handful.study",
    "Status": "handful.study",
    "Study": "handful.study",
    "Values": "handful.core.feedback",
    "check": "handful.exact.check",
    "price": "handful.lab.pricing",
    "maximize": "handful.exact.maximize",
}

_PARTS = {"lab", "objectives", "oracles", "storage", "testing"}  # modules that are used by their own names
_RENAMED = {"Thompson": "Worth", "estimate": "price"}


def _explorers() -> dict[str, object]:
    """The settings of every explorer that is registered, by the names of their classes."""
    from handful.core.explorers.registry import EXPLORERS

    return {kind.__name__: kind for kind in EXPLORERS.values()}


def __getattr__(name: str) -> object:
    if name in _PARTS:
        return import_module(f"handful.{name}")
    if name in _RENAMED:
        warnings.warn(f"handful.{name} is called handful.{_RENAMED[name]} now", DeprecationWarning, stacklevel=2)
        name = _RENAMED[name]
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name == "__all__":  # not before somebody asks: to import the explorers takes longer than all the rest
        return sorted([*_HOMES, *_explorers()])
    if name[0].isupper() and name in (found := _explorers()):
        return found[name]
    raise AttributeError(f"module 'handful' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_HOMES, *_explorers(), *_PARTS])

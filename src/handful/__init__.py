"""Pick the best few of many when quality can only be asked for, and every answer is noisy.

The public names; each is imported when it is first used, so that `import handful` costs nothing.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handful.core.budget import PerItem
    from handful.core.certificates import Certificate
    from handful.core.explorers.registry import Certified, Duels, Pivot, Sharp, TopX, Uniform, Worth
    from handful.core.feedback import Preferences, Values
    from handful.exact.check import Checked, check
    from handful.exact.maximize import maximize
    from handful.exact.ranking import Ranking
    from handful.lab.pricing import Price, price
    from handful.study import Question, Receipt, Result, RoundResult, Row, Status, Study

__version__ = "0.1.0"

_HOMES = {
    "Certificate": "handful.core.certificates",
    "Certified": "handful.core.explorers.registry",
    "Checked": "handful.exact.check",
    "Duels": "handful.core.explorers.registry",
    "PerItem": "handful.core.budget",
    "Pivot": "handful.core.explorers.registry",
    "Preferences": "handful.core.feedback",
    "Price": "handful.lab.pricing",
    "Question": "handful.study",
    "Ranking": "handful.exact.ranking",
    "Receipt": "handful.study",
    "Result": "handful.study",
    "RoundResult": "handful.study",
    "Row": "handful.study",
    "Sharp": "handful.core.explorers.registry",
    "Status": "handful.study",
    "Study": "handful.study",
    "TopX": "handful.core.explorers.registry",
    "Uniform": "handful.core.explorers.registry",
    "Values": "handful.core.feedback",
    "Worth": "handful.core.explorers.registry",
    "check": "handful.exact.check",
    "price": "handful.lab.pricing",
    "maximize": "handful.exact.maximize",
}

__all__ = [
    "Certificate",
    "Certified",
    "Checked",
    "Duels",
    "PerItem",
    "Pivot",
    "Preferences",
    "Price",
    "Question",
    "Ranking",
    "Receipt",
    "Result",
    "RoundResult",
    "Row",
    "Sharp",
    "Status",
    "Study",
    "TopX",
    "Uniform",
    "Values",
    "Worth",
    "check",
    "maximize",
    "price",
]


_PARTS = {"lab", "objectives", "oracles", "storage", "testing"}  # modules that are used by their own names
_RENAMED = {"Thompson": "Worth", "estimate": "price"}


def __getattr__(name: str) -> object:
    if name in _PARTS:
        return import_module(f"handful.{name}")
    if name in _RENAMED:
        warnings.warn(f"handful.{name} is called handful.{_RENAMED[name]} now", DeprecationWarning, stacklevel=2)
        name = _RENAMED[name]
    if name not in _HOMES:
        raise AttributeError(f"module 'handful' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_PARTS])

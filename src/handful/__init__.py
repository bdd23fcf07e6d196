"""Pick the best few of many when quality can only be asked for, and every answer is noisy.

The public names; each is imported when it is first used, so that `import handful` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handful.certificates import Certificate as Certificate
    from handful.exact.check import Checked as Checked
    from handful.exact.check import check as check
    from handful.exact.maximize import Ranking as Ranking
    from handful.exact.maximize import maximize as maximize
    from handful.explorers.certified import Certified as Certified
    from handful.explorers.duels import Duels as Duels
    from handful.explorers.pivot import Pivot as Pivot
    from handful.explorers.sharp import Sharp as Sharp
    from handful.explorers.topx import TopX as TopX
    from handful.explorers.uniform import Uniform as Uniform
    from handful.explorers.worth import Worth as Worth
    from handful.pricing import Price as Price
    from handful.pricing import price as price
    from handful.problem import PerItem as PerItem
    from handful.problem import Preferences as Preferences
    from handful.problem import Values as Values
    from handful.questions import Question as Question
    from handful.questions import Receipt as Receipt
    from handful.questions import Row as Row
    from handful.results import Result as Result
    from handful.results import RoundResult as RoundResult
    from handful.results import Status as Status
    from handful.study import Study as Study


__version__ = "0.1.0"

_HOMES = {
    "Certificate": "handful.certificates",
    "Certified": "handful.explorers.certified",
    "Checked": "handful.exact.check",
    "Duels": "handful.explorers.duels",
    "PerItem": "handful.problem",
    "Pivot": "handful.explorers.pivot",
    "Preferences": "handful.problem",
    "Price": "handful.pricing",
    "Question": "handful.questions",
    "Ranking": "handful.exact.maximize",
    "Receipt": "handful.questions",
    "Result": "handful.results",
    "RoundResult": "handful.results",
    "Row": "handful.questions",
    "Sharp": "handful.explorers.sharp",
    "Status": "handful.results",
    "Study": "handful.study",
    "TopX": "handful.explorers.topx",
    "Uniform": "handful.explorers.uniform",
    "Values": "handful.problem",
    "Worth": "handful.explorers.worth",
    "check": "handful.exact.check",
    "price": "handful.pricing",
    "maximize": "handful.exact.maximize",
}

_PARTS = {"objectives", "oracles", "storage", "testing"}  # modules that are used by their own names

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name in _PARTS:
        return import_module(f"handful.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'handful' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_HOMES, *_PARTS])

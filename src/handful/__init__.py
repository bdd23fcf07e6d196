"""Pick the best few of many when quality can only be asked for, and every answer is noisy.

The public names; each is imported when it is first used, so that `import handful` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handful.core.budget import PerItem as PerItem
    from handful.core.certificates import Certificate as Certificate
    from handful.core.explorers.certified.settings import Certified as Certified
    from handful.core.explorers.duels import Duels as Duels
    from handful.core.explorers.pivot import Pivot as Pivot
    from handful.core.explorers.sharp import Sharp as Sharp
    from handful.core.explorers.topx.settings import TopX as TopX
    from handful.core.explorers.uniform import Uniform as Uniform
    from handful.core.explorers.worth import Worth as Worth
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
    "Certified": "handful.core.explorers.certified.settings",
    "Checked": "handful.exact.check",
    "Duels": "handful.core.explorers.duels",
    "PerItem": "handful.core.budget",
    "Pivot": "handful.core.explorers.pivot",
    "Preferences": "handful.core.feedback",
    "Price": "handful.lab.pricing",
    "Question": "handful.study",
    "Ranking": "handful.exact.ranking",
    "Receipt": "handful.study",
    "Result": "handful.study",
    "RoundResult": "handful.study",
    "Row": "handful.study",
    "Sharp": "handful.core.explorers.sharp",
    "Status": "handful.study",
    "Study": "handful.study",
    "TopX": "handful.core.explorers.topx.settings",
    "Uniform": "handful.core.explorers.uniform",
    "Values": "handful.core.feedback",
    "Worth": "handful.core.explorers.worth",
    "check": "handful.exact.check",
    "price": "handful.lab.pricing",
    "maximize": "handful.exact.maximize",
}

_PARTS = {"lab", "objectives", "oracles", "storage", "testing"}  # modules that are used by their own names

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name in _PARTS:
        return import_module(f"handful.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'handful' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_HOMES, *_PARTS])

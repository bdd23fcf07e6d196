"""The explorers there are, a line each.

`registry.py` finds them here by name, `handful` exports them, and the command line's help lists them.
"""

from __future__ import annotations

from handful.core.explorers.certified import Certified as Certified
from handful.core.explorers.duels import Duels as Duels
from handful.core.explorers.pivot import Pivot as Pivot
from handful.core.explorers.sharp import Sharp as Sharp
from handful.core.explorers.topx import TopX as TopX
from handful.core.explorers.uniform import Uniform as Uniform
from handful.core.explorers.worth import Worth as Worth

"""Of files that are the same, the one whose name does not say that it is a copy."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePosixPath

from handful.crowd.collection.items import Item, LeftOut

SAME_AS = "is the same as "
_COPY = re.compile(
    r"^(copy|kopie|copie|copia) (of|von|de|di) |[ _-](copy|kopie|copie|copia)( ?\(?\d+\)?)?$|\(\d+\)$", re.I
)


def is_copy(name: str) -> bool:
    """Whether a file's name is one that file managers and browsers give to copies."""
    return _COPY.search(PurePosixPath(name).stem) is not None


def change_places(original: Item, items: list[Item], left_out: list[LeftOut], at: int) -> None:
    """Let the item at this place, a copy that was met first, be left out, and its original be the item."""
    copied = items[at].id
    items[at] = original
    for place, one in enumerate(left_out):
        if one.why == f"{SAME_AS}{copied}":
            left_out[place] = replace(one, why=f"{SAME_AS}{original.id}")
    left_out.append(LeftOut(copied, f"{SAME_AS}{original.id}"))

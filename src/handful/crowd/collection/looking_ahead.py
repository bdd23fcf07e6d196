"""What can be said of a source before it is processed: how many items it may have, and what has changed in it."""

from __future__ import annotations

import re
from pathlib import Path

from handful.crowd.collection.items import Collection, LeftOut, check_enough
from handful.crowd.collection.sources import open_source

NUMBERED = re.compile(r" \(\d+\)$")


def number_of_items(path: Path) -> int:
    """How many items there are at most, without reading them: some may turn out to be unusable. InvalidCollection if
    there are too few to choose from.
    """
    with open_source(path) as source:
        possible = sum(name not in source.refused for name in source.names)
        refused = [LeftOut(name, why) for name, why in source.refused.items()]
        check_enough(possible, [*refused, *source.passed_over], path)
        return possible


def changes_since(path: Path, collection: Collection) -> tuple[int, int]:
    """How many things have come to the source since it was processed, and how many items have left it, by name."""
    with open_source(path) as source:
        present, refused = set(source.names), source.refused
    known = {*collection.ids, *(one.name for one in collection.left_out)}
    # An id may be a name with a number, where two things had the same name.
    gone = [id_ for id_ in collection.ids if id_ not in present and NUMBERED.sub("", id_) not in present]
    new = [name for name in present if name not in known and name not in refused]
    return len(new), len(gone)

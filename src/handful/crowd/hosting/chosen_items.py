"""Which items stay chosen from the start of a study that is being set up, as its files come and go."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from handful.crowd.intake import NUMBERED
from handful.crowd.sources import WHOLE
from handful.errors import InvalidProblem


def chosen_without(chosen: Sequence[str], file: str, carried: Collection[str]) -> list[str]:
    """Those that were not made from this file: of a zip or a table none is left but what an earlier study gave.

    Else another item that gets the same name later, such as that of a row, would be chosen without having been seen.
    """
    all_of_them = file.lower().endswith(WHOLE)
    return [one for one in chosen if one in carried or not (all_of_them or file in (one, NUMBERED.sub("", one)))]


def check_chosen(chosen: Sequence[str], items: Collection[str]) -> None:
    """Refuse to have chosen from the start what is no item."""
    for name in chosen:
        if name not in items:
            raise InvalidProblem(f"{name!r} cannot be chosen from the start: there is no such item")

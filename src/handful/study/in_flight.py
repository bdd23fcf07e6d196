"""How many questions may be unanswered at once, where the first run says it.

The number is part of a study, since question n is decided from the answers up to n − in_flight. A study that was made
without one is given it by the first run in processes or on a cluster, before anything was asked; then it is fixed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from handful.errors import InvalidProblem, StorageCorrupt
from handful.study.events import InFlightSet

if TYPE_CHECKING:
    from handful.study.fold import Fold
    from handful.study.writer import Writer


def set_in_flight(writer: Writer, most: int, now: float) -> None:
    """Write down that so many may be out, if the study was made without saying and is free to be told.

    It is not once anything was asked, and not once it was preregistered with 1.
    """
    if _is_free(writer.fold) and writer.fold.registered is None:
        writer.emit(InFlightSet(most), now)


def change_in_flight(fold: Fold, most: int) -> None:
    """What `InFlightSet` does: the explorer begins anew with this many."""
    if not _is_free(fold):
        raise StorageCorrupt(
            "the journal says how many questions may be unanswered at once after it was fixed: restore the storage "
            "from a backup"
        )
    try:
        problem = replace(fold.setup.problem, in_flight=most)
    except InvalidProblem as error:
        raise StorageCorrupt(f"the journal cannot be right ({error}): restore the storage from a backup") from error
    fold.setup = replace(fold.setup, problem=problem)
    fold.exploration.begin_anew(problem)


def _is_free(fold: Fold) -> bool:
    """Whether the number may still be said: only once, and before anything was asked or picked."""
    setup = fold.setup
    untouched = len(fold.questions) == 0 and not fold.rounds and not fold.closed
    return setup.in_flight_left and setup.problem.in_flight == 1 and untouched

"""How many questions may be unanswered at once, where the first run says it.

The number is part of a study, since question n is decided from the answers up to n − in_flight. A study that was made
without one is given it before anything is asked, once: by a script that opens it with a number, or by the first run in
processes or on a cluster.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from handful.errors import InvalidProblem, StorageCorrupt
from handful.study.events import InFlightSet

if TYPE_CHECKING:
    from handful.study.fold import Fold
    from handful.study.writer import Writer


def set_in_flight(writer: Writer, most: int) -> None:
    """Write down that so many may be out, if the study was made without saying and is free to be told."""
    if is_free(writer.fold):
        with writer.writing() as now:
            writer.emit(InFlightSet(most), now)


def change_in_flight(fold: Fold, most: int) -> None:
    """What `InFlightSet` does: the explorer begins anew with this many."""
    if not is_free(fold):
        raise StorageCorrupt(
            "the journal says how many questions may be unanswered at once after it was fixed: restore the storage "
            "from a backup"
        )
    try:
        problem = replace(fold.setup.problem, in_flight=most)
    except InvalidProblem as error:
        raise StorageCorrupt(f"the journal cannot be right ({error}): restore the storage from a backup") from error
    fold.setup, fold.in_flight_set = replace(fold.setup, problem=problem), True
    fold.exploration.begin_anew(problem)


def is_free(fold: Fold) -> bool:
    """Whether the number may still be said: only once, before anything was asked or picked, and before the study was
    preregistered, with 1.
    """
    untouched = len(fold.questions) == 0 and not fold.rounds and not fold.closed
    return fold.setup.in_flight_left and not fold.in_flight_set and fold.registered is None and untouched

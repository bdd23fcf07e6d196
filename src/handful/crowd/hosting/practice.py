"""The practice before the first real question, judged here: the page says which cards were chosen, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from handful.crowd.messages import Join
from handful.study.conduct import PRACTICE
from handful.study.study import Study

JOINED = "joined"

RIGHT = ("apple", "pear")
"""What most people would choose in each lesson of the page."""


def judged(chosen: Sequence[str]) -> list[bool]:
    """Whether each lesson went as most would have it."""
    return [card == right for card, right in zip(chosen, RIGHT, strict=False)]


def note_joined(study: Study, worker: str, said: Join) -> None:
    """Note in the journal that a worker joined, with consent and practice; how that went is judged here."""
    well = None if said.practice is None else judged(said.practice)
    practice = None if well is None else {"correct": sum(well), "of": len(well)}
    study.note(JOINED, {"worker": worker, "consent": said.consent, "practice": practice})
    for right in well or () if study.setup.rule is not None else ():
        study.check(worker, PRACTICE, right)

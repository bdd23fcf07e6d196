"""Who will come: how many people an organizer expects, and how many answers each of them gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from handful.study.study import Study

EXPECTED = "people expected"
"""The topic under which the journal notes it."""


@dataclass(frozen=True)
class ExpectedPeople:
    """So many people, with so many answers each."""

    people: int
    answers_each: int

    @property
    def answers(self) -> int:
        """What they give together."""
        return self.people * self.answers_each

    def to_dict(self) -> dict[str, int]:
        """As the journal notes it."""
        return {"people": self.people, "answers_each": self.answers_each}


def expected_in(noted: object) -> ExpectedPeople | None:
    """What the journal notes; None where that is something else."""
    if not isinstance(noted, Mapping):
        return None
    people, each = noted.get("people"), noted.get("answers_each")
    if not isinstance(people, int) or not isinstance(each, int) or min(people, each) < 1:
        return None
    return ExpectedPeople(people, each)


def note_expected(study: Study, expected: ExpectedPeople | None) -> None:
    """Note who will come in the journal, if that is known."""
    if expected is not None:
        study.note(EXPECTED, expected.to_dict())

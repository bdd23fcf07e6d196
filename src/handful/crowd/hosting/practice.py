"""The practice before the first real question, judged here: the page says which cards were chosen, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from handful.crowd.messages import Join
from handful.crowd.refusals import Refusal
from handful.errors import InvalidProblem
from handful.study.conduct import PRACTICE
from handful.study.rules import Rule
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
    for right in well or () if study.setup.rule is not None and study.finished is None else ():
        study.check(worker, PRACTICE, right)


def check_practised(rule: Rule | None, said: Join) -> None:
    """Refuse somebody who leaves out the practice that the rule wants: they would wait for ever."""
    if rule is not None and rule.admission is not None and rule.admission.practice > len(said.practice or ()):
        raise Refusal(422, "no_practice", "This study begins with a practice: say what was chosen in it.")


def check_can_be_practised(rule: Rule | None) -> None:
    """Refuse a rule that wants more practice than there is."""
    if rule is not None and rule.admission is not None and rule.admission.practice > len(RIGHT):
        raise InvalidProblem(f"the crowd app has {len(RIGHT)} lessons of practice: the rule asks for more")

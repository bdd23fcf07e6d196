"""The practice before the first real question, judged here: the page says which cards were chosen, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from handful.crowd.cards import item_card
from handful.crowd.collection import Collection
from handful.crowd.intake import practice_pictures
from handful.crowd.lessons import Lesson
from handful.crowd.messages import ItemCard, Join, Option, PracticeLesson, PracticePicture
from handful.crowd.refusals import Refusal
from handful.errors import InvalidProblem
from handful.rules import Rule
from handful.study import Study
from handful.wording import counted
from handful.workers import PRACTICE

JOINED = "joined"

RIGHT = ("apple", "pear")
"""What most people would choose in each of the page's own lessons."""

Lessons = Sequence[Lesson] | None
"""The organizer's; None for the page's own."""


def lessons_shown(lessons: Lessons, collection: Collection) -> list[PracticeLesson] | None:
    """The organizer's lessons as they are shown; None for the page's own."""
    if lessons is None:
        return None
    items = {item.id: item for item in (*collection, *practice_pictures(collection.folder))}

    def option(place: int, said: str) -> Option:
        card = item_card(items[said]) if said in items else ItemCard(kind="text", caption="", text=said)
        return Option(id=str(place), **dict(card))

    return [
        PracticeLesson(cards=[option(*one) for one in enumerate(lesson.cards)], better=lesson.better, why=lesson.why)
        for lesson in lessons
    ]


def practice_cards(folder: Path) -> list[PracticePicture]:
    """The organizer's own pictures to practise on, beside the items of this folder."""
    there = practice_pictures(folder)
    return [PracticePicture(name=item.id, thumbnail=item_card(item).thumbnail or "") for item in there]


def judged(chosen: Sequence[str], lessons: Lessons = None) -> list[bool]:
    """Whether each lesson went as most would have it."""
    right = RIGHT if lessons is None else [str(lesson.better) for lesson in lessons]
    return [card == one for card, one in zip(chosen, right, strict=False)]


def note_joined(study: Study, worker: str, said: Join, lessons: Lessons = None) -> None:
    """Note in the journal that a worker joined, with consent and practice; how that went is judged here."""
    well = None if said.practice is None else judged(said.practice, lessons)
    practice = None if well is None else {"correct": sum(well), "of": len(well)}
    study.note(JOINED, {"worker": worker, "consent": said.consent, "practice": practice})
    for right in well or () if study.setup.rule is not None and study.finished is None else ():
        study.check(worker, PRACTICE, right)


def check_practised(rule: Rule | None, said: Join) -> None:
    """Refuse somebody who leaves out the practice that the rule wants: they would wait for ever."""
    if rule is not None and rule.admission is not None and rule.admission.practice > len(said.practice or ()):
        raise Refusal(422, "no_practice", "This study begins with a practice: say what was chosen in it.")


def check_can_be_practised(rule: Rule | None, lessons: Lessons = None) -> None:
    """Refuse a rule that wants more practice than there is."""
    there = len(RIGHT if lessons is None else lessons)
    if rule is not None and rule.admission is not None and rule.admission.practice > there:
        whose = "the built-in practice has" if lessons is None else "your practice has"
        raise InvalidProblem(
            f"the rule asks for {counted(rule.admission.practice, 'lesson')} of practice before anything counts, and "
            f"{whose} {there}: give as many, or a rule that asks for fewer"
        )

"""Questions: what travels to whoever answers, and the columns that remember them all."""

from __future__ import annotations

from array import array
from copy import copy
from dataclasses import dataclass
from typing import Any, Generic

from handful.core.parts.board import NOW
from handful.errors import UnknownQuestion
from handful.study.items import Item

# What became of a question.
UNANSWERED, PROVISIONAL, ANSWERED, LATE, VOID = range(5)
STANDINGS = ("open", "provisional", "answered", "late", "void")


def picks_given(chosen: int, round_: int, given: int) -> int:
    """How many items a question of a round takes for picked: those before the round, or the first `given` picks.

    `chosen` is how many were picked from the start.
    """
    return round_ - 1 if given == NOW else chosen + given


@dataclass(frozen=True, slots=True)
class Question(Generic[Item]):
    """What is asked once: the gain of `item` given `chosen`, or whether `item` is a better addition than `rival`.

    `item`, `rival` and `chosen` (in the order picked) are your own objects. `seed` is this question's alone:
    an oracle that draws only from it answers alike wherever and whenever it is asked.
    """

    id: str
    round: int
    number: int
    item: Item
    rival: Any  # an item in a study of comparisons, else None
    chosen: tuple[Item, ...]
    seed: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of an answer: the one that is stored, whether it was there before, and how it stands.

    `standing` is "answered", "provisional" (it may still be revised), "late" (its round was over: kept and charged, but
    it enters no bound) or "void" (everybody skipped the question: nothing is kept, and `answer` is None).
    """

    question: str
    answer: float | bool | None
    repeated: bool
    standing: str


class Questions:
    """Every question of a study, in columns: some 29 bytes each."""

    def __init__(self, *, paired: bool = False) -> None:
        self.nth = array("i") if paired else None  # how many questions of its round asked the same before it
        self._same: dict[tuple[int, int], int] = {}
        self.item = array("i")
        self.rival = array("i")  # -1 for a value
        self.given = array("i")  # the first so many picks alone; -1 for all picks before its round
        self.worker = array("i")  # who answered, as an index; -1: nobody in particular
        self.round = array("i")
        self.answer = array("d")
        self.standing = array("b")

    def __len__(self) -> int:
        return len(self.item)

    def snapshot(self) -> Questions:
        """A copy, by column."""
        seen = Questions()
        for name, column in vars(self).items():
            setattr(seen, name, copy(column))
        return seen

    def add(self, round_: int, item: int, rival: int, given: int) -> None:
        """The next question."""
        if self.nth is not None:
            if self.round and self.round[-1] != round_:
                self._same.clear()
            before = self._same.get((item, rival), 0)
            self._same[item, rival] = before + 1
            self.nth.append(before)
        self.item.append(item)
        self.rival.append(rival)
        self.given.append(given)
        self.worker.append(-1)
        self.round.append(round_)
        self.answer.append(0.0)
        self.standing.append(UNANSWERED)

    def number_of(self, id_: str) -> int:
        """The question an id means, or UnknownQuestion."""
        if isinstance(id_, str) and id_[:1] == "q" and id_[1:].isascii() and id_[1:].isdigit():
            number = int(id_[1:])
            if number < len(self.item) and id_ == f"q{number}":
                return number
        raise UnknownQuestion(f"question {id_} was never asked; this study has asked {len(self.item)} so far")

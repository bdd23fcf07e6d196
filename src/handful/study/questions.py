"""Questions: what travels to whoever answers, and the columns that remember them all."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Generic

import numpy as np

from handful.errors import UnknownQuestion
from handful.explorers.board import NOW
from handful.problem import Ints
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
    """What is asked once: the gain of `item` given `chosen`, or which of `options` is the best addition to `chosen`.

    With two options, `item` and `rival`, the answer is True for the item and False for the rival. With more of them it
    is the option itself, and their order says nothing. All items, and `chosen` (in the order picked), are your own
    objects. `seed` is this question's alone: an oracle that draws only from it answers alike wherever and whenever it
    is asked.
    """

    id: str
    round: int
    number: int
    item: Item
    rival: Any  # an item in a study of comparisons, else None
    chosen: tuple[Item, ...]
    seed: int
    more: tuple[Item, ...] = ()  # the options after item and rival

    @property
    def options(self) -> tuple[Item, ...]:
        """The items that the question is about."""
        return (self.item,) if self.rival is None else (self.item, self.rival, *self.more)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of an answer: the one that is stored, whether it was there before, and how it stands.

    `standing` is "answered", "provisional" (it may still be revised), "late" (its round was over: kept and charged, but
    it enters no bound) or "void" (everybody skipped the question: nothing is kept, and `answer` is None).
    """

    question: str
    answer: Any  # a number, a bool, or the option that was named
    repeated: bool
    standing: str


class Questions:
    """Every question of a study, in columns: some 29 bytes each, and 4 for each option after the second.

    The answer to a question with options is 1 or 0 (item or rival) where there are two in the study, and where there
    are `more`, the number of the item that was named.
    """

    def __init__(self, options: int = 2, *, paired: bool = False) -> None:
        self._more = max(options - 2, 0)
        self.names_one = options > 2  # whether an answer is the number of an item
        self.nth = array("i") if paired else None  # how many questions of its round asked the same before it
        self._same: dict[tuple[int, ...], int] = {}
        self._round = 0  # the one that these are of
        self.item = array("i")
        self.rival = array("i")  # -1 for a value
        self.given = array("i")  # the first so many picks alone; -1 for all picks before its round
        self.worker = array("i")  # who answered, as an index; -1: nobody in particular
        self.round = array("i")
        self.answer = array("d")
        self.standing = array("b")
        self.more = array("i")  # options after the second, `_more` to a question; -1 where there are fewer

    def __len__(self) -> int:
        return len(self.item)

    def snapshot(self) -> Questions:
        """A copy that later questions do not change."""
        seen = Questions()
        for name, column in vars(self).items():
            setattr(seen, name, copy(column))
        return seen

    def add(self, round_: int, item: int, rival: int, given: int, more: Sequence[int] = ()) -> None:
        """Append the next question."""
        if self.nth is not None:
            if self._round != round_:
                self._same.clear()
                self._round = round_
            before = self._same.get((item, rival, *more), 0)
            self._same[item, rival, *more] = before + 1
            self.nth.append(before)
        self.item.append(item)
        self.rival.append(rival)
        self.given.append(given)
        self.worker.append(-1)
        self.round.append(round_)
        self.answer.append(0.0)
        self.standing.append(UNANSWERED)
        if self._more:
            self.more.extend(more)
            if len(more) < self._more:
                self.more.extend([-1] * (self._more - len(more)))

    def more_of(self, question: int) -> tuple[int, ...]:
        """The options after the second."""
        if not self._more:
            return ()
        at = question * self._more
        row = self.more[at : at + self._more]
        return tuple(row) if row[-1] >= 0 else tuple([i for i in row if i >= 0])

    def options(self, question: int) -> tuple[int, ...]:
        """All items that a question is about."""
        item, rival = self.item[question], self.rival[question]
        return (item,) if rival < 0 else (item, rival, *self.more_of(question))

    def rows_of_options(self, numbers: range) -> Ints:
        """A row per question, -1 where it has fewer options than others; of no length where all have two at most."""
        if not self._more:
            return np.zeros((len(numbers), 0), np.int64)
        here = slice(numbers.start, numbers.stop)
        two = np.column_stack([self.item[here], self.rival[here]]) if len(numbers) else np.zeros((0, 2))
        return np.hstack([two, self.others(here)]).astype(np.int64)

    def others(self, numbers: slice) -> np.ndarray[Any, np.dtype[np.int32]]:
        """A row per question: its options after the second."""
        here = slice(numbers.start * self._more, numbers.stop * self._more)
        return np.asarray(self.more[here], dtype=np.int32).reshape(numbers.stop - numbers.start, self._more)

    def number_of(self, id_: str) -> int:
        """The question an id means, or UnknownQuestion."""
        if isinstance(id_, str) and id_[:1] == "q" and id_[1:].isascii() and id_[1:].isdigit():
            number = int(id_[1:])
            if number < len(self.item) and id_ == f"q{number}":
                return number
        raise UnknownQuestion(f"question {id_} was never asked; this study has asked {len(self.item)} so far")

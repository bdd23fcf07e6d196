"""What there is to pick from, and what is asked about it: items by any name, and the columns of all questions."""

from __future__ import annotations

import sys
from array import array
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from handful.errors import InvalidProblem, ItemsChanged, UnknownQuestion
from handful.explorers.board import NOW
from handful.numbers import plain
from handful.problem import Ints

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    Item = TypeVarWithDefault("Item", default=Any)  # so that `Study` alone means `Study[Any]`
else:
    Item = TypeVar("Item")


class Row(Mapping[Any, Any]):
    """An item that is a row of a DataFrame: `row["price"]` or `row.price`; `row.label` is its label in the index.

    It is printed and named by its label, compares by label and values, and can be a key and be pickled.
    """

    __slots__ = ("_at", "_values", "label")

    def __init__(self, label: Any, at: dict[Any, int], values: tuple[Any, ...]) -> None:
        self.label = label
        self._at = at  # shared by all rows of a table
        self._values = values

    def __getitem__(self, column: Any) -> Any:
        return self._values[self._at[column]]

    def __getattr__(self, column: str) -> Any:
        if column.startswith("_") or column not in self._at:  # the first: while it is unpickled there is no _at yet
            raise AttributeError(f"this row has no column {column!r}")
        return self[column]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return NotImplemented
        same = self.label == other.label and self._at == other._at
        return same and all(map(_same_cell, self._values, other._values))

    def __hash__(self) -> int:
        return hash(self.label)

    def __str__(self) -> str:
        return str(self.label)

    def __repr__(self) -> str:
        cells = ", ".join(f"{column}={value!r}" for column, value in self.items())
        return f"<Row {self.label!r}: {cells}>"


def _same_cell(a: Any, b: Any) -> bool:
    return a is b or bool(a == b) or bool(a != a and b != b)  # two missing values are the same


def read_items(items: Iterable[Any]) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """The items as given, and their names, which are unique; or InvalidProblem."""
    pandas = sys.modules.get("pandas")  # whoever has a DataFrame has imported it
    if pandas is not None and isinstance(items, pandas.DataFrame):
        rows = _rows_of(items)
        return rows, ids_of(rows)
    if pandas is not None and isinstance(items, pandas.Series):
        values = tuple(items)
        # Texts name themselves where the labels are but numbers.
        better = all(isinstance(label, Integral) for label in items.index) and all(isinstance(v, str) for v in values)
        return values, ids_of(values if better or not items.index.is_unique else tuple(items.index))
    given = tuple_of_items(items)
    return given, ids_of(given)


def tuple_of_items(items: Iterable[Any]) -> tuple[Any, ...]:
    """The items as given, or InvalidProblem."""
    if isinstance(items, (str, bytes)):
        raise InvalidProblem(f"items must be a list of things to pick from, got the text {items[:30]!r}")
    try:
        return tuple(items)
    except TypeError:
        raise InvalidProblem(f"items must be a list of things to pick from, got {items!r}") from None


def ids_of(items: Sequence[Any]) -> tuple[str, ...]:
    """A string per item. Where `str` cannot tell items apart between two runs, their positions must do."""
    ids = tuple(map(str, items))
    if len(set(ids)) == len(ids) and not any(" at 0x" in name for name in ids):
        return ids
    seen = set()
    for item in items:
        if not isinstance(item, Hashable):  # no two of these are taken for the same
            continue
        if item in seen:
            raise InvalidProblem(f"the items name {item!r} twice: each item can be picked only once, so give it once")
        seen.add(item)
    return tuple(map(str, range(len(items))))


def position_of(item: Any, items: Sequence[Any]) -> int:
    """Where an item stands among the items, or InvalidProblem."""
    for position, other in enumerate(items):
        if other is item or other == item:
            return position
    raise InvalidProblem(f"{item!r} is not among the {len(items)} items")


def check_same_ids(given: Sequence[str], ids: Sequence[str]) -> None:
    """Raise ItemsChanged unless the items given are those the study was made with, in the same order."""
    if tuple(given) == tuple(ids):
        return
    if len(given) != len(ids):
        raise ItemsChanged(
            f"the study was made with {len(ids)} items, got {len(given)}: give the same items in the same order"
        )
    at = next(i for i, (a, b) in enumerate(zip(given, ids, strict=True)) if a != b)
    raise ItemsChanged(
        f"item {at} is {given[at]!r}, but the study was made with {ids[at]!r}: give the same items in the same order"
    )


def plain_item(item: Any) -> Any:
    """An item in JSON and in tables: a row's label, else itself if it is text or a whole number, else its text."""
    item = plain(item.label if isinstance(item, Row) else item)
    return item if isinstance(item, (str, int)) else str(item)


def _rows_of(frame: Any) -> tuple[Row, ...]:
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InvalidProblem(f"the DataFrame has two columns {twice!r}: rename one, so that a row's value has one name")
    if not frame.index.is_unique:
        twice = frame.index[frame.index.duplicated()][0]
        raise InvalidProblem(
            f"the DataFrame's index has {twice!r} twice, and rows are named by it: give items.reset_index(drop=True), "
            "or an index that tells them apart"
        )
    at = {column: place for place, column in enumerate(frame.columns)}
    return tuple(Row(plain(label), at, tuple(values)) for label, *values in frame.itertuples(name=None))


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


class Lines:
    """The lines of a round, by the item that questions are about and what they are given.

    A line that is empty takes no room: of many items only a few are asked about at a time.
    """

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self.by_item: dict[tuple[int, int], deque[int]] = {}

    def of(self, question: int) -> deque[int]:
        """The line that a question belongs to; it is made if there is none."""
        about = self._questions.item[question], self._questions.given[question]
        line = self.by_item.get(about)
        if line is None:
            line = self.by_item[about] = deque()
        return line

    def forget(self, question: int) -> None:
        """Let go of the line that a question belonged to, now that it is empty."""
        del self.by_item[self._questions.item[question], self._questions.given[question]]

    def __iter__(self) -> Iterator[deque[int]]:
        return iter(self.by_item.values())

    def clear(self) -> None:
        """Forget all of them: another round begins."""
        self.by_item = {}

"""What there is to pick from: any objects, the rows of a DataFrame, or the values of a Series; and the name of each."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeVar

from handful.errors import InvalidProblem, ItemsChanged
from handful.numbers import plain

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

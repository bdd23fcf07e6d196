"""A reproduction is made of cells: one setting, a few seeds, measured once and kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from handful.problem import Floats

Scalar = str | int | float
CellRow = dict[str, Scalar]
"""A line of a tidy table: as it stands in the CSV file."""

CAP = 20_000_000
T = TypeVar("T")


@dataclass(frozen=True)
class Scale:
    """How much to measure: all of it, or (`quick`) just enough to see which way the claims point.

    cap: answers that one run may ask for; a run that reaches it is marked as capped.
    """

    quick: bool = False
    cap: int = CAP
    seed: int = 0

    def of(self, full: T, quick: T) -> T:
        """One of two sizes of an experiment."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Cell:
    """Call `measure(**arguments)` for rows of the table `table`. `weight` is about how many answers that takes."""

    table: str
    measure: Callable[..., list[CellRow]]
    arguments: Mapping[str, Any]
    weight: float

    @property
    def key(self) -> str:
        """What is measured, and nothing else: figures that ask for the same share the result."""
        return json.dumps([self.measure.__name__, dict(sorted(self.arguments.items()))])


@dataclass(frozen=True)
class CellTable:
    """Rows, and the few questions that figures ask of them."""

    rows: tuple[CellRow, ...]

    def where(self, **equal: Scalar) -> CellTable:
        """The rows in which all these columns have these values."""
        return CellTable(tuple(row for row in self.rows if all(row[name] == value for name, value in equal.items())))

    def column(self, name: str) -> Floats:
        """A column of numbers."""
        return np.array([float(row[name]) for row in self.rows])

    def distinct(self, name: str) -> list[Any]:
        """The values of a column, each once, in the order they come."""
        return list(dict.fromkeys(row[name] for row in self.rows))


Tables = Mapping[str, CellTable]


def chunks(seeds: int, first: int, size: int) -> Iterable[tuple[int, int]]:
    """(first, count) of the pieces in which `seeds` seeds are measured."""
    return [(first + at, min(size, seeds - at)) for at in range(0, seeds, size)]

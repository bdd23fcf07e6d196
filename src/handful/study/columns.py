"""Columns of numbers as arrays, and the arrays that a state is made of."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np


def array_of_column(column: array[Any]) -> np.ndarray[Any, Any]:
    """A copy of a column: nothing can be appended to a column while somebody, such as compiled code, holds a view."""
    return np.array(column, dtype=column.typecode)


def arrays_of(state: Any) -> Iterator[np.ndarray[Any, Any]]:
    """All arrays of a state, in order."""
    for part in state:
        if isinstance(part, np.ndarray):
            yield part
        else:
            yield from arrays_of(part)


def copied(state: Any) -> Any:
    """A state with arrays of its own."""
    return type(state)(*(part.copy() if isinstance(part, np.ndarray) else copied(part) for part in state))

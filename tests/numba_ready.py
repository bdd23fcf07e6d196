"""Importing this lets Numba do what it does once in each process: read what it knows and compile something."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np


class _Some(NamedTuple):
    numbers: np.ndarray


def _first(some: _Some, at: int) -> float:
    number: float = some.numbers[at]
    return number + at


numba.njit(_first)(_Some(np.ones(1)), 0)
numba.njit(lambda x: x + 1.5)(1)

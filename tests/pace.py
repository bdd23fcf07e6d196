"""How slow this machine is, for the few tests that have a limit in seconds."""

from __future__ import annotations

from functools import cache
from time import process_time

import numpy as np

USUAL_S = 0.03
"""What the work below takes on a machine on which each limit is kept five times over."""


def _work() -> float:
    """Seconds of computing for a fixed piece of work: some in Python, some in arrays."""
    began, words = process_time(), dict[str, int]()
    for number in range(100_000):
        word = str(number % 1000)
        words[word] = words.get(word, 0) + 1
    table = np.random.default_rng(0).random(300_000)
    for _ in range(3):
        table = np.sort(np.sin(table * 7.0) + table[::-1])
    return process_time() - began


@cache
def slowness() -> float:
    """How many times longer than usual this machine takes; at least 1."""
    return max(1.0, min(_work() for _ in range(5)) / USUAL_S)

"""How many questions are held from one address, so that a flood from there leaves some for everybody else."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable

FEW = 8
"""Where fewer questions may be in flight, there is no share to divide."""


class AddressShares:
    """How many questions are held from each address: a guess between two counts, exact after each.

    Whoever joins a thousand times from one address, and answers nothing, leaves something for everybody else. Addresses
    are known in memory only, and only of those who hold a question.
    """

    def __init__(self, in_flight: int, share: float) -> None:
        self.most = sys.maxsize if in_flight < FEW or share >= 1 else int(in_flight * share)
        self._held: Counter[str] = Counter()
        self._where: dict[str, str] = {}

    def left(self, address: str) -> int:
        """How many more questions that address may get."""
        return max(0, self.most - self._held[address])

    def took(self, worker: str, address: str, questions: int) -> None:
        """A worker got so many more; below 0: gave back."""
        self._where[worker] = address
        self._held[address] += questions

    def count(self, holders: Iterable[str | None]) -> None:
        """Count anew: `holders` names a worker once for each question they hold. Everybody else is forgotten."""
        held_by = Counter(worker for worker in holders if worker in self._where)
        self._where = {worker: self._where[worker] for worker in held_by if worker is not None}
        self._held = Counter()
        for worker, address in self._where.items():
            self._held[address] += held_by[worker]

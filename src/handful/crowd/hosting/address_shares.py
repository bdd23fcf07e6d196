"""Questions that are out: when each comes back if nobody answers it or its holder leaves, and how many are held from
one address.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Container

from handful.study.leases import Leases

FEW = 8
"""Where fewer questions may be out, there is no share to divide."""


class Due:
    """When leases run out, so that whoever waits can be told at once. All are equally long, so they end in order."""

    def __init__(self, lease_s: float) -> None:
        self.lease_s = lease_s
        self.over: set[int] = set()  # nobody has asked since, so the study does not know yet
        self._ends: deque[tuple[float, int]] = deque()
        self._latest: dict[int, float] = {}  # when the latest lease of a question ends

    def begins(self, question: int, now: float) -> None:
        """Somebody got the question."""
        self.over.discard(question)
        self._latest[question] = now + self.lease_s
        self._ends.append((now + self.lease_s, question))

    def any_came_back(self, leases: Leases, now: float) -> bool:
        """Whether a lease has run out since this was last asked, and its question was neither answered nor skipped."""
        self.over = {question for question in self.over if leases.holder(question)[0]}
        before = len(self.over)
        while self._ends and self._ends[0][0] <= now:
            end, question = self._ends.popleft()
            if self._latest.get(question) != end:  # it was passed on, and somebody else has it for longer
                continue
            del self._latest[question]
            if leases.holder(question)[0]:
                self.over.add(question)
        return len(self.over) > before


class Shares:
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

    def count(self, leases: Leases, over: Container[int] = ()) -> None:
        """Count anew, without those whose lease is `over`, and forget everybody else."""
        holders = []
        for question in leases.numbers():
            held, worker = leases.holder(question)
            if held and worker is not None and question not in over:
                holders.append(worker)
        self._where = {worker: self._where[worker] for worker in set(holders) if worker in self._where}
        self._held = Counter(self._where[worker] for worker in holders if worker in self._where)

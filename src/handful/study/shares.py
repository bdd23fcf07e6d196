"""How much each worker answered, in all and in the open round: what caps on shares are measured by."""

from __future__ import annotations

from collections import Counter

from handful.study.rules import FEW


class Shares:
    """Answers by worker. Checks and practice count among a worker's answers, and not among those of a round."""

    def __init__(self) -> None:
        self.in_round: Counter[int] = Counter()
        self._in_all: dict[int, int] = {}
        self.active: set[int] = set()  # whoever gave a few answers at least

    def note(self, worker: int, of_round: bool) -> None:
        """One more answer of a worker; `of_round`: to a question of the open round."""
        answers = self._in_all[worker] = self._in_all.get(worker, 0) + 1
        if answers == FEW:
            self.active.add(worker)
        if of_round:
            self.in_round[worker] = self.in_round.get(worker, 0) + 1

    def note_many(self, worker: int, answers: int) -> None:
        """So many more answers of a worker to questions of the open round."""
        before = self._in_all.get(worker, 0)
        self._in_all[worker] = before + answers
        if before < FEW <= before + answers:
            self.active.add(worker)
        self.in_round[worker] = self.in_round.get(worker, 0) + answers

    def in_all(self, worker: int) -> int:
        """How many answers a worker gave."""
        return self._in_all.get(worker, 0)

    def next_round(self) -> None:
        """A round is over."""
        self.in_round = Counter()

    def again(self, workers: Counter[int]) -> None:
        """The open round is one that was open before: these gave so many answers in it."""
        self.in_round = workers

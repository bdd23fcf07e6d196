"""How each worker conducts themselves: checks, times and sides, and what the rule says about that.

All of it is folded from the journal, and none of it enters an estimate.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from handful.study.rules import Admission, ChecksBelow, Exclusion, FasterThan, OneSide, Rule

PRACTICE = "practice"
WITHDREW = "withdrew"
NOT_VERIFIED = "not verified by the panel"
RESERVED = {
    WITHDREW: "for those who withdraw (`study.leave`, `handful organize leave`)",
    NOT_VERIFIED: "for those whom their panel does not know",
}
"""Reasons that mean something to a study, and what each is kept for: nobody may give them by hand."""


@dataclass
class Conduct:
    """What the rule looks at in one worker."""

    practised: int = 0
    practised_well: int = 0
    checks: int = 0
    right: int = 0
    last_right: bool = False
    times: list[int] = field(default_factory=list)  # in milliseconds, in order of size
    places: Counter[str] = field(default_factory=Counter)  # where they chose: a side of two, or a place among more
    admitted: bool = False

    def note_check(self, check: str, right: bool, duration: int | None, revised: bool = False) -> None:
        """One more answer to a question whose right answer is known, or the last one changed."""
        if check == PRACTICE:
            self.practised += 1
            self.practised_well += right
            return
        if revised:
            self.right -= self.last_right
        else:
            self.checks += 1
        self.right += right
        self.last_right = right
        if duration is not None and not revised:
            insort(self.times, duration)

    def note_answer(self, meta: Any, duration: int | None) -> None:
        """One more answer that may count: how long it took, and where that was chosen."""
        if duration is not None:
            insort(self.times, duration)
        if isinstance(meta, dict):
            place = meta.get("side", meta.get("place"))
            if place is not None:
                self.places[str(place)] += 1

    @property
    def median_ms(self) -> int | None:
        """The median time of an answer, the lower of two."""
        return self.times[(len(self.times) - 1) // 2] if self.times else None

    def failed(self, rule: Rule) -> str | None:
        """Why the rule excludes this worker; None while it does not."""
        entry = rule.admission
        if entry is not None and not self.admitted and self.is_through(entry) and not self.passes(entry):
            return "not admitted: too few checks were right"
        return next((why for why in (self._broken(one) for one in rule.exclude_if) if why is not None), None)

    def is_through(self, entry: Admission) -> bool:
        """Whether everything before admission is done."""
        return self.practised >= entry.practice and self.checks >= entry.checks

    def passes(self, entry: Admission) -> bool:
        """Whether enough checks before admission are right, or enough of the practice where there are no checks."""
        return (self.right if entry.checks else self.practised_well) >= entry.right_at_least

    def _broken(self, one: Exclusion) -> str | None:
        if isinstance(one, ChecksBelow):
            broken = self.checks >= one.after and self.right < one.share * self.checks
            return f"{self.right} of {self.checks} checks right" if broken else None
        if isinstance(one, FasterThan):
            median = self.median_ms
            broken = len(self.times) >= one.after and median is not None and median < one.ms
            return f"median answer in {median} ms" if broken else None
        assert isinstance(one, OneSide)
        given = self.places.total()
        place, most = self.places.most_common(1)[0] if given else ("", 0)
        return f"{place} in {most} of {given} answers" if given >= one.after and most >= one.share * given else None


class Conducts:
    """How all workers conduct themselves, by their numbers."""

    def __init__(self, rule: Rule | None) -> None:
        self.rule = rule
        self._of: dict[int, Conduct] = {}

    def snapshot(self) -> Conducts:
        """A copy that later events do not change."""
        seen = Conducts(self.rule)
        seen._of = {number: copy(conduct) for number, conduct in self._of.items()}
        return seen

    def of(self, number: int) -> Conduct:
        """The conduct of this worker; an empty one for a worker of whom nothing is known."""
        return self._of.get(number) or Conduct()

    def checks_of(self, number: int) -> int:
        """How many checks this worker answered."""
        known = self._of.get(number)
        return 0 if known is None else known.checks

    def change(self, number: int) -> Conduct:
        """The conduct of this worker, for an event to change; made if there is none."""
        return self._of.setdefault(number, Conduct())

    def numbers(self) -> list[int]:
        """The numbers of the workers of whom anything is known."""
        return list(self._of)

    def may_answer(self, number: int) -> bool:
        """Whether this worker is asked questions that count: where nobody needs to be admitted, everybody."""
        return self.rule is None or self.rule.admission is None or self.of(number).admitted

"""Who answered: what each did, how they conduct themselves, and how much of a round is theirs."""

from __future__ import annotations

from array import array
from bisect import insort
from collections import Counter
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from handful.rules import FEW, Admission, ChecksBelow, Exclusion, FasterThan, OneSide, Rule


class Workers:
    """The workers of a study, in the order they first appeared."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.answers = array("i")
        self.skips = array("i")
        self._numbers: dict[str, int] = {}
        self._excluded: dict[int, bool] = {}  # number → by a rule fixed before the start
        self._withdrew: set[int] = set()  # of those, who withdrew
        self._only_withdrew: set[int] = set()  # of those, whom nothing else had excluded before
        self._unverified: set[int] = set()  # of those, whom their panel has not verified yet
        self._overruled: list[int] = []  # those restored whom a rule had excluded
        self._kept_unverified: set[int] = set()  # of those, who were restored though their panel had not verified them

    def snapshot(self) -> Workers:
        """A copy that later events do not change."""
        seen = Workers()
        for name, part in vars(self).items():
            setattr(seen, name, copy(part))
        return seen

    def number(self, name: str | None) -> int:
        """The worker's number; -1 for answers from nobody in particular."""
        if name is None:
            return -1
        number = self._numbers.get(name)
        if number is None:
            number = len(self.names)
            self.names.append(name)
            self.answers.append(0)
            self.skips.append(0)
            self._numbers[name] = number  # last: other threads may look a worker up at any moment
        return number

    def number_if_known(self, name: str | None) -> int:
        """The worker's number; -1 for somebody who did nothing yet."""
        return -1 if name is None else self._numbers.get(name, -1)

    def name(self, number: int) -> str | None:
        """The name of the worker with this number."""
        return None if number < 0 else self.names[number]

    def answers_of(self, name: str) -> int:
        """How many answers the worker gave."""
        number = self._numbers.get(name)
        return 0 if number is None else self.answers[number]

    def note_answer(self, name: str | None) -> int:
        """One more answer; gives the worker's number."""
        number = self.number(name)
        if number >= 0:
            self.answers[number] += 1
        return number

    def note_skip(self, name: str | None) -> None:
        """Count one more skip of a worker."""
        number = self.number(name)
        if number >= 0:
            self.skips[number] += 1

    def exclude(self, name: str, by_rule: bool, *, withdrew: bool = False, unverified: bool = False) -> None:
        """Let their answers not count. `unverified`: until the panel says that it knows them."""
        number = self.number(name)
        if withdrew and number not in self._excluded:
            self._only_withdrew.add(number)
        self._excluded[number] = by_rule and self._excluded.get(number, True)  # by hand stays so if they then withdraw
        if withdrew:
            self._withdrew.add(number)
        (self._unverified.add if unverified and by_rule else self._unverified.discard)(number)

    def restore(self, name: str, *, unverified: bool = False) -> None:
        """Let their answers count again. That overrules no rule if they waited for the panel and it has verified them.

        `unverified`: it has not.
        """
        number = self.number(name)
        self._withdrew.discard(number)
        self._only_withdrew.discard(number)
        verified = number in self._unverified and not unverified
        self._unverified.discard(number)
        if unverified:
            self._kept_unverified.add(number)
        if self._excluded.pop(number, False) and not verified:
            self._overruled.append(number)

    def awaits_verifying(self, name: str) -> bool:
        """Whether a worker is excluded because the panel has not verified them."""
        return self._numbers.get(name, -1) in self._unverified

    def kept_unverified(self, name: str) -> bool:
        """Whether somebody decided that a worker counts whom the panel has not verified."""
        return self._numbers.get(name, -1) in self._kept_unverified

    def knows(self, name: str | None) -> bool:
        """Whether they ever answered, skipped or were excluded."""
        return name in self._numbers

    def how_many_excluded(self, among: set[int]) -> int:
        """How many of these workers are excluded."""
        return len(self._excluded.keys() & among) if self._excluded else 0

    def is_excluded(self, number: int) -> bool:
        """Whether the worker's answers do not count."""
        return number in self._excluded

    def excludes(self, name: str | None) -> bool:
        """Whether the answers of the worker of this name are left out."""
        return bool(self._excluded) and name is not None and self._numbers.get(name, -1) in self._excluded

    def was_overruled(self, number: int) -> bool:
        """Whether a worker whom a rule had excluded was restored by hand."""
        return number in self._overruled

    @property
    def by_rule(self) -> list[int]:
        """The numbers of those whom a rule excludes, whether or not they withdrew later."""
        return [number for number, by_rule in self._excluded.items() if by_rule and number not in self._only_withdrew]

    def has_withdrawn(self, name: str) -> bool:
        """Whether a worker withdrew from the study."""
        return self._numbers.get(name, -1) in self._withdrew

    @property
    def withdrew(self) -> int:
        """How many workers withdrew from the study."""
        return len(self._withdrew)

    @property
    def by_hand(self) -> list[str]:
        """Who is excluded by no rule that was fixed before the start."""
        return [self.names[number] for number, by_rule in self._excluded.items() if not by_rule]

    @property
    def overruled(self) -> list[str]:
        """Whom a rule had excluded and somebody restored."""
        return [self.names[number] for number in self._overruled]

    @property
    def excluded(self) -> list[int]:
        """The numbers of those whose answers do not count."""
        return list(self._excluded)

    @property
    def any_excluded_by_hand(self) -> bool:
        """Whether somebody is excluded by no rule that was fixed before the start, or restored against one."""
        return bool(self._overruled) or not all(self._excluded.values())


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

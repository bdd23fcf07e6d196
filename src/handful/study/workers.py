"""Who answered: a small number per name, what each did, and whose answers do not count."""

from __future__ import annotations

from array import array
from copy import copy


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

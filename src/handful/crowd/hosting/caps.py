"""Caps on what one worker, one address and one network may have: asked under the study's lock, so nobody slips through.

They bind when a question is handed out; no answer that was given is dropped for them.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable

from handful.study.doors import Door
from handful.study.fold import Fold
from handful.study.participation import most_of_round
from handful.study.rules import FEW as FEW_ANSWERS
from handful.study.rules import share_allowed

FEW = 8
"""Where fewer questions may be in flight, there is no share to divide."""
MANY = 50
"""So many workers take a moment to go through."""
PRESENT_S = 60.0


class Caps:
    """Who may have one more question. Addresses are known in memory only; networks by their tags."""

    def __init__(self, in_flight: int, share: float, door: Door | None, tag_of: Callable[[str], bytes | None]) -> None:
        self.most_held = sys.maxsize if in_flight < FEW or share >= 1 else int(in_flight * share)
        self._door = door
        self._tag_of = tag_of
        self._where: dict[str, str] = {}
        self._seen: dict[bytes, float] = {}  # networks, and when somebody came from there
        self._fold: Fold | None = None
        self._members: dict[bytes, dict[str, None]] = {}  # of each network
        self._indexed = 0  # so many workers are among them
        self._active = ((-1, 0), 0)  # at so many answers and people excluded, the networks that gave a few

    def came(self, worker: str, where: str, now: float) -> None:
        """A worker asks for something, from this address."""
        self._where[worker] = where
        tag = self._tag_of(worker)
        if tag is not None:
            self._seen[tag] = now
            self._members.setdefault(tag, {})[worker] = None

    def forget_absent(self, holders: Iterable[str | None], now: float) -> None:
        """Keep the addresses of those alone who hold something, or were here within the last minute."""
        held = set(holders)
        self._where = {worker: where for worker, where in self._where.copy().items() if worker in held}
        self._seen = {tag: when for tag, when in self._seen.copy().items() if when > now - PRESENT_S}

    def __call__(self, fold: Fold, worker: str | None, now: float) -> str | None:
        """What keeps a worker from having one more question now; None: nothing."""
        if worker is None:
            return None
        if not self._has_share_left(fold, worker, now):
            return "network"
        where = self._where.get(worker)
        if where is not None and len(fold.leases) >= self.most_held:  # else nobody can hold so many
            held = sum(self._where.get(holder or "") == where for holder in fold.leases.holders(now))
            if held >= self.most_held:
                return "address"
        return None

    def _has_share_left(self, fold: Fold, worker: str, now: float) -> bool:
        """By the cap on a network's share of a round, on an open link."""
        tag = None if self._door is None or not self._door.caps_networks else self._tag_of(worker)
        if tag is None or "network" in fold.lifted:
            return True
        assert self._door is not None
        share = share_allowed(self._door.share, max(self._active_networks(fold), len(self._seen)))
        if share >= 1:
            return True
        number_of, given, leases = fold.workers.number_if_known, fold.shares.in_round, fold.leases
        most = most_of_round(fold, share)
        if len(fold.questions) - fold.exploration.first + len(leases) + 1 <= most:  # nobody can have so many yet
            return True
        has = sum(given.get(number_of(one), 0) + len(leases.held_by(one)) for one in self._members_of(fold, tag))
        return has + 1 <= most

    def _active_networks(self, fold: Fold) -> int:
        """How many networks gave a few answers; counted anew at each answer, or where many take part now and then."""
        self._notice(fold)
        names = fold.workers.names
        at = fold.answers // (1 + len(names) // MANY), len(fold.workers.excluded)
        if self._active[0] != at:
            given = Counter[bytes]()
            for number, name in enumerate(names):
                tag = self._tag_of(name)
                if tag is not None and not fold.workers.is_excluded(number):
                    given[tag] += fold.shares.in_all(number)
            self._active = at, sum(answers >= FEW_ANSWERS for answers in given.values())
        return self._active[1]

    def _members_of(self, fold: Fold, tag: bytes) -> Iterable[str]:
        """Who is in a network, of those who ever answered, hold something or have just come."""
        self._notice(fold)
        names = fold.workers.names
        for name in names[self._indexed :]:
            self._index(name)
        self._indexed = len(names)
        return list(self._members.get(tag, ()))  # in one step: somebody may be coming now

    def _notice(self, fold: Fold) -> None:
        """Begin anew where the study was opened again."""
        if fold is not self._fold:
            self._fold, self._indexed, self._active = fold, 0, ((-1, 0), 0)
            for holder in fold.leases.holders():
                self._index(holder)

    def _index(self, name: str | None) -> None:
        tag = None if name is None else self._tag_of(name)
        if name is not None and tag is not None:
            self._members.setdefault(tag, {})[name] = None

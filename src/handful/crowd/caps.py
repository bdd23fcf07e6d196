"""The cap on what one network may have on an open link: asked under the study's lock, so nobody slips through.

It binds when a question is handed out; no answer that was given is dropped for it. The cap on one person is the rule's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from handful.participation import most_of_round
from handful.rules import FEW as FEW_ANSWERS
from handful.rules import share_allowed
from handful.state import State

FEW = 8
"""Where fewer questions may be in flight, there is no share to divide."""
MANY = 50
"""So many workers take a moment to go through."""
PRESENT_S = 60.0


class Caps:
    """Which worker may have one more question. Networks are known by their tags alone.

    One network holds at most the share `held` of the questions that may be out, and has at most the share of a round
    that the door says.
    """

    def __init__(self, in_flight: int, held: float, tag_of: Callable[[str], bytes | None]) -> None:
        self.most_held = None if in_flight < FEW or held >= 1 else int(in_flight * held)
        self._tag_of = tag_of
        self._seen: dict[bytes, float] = {}  # networks, and when somebody came from there
        self._state: State | None = None
        self._members: dict[bytes, dict[str, None]] = {}  # of each network
        self._indexed = 0  # so many workers are among them
        self._active = ((-1, 0), 0)  # at so many answers and people excluded, the networks that gave a few

    def came(self, worker: str, now: float) -> None:
        """A worker asks for something."""
        tag = self._tag_of(worker)
        if tag is not None:
            self._seen[tag] = now
            self._members.setdefault(tag, {})[worker] = None

    def forget_absent(self, now: float) -> None:
        """Keep only those networks in sight from where somebody came within the last minute."""
        self._seen = {tag: when for tag, when in self._seen.copy().items() if when > now - PRESENT_S}

    def __call__(self, state: State, worker: str | None, now: float) -> str | None:
        """What keeps a worker from having one more question now; None: nothing."""
        capped = state.door is not None and state.door.caps_networks
        tag = self._tag_of(worker) if capped and worker is not None else None
        if tag is None or (self._may_hold_one_more(state, tag, now) and self._has_share_left(state, tag)):
            return None
        return "network"

    def _may_hold_one_more(self, state: State, tag: bytes, now: float) -> bool:
        if self.most_held is None or len(state.leases) < self.most_held:  # else nobody can hold so many
            return True
        held = sum(holder is not None and self._tag_of(holder) == tag for holder in state.leases.holders(now))
        return held < self.most_held

    def _has_share_left(self, state: State, tag: bytes) -> bool:
        assert state.door is not None
        share = share_allowed(state.door.share, max(self._active_networks(state), len(self._seen)))
        if share >= 1:
            return True
        number_of, given, leases = state.workers.number_if_known, state.shares.in_round, state.leases
        most = most_of_round(state, share)
        if len(state.questions) - state.exploration.first + len(leases) + 1 <= most:  # nobody can have so many yet
            return True
        has = sum(given.get(number_of(one), 0) + len(leases.held_by(one)) for one in self._members_of(state, tag))
        return has + 1 <= most

    def _active_networks(self, state: State) -> int:
        """How many networks gave a few answers; counted anew at each answer, or where many take part now and then."""
        self._notice(state)
        names = state.workers.names
        at = state.answers // (1 + len(names) // MANY), len(state.workers.excluded)
        if self._active[0] != at:
            given = Counter[bytes]()
            for number, name in enumerate(names):
                tag = self._tag_of(name)
                if tag is not None and not state.workers.is_excluded(number):
                    given[tag] += state.shares.in_all(number)
            self._active = at, sum(answers >= FEW_ANSWERS for answers in given.values())
        return self._active[1]

    def _members_of(self, state: State, tag: bytes) -> Iterable[str]:
        """Who is in a network, of those who ever answered, hold something or have just come."""
        self._notice(state)
        names = state.workers.names
        for name in names[self._indexed :]:
            self._index(name)
        self._indexed = len(names)
        return list(self._members.get(tag, ()))  # in one step: somebody may be coming now

    def _notice(self, state: State) -> None:
        """Begin anew where the study was opened again."""
        if state is not self._state:
            self._state, self._indexed, self._active = state, 0, ((-1, 0), 0)
            for holder in state.leases.holders():
                self._index(holder)

    def _index(self, name: str | None) -> None:
        tag = None if name is None else self._tag_of(name)
        if name is not None and tag is not None:
            self._members.setdefault(tag, {})[name] = None

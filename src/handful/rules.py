"""Who counts and how people come: the rule and the door, data that is fixed before the first answer."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any, Literal

import numpy as np

from handful.errors import InvalidProblem
from handful.numbers import is_finite

VERSION = 1
GOLD, INSTRUCTED = "gold", "instructed"
CHECKS = (GOLD, INSTRUCTED)
LOOKS = 2_000  # answers of one person that are gone through one by one; what lies beyond is bounded
EXCLUDE = "exclude"
FEW = 5  # whoever gave fewer answers is not counted among those who share a round


@dataclass(frozen=True)
class Admission:
    """What somebody does before anything counts: so much practice, then so many checks, and so many of those right.

    Without checks it is the practice that must be right.
    """

    practice: int = 2
    checks: int = 3
    right_at_least: int = 3

    def __post_init__(self) -> None:
        if not all(isinstance(n, int) and 0 <= n <= 100 for n in (self.practice, self.checks, self.right_at_least)):
            raise InvalidProblem("admission takes 0 to 100 of practice, checks and right_at_least")
        if self.right_at_least > (self.checks or self.practice):
            of = self.checks or self.practice
            raise InvalidProblem(f"admission wants {self.right_at_least} right of {of}: nobody could be admitted")


LONGEST_GAP = 6  # times the mean gap: beyond lies one gap in four hundred


@dataclass(frozen=True)
class Checks:
    """Later checks: one in so many questions, of these kinds."""

    every: int = 12
    kinds: tuple[str, ...] = CHECKS

    def __post_init__(self) -> None:
        if not (isinstance(self.every, int) and self.every >= 2):
            raise InvalidProblem(f"checks come every 2 questions at most, got every {self.every!r}")
        if not self.kinds or not set(self.kinds) <= set(CHECKS):
            raise InvalidProblem(f"checks are of the kinds {' and '.join(CHECKS)}, got {self.kinds!r}")

    def gap(self, drawn: float) -> int:
        """After how many answers one more check comes, from a number drawn evenly above 0 and up to 1.

        `every` on average, and at any time as likely as at any other: the number of a question says nothing of whether
        it is a check.
        """
        return 1 + min(int(math.log(drawn) / math.log1p(-1 / self.every)), LONGEST_GAP * self.every)


@dataclass(frozen=True)
class ChecksBelow:
    """Excluded: whose share of right checks is below this, after so many."""

    share: float = 0.75
    after: int = 4
    rule: str = "checks_right_below"


@dataclass(frozen=True)
class FasterThan:
    """Excluded: whose median answer takes less than this, after so many."""

    ms: int = 500
    after: int = 10
    rule: str = "median_faster_than"


@dataclass(frozen=True)
class OneSide:
    """Excluded: who chose one side in at least this share of answers, after so many."""

    share: float = 0.95
    after: int = 20
    rule: str = "one_side"


Exclusion = ChecksBelow | FasterThan | OneSide
EXCLUSIONS: dict[str, type[Exclusion]] = {kind().rule: kind for kind in (ChecksBelow, FasterThan, OneSide)}


@dataclass(frozen=True)
class Rule:
    """Who counts. `share` is what one person may have of a round, or 1.5 parts of as many as there are people.

    unverified: what becomes of people from a panel who cannot be verified by the end; None where the rule was written
    before it said so. They are excluded either way.
    """

    admission: Admission | None = field(default_factory=Admission)
    checks: Checks | None = field(default_factory=Checks)
    exclude_if: tuple[Exclusion, ...] = (ChecksBelow(), FasterThan(), OneSide())
    share: float = 0.10
    withdrawal: str = "remove"
    unverified: str | None = EXCLUDE

    def __post_init__(self) -> None:
        for one in self.exclude_if:
            if not (isinstance(one.after, int) and one.after >= 1):
                raise InvalidProblem(f"{one.rule} is looked at after 1 answer at least, got {one.after!r}")
            if isinstance(one, FasterThan):
                if not (isinstance(one.ms, int) and 0 < one.ms <= 60_000):
                    raise InvalidProblem(f"{one.rule} takes 1 to 60,000 milliseconds, got {one.ms!r}")
            elif not (is_finite(one.share) and 0 < one.share <= 1):
                raise InvalidProblem(f"{one.rule} takes a share above 0 and at most 1, got {one.share!r}")
            elif isinstance(one, OneSide) and one.share <= 0.5:
                raise InvalidProblem("one_side takes a share above one half: everybody chooses one side half the time")
        if not (is_finite(self.share) and 0 < self.share <= 1):
            raise InvalidProblem(f"a person's share of a round is above 0 and at most 1, got {self.share!r}")
        if self.withdrawal not in ("remove", "keep"):
            raise InvalidProblem(f'withdrawal is "remove" or "keep" the answers, got {self.withdrawal!r}')
        if self.unverified not in (None, EXCLUDE):
            raise InvalidProblem(
                f'unverified is "{EXCLUDE}": whoever is not verified cannot count, got {self.unverified!r}'
            )

    @property
    def hash(self) -> str:
        """What stands in the certificate: the first digits of a digest of the rule."""
        return sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:12]

    @property
    def false_exclusion(self) -> float:
        """At most this probable: that somebody who looks is excluded by what they answered."""
        return sum(chance_of_one_side(one.share, one.after) for one in self.exclude_if if isinstance(one, OneSide))

    def to_dict(self) -> dict[str, Any]:
        """The rule as plain JSON, as the journal keeps it."""
        return {
            "version": VERSION,
            "admission": None if self.admission is None else asdict(self.admission),
            "checks": None if self.checks is None else {**asdict(self.checks), "kinds": list(self.checks.kinds)},
            "exclude_if": [asdict(one) for one in self.exclude_if],
            "share_of_round_at_most": self.share,
            "withdrawal": self.withdrawal,
            "pay": {"everybody_who_finishes": True},
            **({} if self.unverified is None else {"unverified": self.unverified}),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Rule:
        """The rule that `to_dict` wrote; InvalidProblem for anything else."""
        try:
            if data["version"] != VERSION:
                raise InvalidProblem(f"a rule of version {data['version']!r} is not known here, only {VERSION}")
            known = {"version", "admission", "checks", "exclude_if", "share_of_round_at_most", "withdrawal", "pay"}
            known |= {"unverified"}
            if data.get("pay", {"everybody_who_finishes": True}) != {"everybody_who_finishes": True}:
                raise InvalidProblem("everybody who finishes is paid: a rule cannot say otherwise")
            if not data.keys() <= known:
                raise InvalidProblem(f"a rule does not know {', '.join(sorted(data.keys() - known))}")
            admission, checks = data.get("admission"), data.get("checks")
            return cls(
                None if admission is None else Admission(**admission),
                None if checks is None else Checks(checks["every"], tuple(checks["kinds"])),
                tuple(EXCLUSIONS[one["rule"]](**one) for one in data.get("exclude_if", ())),
                data.get("share_of_round_at_most", 1.0),
                data.get("withdrawal", "remove"),
                data.get("unverified"),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidProblem(f"this is not a rule of who counts ({error!r})") from error


ONLY_VERIFIED = Rule(admission=None, checks=None, exclude_if=(), share=1.0)
"""Everybody counts whom their panel has verified by the end."""


@lru_cache(maxsize=100)
def chance_of_one_side(share: float, after: int) -> float:
    """The probability that of fair coins, at some time after the first so many, this share or more fell on one side.

    Gone through toss by toss up to `LOOKS`; beyond, by Hoeffding's inequality for each and the sum of all.
    """
    last = max(LOOKS, after)
    heads = np.zeros(last + 2)
    heads[0] = 1.0
    out = 0.0
    for n in range(1, last + 1):
        heads[1:] = (heads[1:] + heads[:-1]) / 2
        heads[0] /= 2
        if n >= after:
            most = math.ceil(share * n - 1e-9)
            for gone in (slice(most, n + 1), slice(0, n - most + 1)):
                out += float(heads[gone].sum())
                heads[gone] = 0.0
    rate = 2 * (share - 0.5) ** 2
    return min(1.0, out + 2 * math.exp(-rate * (last + 1)) / -math.expm1(-rate))


def share_allowed(share: float, active: int) -> float:
    """Which part of a round one of so many who take part may have."""
    return 1.0 if active < 1 else min(1.0, max(share, 1.5 / active))


DoorKind = Literal["open", "room", "invitations", "panel"]
SAID: dict[DoorKind, str] = {
    "open": "people came by an open link; so that no single place decides, all who came over one internet connection "
    "(IPv4 /{ipv4}, IPv6 /{ipv6}) together were asked for at most {share} of the answers of a round, or half as much "
    "again as an equal part for each connection, where that is more",
    "room": "people came from one room: nothing tells one person with several browsers from several people",
    "invitations": "people came by invitations, each for one person",
    "panel": "people came from a panel, which answers for each of them being one person",
}


@dataclass(frozen=True)
class Door:
    """How people come in, and on an open link what is taken for one network and which share of a round it may have."""

    kind: DoorKind = "open"
    ipv4: int = 24
    ipv6: int = 48
    share: float = 0.10

    def __post_init__(self) -> None:
        if self.kind not in SAID:
            raise InvalidProblem(f"a door is one of {', '.join(SAID)}, got {self.kind!r}")
        if not (8 <= self.ipv4 <= 32 and 16 <= self.ipv6 <= 128):
            raise InvalidProblem(f"a network is IPv4 /8 to /32 and IPv6 /16 to /128, got /{self.ipv4} and /{self.ipv6}")
        if not 0 < self.share <= 1:
            raise InvalidProblem(f"a network's share of a round is above 0 and at most 1, got {self.share}")

    @property
    def caps_networks(self) -> bool:
        """Whether one network may give only a share of a round."""
        return self.kind == "open"

    @property
    def words(self) -> str:
        """How people came in, as the certificate says it."""
        return SAID[self.kind].format(ipv4=self.ipv4, ipv6=self.ipv6, share=f"{100 * self.share:g}%")

    def to_dict(self) -> dict[str, Any]:
        """The door as plain JSON, as the journal keeps it."""
        if not self.caps_networks:
            return {"kind": self.kind}
        return {"kind": self.kind, "ipv4": self.ipv4, "ipv6": self.ipv6, "share": self.share}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Door:
        """The door that `to_dict` wrote."""
        return cls(**data)

"""The door of a study: how people come to it, chosen when it is opened and named in its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from handful.errors import InvalidProblem

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

"""What a new study takes from an earlier one beyond what its settings can say: its name, and its door's networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from handful.crowd.setup_messages import DraftSettings
from handful.study.doors import Door
from handful.study.setup import Setup


@dataclass(frozen=True)
class Inherited:
    """The name and the door of an earlier study; nothing where there was none.

    `dropped` names what a study that is set up in the browser cannot have.
    """

    continues: str | None = None
    door: Door | None = None
    dropped: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, setup: Setup, door: Door | None) -> Inherited:
        """What the study of this name passes on, with these settings and this door now."""
        problem = setup.problem
        without = {"its ratio": problem.ratio is not None, "its prior": problem.prior is not None}
        return cls(name, door, tuple(name for name, there in without.items() if there))

    def door_for(self, told: DraftSettings) -> Door:
        """How people come; the earlier door only where they come in the same way."""
        return self.door if self.door is not None and self.door.kind == told.door else Door(told.door)

    def words_for(self, told: DraftSettings) -> str | None:
        """What is taken over and not shown among the settings, in whole sentences; None if nothing."""
        said, door = [], self.door_for(told)
        if self.continues is not None:
            said.append(f"It continues {self.continues}, and its certificate says that picks were seen before.")
        if door != Door(told.door):
            networks = f"networks of IPv4 /{door.ipv4} and IPv6 /{door.ipv6} with {100 * door.share:g}% of a round each"
            said.append(f"Taken over from the earlier study: {networks}.")
        if self.dropped:
            said.append(f"Not taken over: {' and '.join(self.dropped)}.")
        return " ".join(said) or None

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON, for the draft's file."""
        return {
            "continues": self.continues,
            "door": None if self.door is None else self.door.to_dict(),
            "dropped": list(self.dropped),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Inherited:
        """What `to_dict` wrote."""
        return cls(
            data["continues"], None if data["door"] is None else Door.from_dict(data["door"]), tuple(data["dropped"])
        )

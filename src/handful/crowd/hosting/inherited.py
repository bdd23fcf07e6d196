"""What a new study takes from an earlier one beyond what its settings can say: its own rule, its networks, ε and δ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from handful.crowd.setup_messages import DraftSettings
from handful.study.doors import Door
from handful.study.rules import EXCLUDE, ONLY_VERIFIED, Rule
from handful.study.setup import Setup


@dataclass(frozen=True)
class Inherited:
    """The rule and the door of an earlier study, and what was to be proved there by its explorer (None: the usual one).

    `dropped` names what a study that is set up in the browser cannot have.
    """

    rule: Rule | None = None
    door: Door | None = None
    explorer: str | None = None
    epsilon: float | None = None
    delta: float = 0.05
    dropped: tuple[str, ...] = ()

    @classmethod
    def of(cls, setup: Setup, explorer: str | None) -> Inherited:
        """What a study with these settings passes on; `explorer` is how the draft names the explorer."""
        problem = setup.problem
        without = {"its ratio": problem.ratio is not None, "its prior": problem.prior is not None}
        dropped = tuple(name for name, there in without.items() if there)
        rule = None if setup.rule == ONLY_VERIFIED else setup.rule
        return cls(rule, setup.door, explorer, problem.epsilon, problem.delta, dropped)

    def rule_for(self, told: DraftSettings) -> Rule | None:
        """Who counts, where people are checked: what the settings say goes before the earlier rule."""
        if not told.checks:
            return None
        rule = Rule.from_dict(told.rule) if told.rule is not None else self.rule or Rule()
        return replace(rule, unverified=EXCLUDE)

    def door_for(self, told: DraftSettings) -> Door:
        """How people come; the earlier door only where they come in the same way."""
        return self.door if self.door is not None and self.door.kind == told.door else Door(told.door)

    def epsilon_for(self, told: DraftSettings) -> float | None:
        """The ε of the claim: of the settings, or else the earlier one unless another explorer was chosen."""
        if told.epsilon is not None:
            return told.epsilon
        return self.epsilon if self.explorer == told.explorer else None

    def delta_for(self, told: DraftSettings) -> float:
        """The δ of the claim."""
        return self.delta if told.delta is None else told.delta

    def words_for(self, told: DraftSettings) -> str | None:
        """What is taken over and not shown among the settings, in whole sentences; None if nothing."""
        taken = []
        if told.checks and told.rule is None and self.rule_for(told) != Rule():
            taken.append(f"the rule {self.rule_for(told).hash} of who counts")  # type: ignore[union-attr]
        if self.door_for(told) != Door(told.door):
            door = self.door_for(told)
            taken.append(
                f"networks of IPv4 /{door.ipv4} and IPv6 /{door.ipv6} with {100 * door.share:g}% of a round each"
            )
        if told.epsilon is None and self.epsilon_for(told) is not None:
            taken.append(f"ε = {self.epsilon:g}")
        if told.delta is None and self.delta != Inherited.delta:
            taken.append(f"δ = {self.delta:g}")
        said = [f"Taken over from the earlier study: {', '.join(taken)}."] if taken else []
        if self.dropped:
            said.append(f"Not taken over: {' and '.join(self.dropped)}.")
        return " ".join(said) or None

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON, for the draft's file."""
        return {
            "rule": None if self.rule is None else self.rule.to_dict(),
            "door": None if self.door is None else self.door.to_dict(),
            "explorer": self.explorer,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "dropped": list(self.dropped),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Inherited:
        """What `to_dict` wrote."""
        return cls(
            None if data["rule"] is None else Rule.from_dict(data["rule"]),
            None if data["door"] is None else Door.from_dict(data["door"]),
            data["explorer"],
            data["epsilon"],
            data["delta"],
            tuple(data["dropped"]),
        )

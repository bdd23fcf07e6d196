"""The organizer's own practice: pairs whose better one is plain, each with a sentence on why."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

MOST_LESSONS = 10
LONGEST = 400


@dataclass(frozen=True)
class Lesson:
    """Two cards, each the name of an item or else a text of its own; `right` is what most people would choose."""

    right: str
    wrong: str
    why: str = ""

    @property
    def better(self) -> int:
        """The place of the right one, from 0: one of two, as good as drawn, and always the same."""
        return sha256(f"{self.right}\n{self.wrong}".encode()).digest()[0] % 2

    @property
    def cards(self) -> tuple[str, str]:
        """The two in the order in which they are shown."""
        return (self.wrong, self.right) if self.better else (self.right, self.wrong)

    def to_dict(self) -> dict[str, str]:
        """As the journal notes it."""
        return {"right": self.right, "wrong": self.wrong, "why": self.why}

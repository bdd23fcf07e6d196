"""What can happen to a study: one frozen class per kind of event, with the short keys of its JSON.

A journal is a list of these. `docs/events.md` describes every kind for people who read journals with other tools.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Created:
    """The study begins: everything its state depends on besides the events that follow."""

    kind: ClassVar[str] = "created"
    keys: ClassVar[tuple[str, ...]] = ("setup",)
    setup: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A new question was drawn and handed out; its lease runs from the time of the event."""

    kind: ClassVar[str] = "asked"
    keys: ClassVar[tuple[str, ...]] = ("q", "i", "j", "w", "o", "c")
    question: int
    item: int
    rival: int = -1
    worker: str | None = None
    more: tuple[int, ...] = ()  # the options after item and rival
    given: int = -1  # the first so many picks alone, or -1 for all picks so far; in the journal it is part of "j"
    copy: int = -1  # the question that it asks once more, because that one was held for long


@dataclass(frozen=True, slots=True)
class Leased:
    """A question without an answer was handed out again, unchanged."""

    kind: ClassVar[str] = "leased"
    keys: ClassVar[tuple[str, ...]] = ("q", "w")
    question: int
    worker: str | None = None


@dataclass(frozen=True, slots=True)
class Expired:
    """The leases of these questions ran out; somebody else may get them."""

    kind: ClassVar[str] = "expired"
    keys: ClassVar[tuple[str, ...]] = ("q",)
    questions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """An answer came. With `undo_until` it is provisional until it is settled."""

    kind: ClassVar[str] = "told"
    keys: ClassVar[tuple[str, ...]] = ("q", "a", "w", "u", "m", "d")
    question: int
    answer: float | bool  # with more than two options, the number of the item that was named
    worker: str | None = None
    undo_until: float | None = None
    meta: Any = None
    duration: int | None = None  # milliseconds from the reply that showed the question, as the server saw it


@dataclass(frozen=True, slots=True)
class Revised:
    """A provisional answer was replaced."""

    kind: ClassVar[str] = "revised"
    keys: ClassVar[tuple[str, ...]] = ("q", "a", "w")
    question: int
    answer: float | bool  # with more than two options, the number of the item that was named
    worker: str | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """These provisional answers stand from now on."""

    kind: ClassVar[str] = "settled"
    keys: ClassVar[tuple[str, ...]] = ("q",)
    questions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Skipped:
    """Somebody would not answer; the third skip voids the question."""

    kind: ClassVar[str] = "skipped"
    keys: ClassVar[tuple[str, ...]] = ("q", "w", "why")
    question: int
    worker: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RoundClosed:
    """A round was decided: its set A, the pick drawn from it, and ε′ reached (null for ∞)."""

    kind: ClassVar[str] = "round closed"
    keys: ClassVar[tuple[str, ...]] = ("r", "by", "A", "pick", "e")
    round: int
    ended: str
    best: tuple[int, ...]
    pick: int
    reached: float | None = None


@dataclass(frozen=True, slots=True)
class Excluded:
    """A worker's answers no longer count. `by_rule`: by a rule that was fixed before the start."""

    kind: ClassVar[str] = "excluded"
    keys: ClassVar[tuple[str, ...]] = ("w", "why", "rule")
    worker: str
    reason: str | None = None
    by_rule: bool = False


@dataclass(frozen=True, slots=True)
class Restored:
    """A worker's answers count again. `unverified`: by hand, though their panel has not verified them."""

    kind: ClassVar[str] = "restored"
    keys: ClassVar[tuple[str, ...]] = ("w", "u")
    worker: str
    unverified: bool = False  # who was waiting for the panel is otherwise verified by it


@dataclass(frozen=True, slots=True)
class Opened:
    """Questions are handed out again after a pause."""

    kind: ClassVar[str] = "opened"
    keys: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True)
class Paused:
    """No questions are handed out; answers are still taken."""

    kind: ClassVar[str] = "paused"
    keys: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True)
class Closed:
    """The study ended before all items were picked; nothing more is taken."""

    kind: ClassVar[str] = "closed"
    keys: ClassVar[tuple[str, ...]] = ("why",)
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Extended:
    """The budget grew by so many answers."""

    kind: ClassVar[str] = "extended"
    keys: ClassVar[tuple[str, ...]] = ("n",)
    answers: int


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """An item can no longer be picked, and nothing is asked about it."""

    kind: ClassVar[str] = "withdrawn"
    keys: ClassVar[tuple[str, ...]] = ("i", "why")
    item: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class InFlightSet:
    """The first run said how many questions may be unanswered at once; before that it was 1, and nothing was asked."""

    kind: ClassVar[str] = "in flight"
    keys: ClassVar[tuple[str, ...]] = ("n",)
    most: int


@dataclass(frozen=True, slots=True)
class CheckAnswered:
    """Somebody answered a question whose right answer is known: folded into the person, never into an estimate."""

    kind: ClassVar[str] = "checked"
    keys: ClassVar[tuple[str, ...]] = ("w", "c", "ok", "d", "re")
    worker: str
    check: str  # "practice", "gold" or "instructed"
    right: bool
    duration: int | None = None
    revised: bool = False  # the same check again: the worker took the last answer back


@dataclass(frozen=True, slots=True)
class Admitted:
    """From now on a worker is asked questions that count."""

    kind: ClassVar[str] = "admitted"
    keys: ClassVar[tuple[str, ...]] = ("w",)
    worker: str


@dataclass(frozen=True, slots=True)
class DoorChanged:
    """From now on people come in another way, as the organizer decided."""

    kind: ClassVar[str] = "door changed"
    keys: ClassVar[tuple[str, ...]] = ("door", "why")
    door: dict[str, Any]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class CertificateRecorded:
    """What could be claimed when the study ended, or when somebody was excluded or restored after that."""

    kind: ClassVar[str] = "certified"
    keys: ClassVar[tuple[str, ...]] = ("c",)
    certificate: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Noted:
    """Something to keep with the study that never changes its state: consent, practice, gold questions."""

    kind: ClassVar[str] = "noted"
    keys: ClassVar[tuple[str, ...]] = ("t", "d")
    topic: str
    data: Any = None


Event = (
    Created
    | Asked
    | Leased
    | Expired
    | Told
    | Revised
    | Settled
    | Skipped
    | RoundClosed
    | Excluded
    | Restored
    | Opened
    | Paused
    | Closed
    | Extended
    | Withdrawn
    | InFlightSet
    | CheckAnswered
    | Admitted
    | DoorChanged
    | CertificateRecorded
    | Noted
)
KINDS: dict[str, type[Event]] = {kind.kind: kind for kind in Event.__args__}

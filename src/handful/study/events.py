"""What can happen to a study: one frozen class per kind of event, and its JSON.

A journal is a list of these. Keys are short, because a study may hold millions; what equals its default is left out.
`docs/events.md` describes every kind for people who read journals with other tools.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from handful.errors import InvalidAnswer, JournalTooNew, StorageCorrupt
from handful.storage import Record
from handful.study.payloads import asked_payload, encoded, told_payload

VERSION = 3
_SECOND = 2  # the version of records with more than two options, places filled in, rules adopted
_THIRD = 3  # of those that say who counts, or reopen a round; all others are of 1


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
    """A worker's answers count again."""

    kind: ClassVar[str] = "restored"
    keys: ClassVar[tuple[str, ...]] = ("w",)
    worker: str


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
class Adopted:
    """From here on an unfinished study goes by another edition of its explorer's rules than the one it began with."""

    kind: ClassVar[str] = "adopted"
    keys: ClassVar[tuple[str, ...]] = ("n",)
    edition: int


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
class Lifted:
    """The organizer lifted a cap on shares of a round: "network" or "person"."""

    kind: ClassVar[str] = "lifted"
    keys: ClassVar[tuple[str, ...]] = ("c", "why")
    cap: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Reopened:
    """The rounds from this one on are forgotten, and its answers that still count are folded again."""

    kind: ClassVar[str] = "reopened"
    keys: ClassVar[tuple[str, ...]] = ("r",)
    round: int


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
    | Adopted
    | CheckAnswered
    | Admitted
    | Lifted
    | Reopened
    | Noted
)
KINDS: dict[str, type[Event]] = {kind.kind: kind for kind in Event.__args__}

# (key, field, default) per class and key → field per class, so that the hot path looks nothing up.
_SHAPES = {
    kind: tuple(
        (key, f.name, f.default)
        for key, f in zip(kind.keys, [f for f in fields(kind) if f.name != "given"], strict=True)
    )
    for kind in KINDS.values()
}
_FIELDS = {name: {key: attribute for key, attribute, _ in _SHAPES[kind]} for name, kind in KINDS.items()}
_TUPLES = {"questions", "best", "more"}
_FIRST_PICKS = -2  # a question given the first i picks alone has the rival −2 − i in the journal, and only there


def to_record(event: Event, seq: int, time: float) -> Record:
    """The event as the journal keeps it."""
    try:
        return Record(seq, _version_of(event), event.kind, time, _payload_of(event))
    except (TypeError, ValueError) as error:
        raise InvalidAnswer(
            f"what goes into the journal must be JSON ({error}): use numbers, text, lists and dicts"
        ) from None


def _payload_of(event: Event) -> str:
    if type(event) is Asked:
        rival = event.rival if event.given < 0 else _FIRST_PICKS - event.given
        return asked_payload(event.question, event.item, rival, event.worker, event.more, event.copy)
    if type(event) is Told:
        return told_payload(event.question, event.answer, event.worker, event.undo_until, event.meta, event.duration)
    data = {}
    for key, name, default in _SHAPES[type(event)]:
        value = getattr(event, name)
        if value is not default:
            data[key] = value
    return encoded(data)


def _version_of(event: Event) -> int:
    """What a reader must know: an older one is told to upgrade instead of taking one thing for another."""
    if type(event) is Asked:
        return _THIRD if event.copy >= 0 else _SECOND if event.more else 1
    if type(event) is Told:
        return 1 if event.duration is None else _THIRD
    if type(event) is RoundClosed:
        return _SECOND if event.ended == "filled" else 1
    if type(event) is Adopted:  # what follows it was decided by other rules
        return _SECOND
    if type(event) is Created:
        if "rule" in event.setup or "door" in event.setup:
            return _THIRD
        return _SECOND if event.setup["feedback"].get("options", 2) > 2 else 1
    return _THIRD if isinstance(event, CheckAnswered | Admitted | Lifted | Reopened) else 1


def from_record(record: Record) -> Event:
    """The event a record keeps; StorageCorrupt or JournalTooNew if it is none that this version knows."""
    if record.version > VERSION:
        raise JournalTooNew(
            f"record {record.seq} has version {record.version}, this handful knows up to {VERSION}: upgrade handful"
        )
    try:
        names = _FIELDS[record.kind]
        found: dict[str, Any] = {}
        for key, value in json.loads(record.payload).items():
            found[names[key]] = tuple(value) if type(value) is list and names[key] in _TUPLES else value
        if record.kind == Asked.kind and found.get("rival", -1) <= _FIRST_PICKS:
            found["given"] = _FIRST_PICKS - found.pop("rival")
        return KINDS[record.kind](**found)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StorageCorrupt(
            f"record {record.seq} ({record.kind!r}) is not an event of this version ({error!r}): "
            "restore the storage from a backup"
        ) from error

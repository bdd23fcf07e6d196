"""What can happen to a study: one frozen class per kind of event, to and from the JSON of its journal."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from json.encoder import encode_basestring_ascii
from math import isfinite
from typing import Any, ClassVar

import numpy as np

from handful.errors import InvalidAnswer, JournalTooNew, StorageCorrupt
from handful.setup import Setup
from handful.storage import Record


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


def _numpy_number(x: object) -> object:
    """A number of NumPy as one that JSON knows; TypeError for anything else."""
    if isinstance(x, np.generic):
        return x.item()
    raise TypeError(f"{type(x).__name__} is none of its types")


encoded = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_numpy_number).encode


def asked_payload(question: int, item: int, rival: int, worker: str | None, more: tuple[int, ...], copy: int) -> str:
    """What a record of a question says."""
    text = f'{{"q":{_number(question)},"i":{_number(item)}'
    if rival != -1:
        text += f',"j":{_number(rival)}'
    if worker is not None:
        text += f',"w":{_text(worker)}'
    if more:
        text += f',"o":{encoded(more)}'
    if copy != -1:
        text += f',"c":{_number(copy)}'
    return text + "}"


def told_payload(
    question: int, answer: float | bool, worker: str | None, undo_until: float | None, meta: Any, duration: int | None
) -> str:
    """What a record of an answer says."""
    text = f'{{"q":{_number(question)},"a":{_number(answer)}'
    if worker is not None:
        text += f',"w":{_text(worker)}'
    if undo_until is not None:
        text += f',"u":{_number(undo_until)}'
    if meta is not None:
        text += f',"m":{encoded(meta)}'
    if duration is not None:
        text += f',"d":{_number(duration)}'
    return text + "}"


def _number(x: float | bool) -> str:
    if type(x) is int or (type(x) is float and isfinite(x)):
        return repr(x)
    return encoded(x)


def _text(x: str) -> str:
    return encode_basestring_ascii(x) if type(x) is str else encoded(x)


VERSION = 1
"""Of the records that this handful writes, and the only one that it reads."""

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
        return Record(seq, VERSION, event.kind, time, _payload_of(event))
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


def payload_of(record: Record) -> dict[str, Any]:
    """What a record says; StorageCorrupt or JournalTooNew if it is none that this handful knows."""
    if record.version != VERSION:
        raise JournalTooNew(
            f"record {record.seq} has version {record.version}, this handful knows {VERSION}: "
            "use the handful that wrote it"
        )
    try:
        data = json.loads(record.payload)
    except ValueError as error:
        raise _unknown(record, error) from error
    if type(data) is not dict:
        raise _unknown(record, TypeError("it is no table"))
    return data


def event_of(record: Record, data: dict[str, Any]) -> Event:
    """The event that a record keeps, from its payload; StorageCorrupt if it is none."""
    try:
        names = _FIELDS[record.kind]
        found: dict[str, Any] = {}
        for key, value in data.items():
            name = names[key]
            found[name] = tuple(value) if type(value) is list and name in _TUPLES else value
        if record.kind == Asked.kind and found.get("rival", -1) <= _FIRST_PICKS:
            found["given"] = _FIRST_PICKS - found.pop("rival")
        return KINDS[record.kind](**found)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unknown(record, error) from error


def from_record(record: Record) -> Event:
    """The event that a record keeps."""
    return event_of(record, payload_of(record))


def setup_of(record: Record) -> Setup:
    """The settings in a journal's first record."""
    event = from_record(record)
    assert isinstance(event, Created)
    return Setup.from_dict(event.setup)


def _unknown(record: Record, error: Exception) -> StorageCorrupt:
    return StorageCorrupt(
        f"record {record.seq} ({record.kind!r}) is not an event of this version ({error!r}): "
        "restore the storage from a backup"
    )

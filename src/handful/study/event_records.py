"""Events as the records of a journal, and back.

Keys are short, because a study may hold millions; what equals its default is left out. Each record has the version that
a reader must know to understand it.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from handful.errors import InvalidAnswer, JournalTooNew, StorageCorrupt
from handful.storage import Record
from handful.study.events import (
    KINDS,
    Admitted,
    Adopted,
    Asked,
    CheckAnswered,
    Created,
    DoorChanged,
    Event,
    InFlightSet,
    Reopened,
    Restored,
    RoundClosed,
    Told,
)
from handful.study.payloads import asked_payload, encoded, told_payload

VERSION = 6
_SECOND = 2  # the version of records with more than two options, places filled in, rules adopted
_THIRD = 3  # of those that say who counts, or reopen a round
_FOURTH = 4  # of those that say how many questions may be out, or what becomes of the unverified; all others are of 1
_FIFTH = 5  # of those that reopen a round from the picks alone
_SIXTH = 6  # of those that restore somebody by hand whom the panel has not verified

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
        if "unverified" in event.setup.get("rule", {}):
            return _FOURTH
        if "rule" in event.setup or "door" in event.setup:
            return _THIRD
        return _SECOND if event.setup["feedback"].get("options", 2) > 2 else 1
    if type(event) is Reopened and event.from_picks:
        return _FIFTH
    if type(event) is Restored and event.unverified:
        return _SIXTH
    if type(event) is InFlightSet:
        return _FOURTH
    return _THIRD if isinstance(event, CheckAnswered | Admitted | DoorChanged | Reopened) else 1


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

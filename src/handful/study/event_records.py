"""Events as the records of a journal, and back.

Keys are short, because a study may hold millions; what equals its default is left out.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from handful.errors import InvalidAnswer, JournalTooNew, StorageCorrupt
from handful.storage import Record
from handful.study.events import KINDS, Asked, Created, Event, Told
from handful.study.payloads import asked_payload, encoded, told_payload
from handful.study.setup import Setup

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

"""What a study will do, written down before it begins, so that everybody can see later that it was done.

The record names everything that is fixed at the start. It does not tell the seed, from which what is asked could be
foreseen, but a digest of the seed and a salt: once both are published, anybody can check that no other seed was used.
The journal keeps the record's own digest and the salt.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from handful.errors import InvalidProblem
from handful.study.setup import Setup
from handful.wording import counted

PREREGISTERED = "preregistered"
"""The topic under which a journal notes it."""

Contents = Mapping[str, str | Mapping[str, str]]
"""The SHA-256 digest of each item by its name, or its digests: `sha256` as it is shown, `uploaded` as it was given."""

FIELDS = {
    "study": "Study",
    "items": "Items",
    "k": "To be chosen",
    "feedback": "What is asked",
    "explorer": "What decides what is asked",
    "rules": "Number of its rules",
    "budget": "Answers at most",
    "epsilon": "ε",
    "delta": "δ",
    "ratio": "Share of the best to be shown",
    "stopping": "When it ends",
    "rule": "Who counts",
    "door": "How people come",
    "continues": "Study it continues",
    "language": "Language of the page",
    "words": "What people read",
    "in_flight": "Questions out at once",
    "lease_s": "Seconds until a question is asked of another",
    "prior": "Prior",
    "chosen": "Chosen before the start",
    "solo": "For one person",
    "scenarios": "Scenarios",
    "seed": "Commitment to the seed",
    "handful": "Version of handful",
    "hash": "Digest of this record",
}
"""What the fields of a record are called."""

_NOTHING = (None, "")
_BEFORE_IT = 20
"""So many characters of what is the same are shown before what differs."""


@dataclass(frozen=True)
class Registered:
    """That a study was preregistered: the record's digest, the salt, and how many answers there were then."""

    hash: str
    salt: str
    answers: int

    @property
    def words(self) -> str:
        """What the certificate says about the preregistration."""
        when = (
            "before the first answer"
            if self.answers == 0
            else f"after {counted(self.answers, 'answer')}, which is late"
        )
        return f"it was preregistered {when}, as {self.hash}"


def record_of(
    setup: Setup, name: str, salt: str, contents: Contents | None, words: Mapping[str, Any]
) -> dict[str, Any]:
    """The record of a study. `contents` are digests of the items by their names; None where items are only names.

    `words` are what people read; `language` among them gets a field of its own.
    """
    told = setup.to_dict()
    seed, ids = told.pop("seed"), told.pop("items")
    told.pop("fingerprint")
    each = [{"name": id_, **_digests_of(_digest(id_) if contents is None else contents[id_])} for id_ in ids]
    record = {
        "study": name,
        "items": {
            "number": len(ids),
            "digest": _digest(each),
            "each": each,
        },
        **told,
        "stopping": _stopping(setup),
        "language": words.get("language"),
        "words": {key: value for key, value in words.items() if key != "language"},
        "seed": commitment(seed, salt),
    }
    return {**record, "hash": digest_of(record)}


def commitment(seed: int, salt: str) -> str:
    """What is published of the seed beforehand."""
    return sha256(f"{salt}:{seed}".encode()).hexdigest()


def digest_of(record: Mapping[str, Any]) -> str:
    """The digest of a record, without the one it carries."""
    return _digest({key: value for key, value in record.items() if key != "hash"})


def read_record(text: str) -> dict[str, Any]:
    """A record from its JSON; InvalidProblem where it is none, or was changed since."""
    try:
        record = json.loads(text)
        said = record["hash"]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidProblem("this is not a preregistration: give the .json file that was written before") from error
    if said != digest_of(record):
        raise InvalidProblem("this preregistration was changed after it was written: its digest is another one")
    return dict(record)


def departures(
    registered: Mapping[str, Any], now: Mapping[str, Any], noted: Registered | None, done: Iterable[str] = ()
) -> list[str]:
    """In what a study, as it is, differs from what was registered, in words; nothing if it kept to it.

    `done`: what was done by hand that no record of a study foresees, as `done_by_hand` tells it.
    """
    found = list(done)
    if noted is None:
        found.append("the journal has no preregistration")
    else:
        if noted.hash != registered["hash"]:
            found.append(f"the journal names another preregistration, {noted.hash}")
        if noted.answers:
            found.append(f"it was registered only after {counted(noted.answers, 'answer')}")
    for key in sorted({*registered, *now} - {"hash", "handful"}):
        before, after = registered.get(key), now.get(key)
        if before == after:
            continue
        if key == "items":
            found += _other_items(before, after)
        elif key == "seed":
            found.append("the seed is not the one that was committed to")
        else:
            found += _differences(FIELDS.get(key, key).lower(), before, after)
    return found


def _differences(name: str, before: Any, after: Any) -> list[str]:
    """In what two values differ: of tables, in which of their entries."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = [*before, *(key for key in after if key not in before)]
        each = [(f"{name}, {key.replace('_', ' ')}", before.get(key), after.get(key)) for key in keys]
        return [line for entry in each if entry[1] != entry[2] for line in _differences(*entry)]
    then, now = ("nothing" if one in _NOTHING else json.dumps(one, ensure_ascii=False) for one in (before, after))
    same = next((at for at, (one, other) in enumerate(zip(then, now, strict=False)) if one != other), 0)
    start = max(0, same - _BEFORE_IT) if same > 2 * _BEFORE_IT else 0
    return [f"{name}: registered {_cut(then, start)}, now {_cut(now, start)}"]


def _cut(text: str, start: int) -> str:
    """At most 80 characters of it, from where it is interesting."""
    text = f"…{text[start:]}" if start else text
    return text if len(text) <= 80 else text[:79] + "…"


def _other_items(before: Any, after: Any) -> list[str]:
    """In what the items differ, of what the record says of them."""
    then, now = ({one["name"]: one for one in said.get("each", ())} for said in (before, after))
    if list(then) != list(now):
        gone, new = ([name for name in one if name not in other] for one, other in ((then, now), (now, then)))
        which = [f"without {_some(gone)}"] * bool(gone) + [f"with {_some(new)}"] * bool(new)
        return [f"the items are others, {' and '.join(which) or 'in another order'}"]
    found = []
    for digest, means in (("uploaded", "was another file"), ("sha256", "looks otherwise")):
        changed = [name for name, one in then.items() if one.get(digest) not in (None, now[name].get(digest))]
        if changed:
            found.append(f"of the items, {_some(changed)} {means}")
    return found


def _some(names: Sequence[Any]) -> str:
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return ", ".join(map(str, names[:3])) + more


def to_json(record: Mapping[str, Any]) -> str:
    """The record as it is kept in a file."""
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def _digests_of(content: str | Mapping[str, str]) -> dict[str, str]:
    return {"sha256": content} if isinstance(content, str) else dict(content)


def _digest(value: Any) -> str:
    return sha256(json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _stopping(setup: Setup) -> str:
    p = setup.problem
    parts = [f"after {p.k} picks"]
    if p.total is not None:
        parts.append(f"at most {p.total.answers:,} answers")
    if p.epsilon is not None:
        parts.append(f"a round ends once its pick is shown to be within ε = {p.epsilon:g}, with δ = {p.delta:g} in all")
    if p.ratio is not None:
        parts.append(f"or once {p.ratio:g} of the best is shown")
    if setup.sure is not None:
        parts.append(f"a round ends once its belief holds a pick for the best with probability {setup.sure:g}")
    return "; ".join(parts) + "; or when the organizer ends it, which the journal then says"

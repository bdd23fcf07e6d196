"""What a study will do, written down before it begins, so that everybody can see later that it was done.

The record names everything that is fixed at the start. It does not tell the seed, from which what is asked could be
foreseen, but a digest of the seed and a salt: once both are published, anybody can check that no other seed was used.
The journal keeps the record's own digest and the salt.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from typing import Any

from handful import events
from handful.errors import InvalidProblem
from handful.rules import EXCLUDE
from handful.setup import Setup
from handful.storage import Record
from handful.wording import counted
from handful.workers import NOT_VERIFIED, WITHDREW

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


UNVERIFIED = (
    "Whoever comes from a panel and cannot be verified by the end is excluded: nothing they answered counts. Their pay "
    "is then for the organizer to decide, and does not depend on what they answered."
)
BUILT_IN = "the built-in words"
UNSAID = {
    "question": BUILT_IN,
    "welcome": BUILT_IN,
    "thanks": BUILT_IN,
    "goal": "no number is shown",
    "beta": "not known",
}
"""What it means that the organizer said nothing."""

NAMES = {
    "admission": "Admitted after",
    "beta": "β, how sharply people tell the better one",
    "checks": "Checks",
    "consent": "What people agree to",
    "exclude_if": "Excluded if",
    "goal": "Answers that each is asked for",
    "instruction": "On a check's card",
    "ipv4": "Leading bits of an IPv4 address that make a network",
    "ipv6": "Leading bits of an IPv6 address that make a network",
    "ms": "Milliseconds",
    "rule": "Rule",
    "in_flight_left": "Whether the first run says how many may be out",
    "options": "Shown at a time",
    "right_at_least": "Of these right at least",
    "sha256": "As shown",
    "everybody_who_finishes": "Everybody who finishes is paid",
    "share_of_round_at_most": "Share of a round that one person may have",
    "tau": "τ, comparisons in one query",
    "uploaded": "As uploaded",
    "why": "Why",
}


def page_of(record: Mapping[str, Any], answers: int = 0, built_in: Mapping[str, str] | None = None) -> str:
    """The record as a page that stands alone, to be posted before the start; `answers` are those there were by then.

    `built_in`: what people read where the record names no words of the organizer's.
    """
    when = "before its first answer" if answers == 0 else f"after {counted(answers, 'answer')}"
    spoken, unwritten = record.get("language") or "en", built_in or {}
    rows = "\n".join(
        f"<div><dt>{escape(FIELDS.get(key) or _name(key))}</dt><dd>{_field(key, value, spoken, unwritten)}</dd></div>"
        for key, value in record.items()
        if value is not None
    )
    name = str(record["study"])
    return _PAGE.format(
        title=escape(name), typed=escape(shlex.quote(name)), when=when, rows=rows, json=escape(to_json(record))
    )


def _field(key: str, value: Any, spoken: str, built_in: Mapping[str, str]) -> str:
    if key == "items":
        lines = "".join(f"<li>{escape(str(one['name']))} {_digests_shown(one)}</li>" for one in value["each"])
        return (
            f"{value['number']:,}; digest of the list <code>{value['digest']}</code>"
            f"<details><summary>Each item</summary><ol>{lines}</ol></details>"
        )
    if key == "rule" and isinstance(value, dict) and value.get("unverified") == EXCLUDE:
        return f"<p>{escape(UNVERIFIED)}</p>{_said(value)}"
    if key == "words":
        return _said({name: one or built_in.get(name) for name, one in value.items()}, spoken=spoken)
    return f"<code>{escape(str(value))}</code>" if key in ("seed", "hash") else _said(value)


def _said(value: Any, key: str = "", spoken: str = "en") -> str:
    """A value as people write it: tables by the names of their entries, lists as lists, yes and no.

    `spoken`: the language that its texts are in.
    """
    if value is None or value in ("", [], {}):
        return UNSAID.get(key, "none")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    if isinstance(value, dict):
        entries = (
            f"<dt>{escape(NAMES.get(name) or _name(name))}</dt><dd>{_said(one, name, spoken)}</dd>"
            for name, one in value.items()
        )
        return f"<dl>{''.join(entries)}</dl>"
    if isinstance(value, list):
        return f"<ul>{''.join(f'<li>{_said(one, key, spoken)}</li>' for one in value)}</ul>"
    if key in ("sha256", "uploaded"):
        return f"<code>{escape(str(value))}</code>"
    text = str(value).replace("_", " ") if key == "rule" else str(value)
    return f'<span dir="auto" lang="{escape(spoken)}">{escape(text)}</span>'


def _name(key: str) -> str:
    """A name that is not known, as it would be written; that of a file stays as it is."""
    return key if "." in key else key.replace("_", " ")[:1].upper() + key.replace("_", " ")[1:]


def _digests_shown(item: Mapping[str, str]) -> str:
    """An item's digests; with words where there are two, of its file as it was given and of what people see."""
    if "uploaded" not in item:
        return f"<code>{item['sha256']}</code>"
    return f"as uploaded <code>{item['uploaded']}</code>, as shown <code>{item['sha256']}</code>"


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Preregistration: {title}</title>
<style>
:root {{ color-scheme: light dark; --paper: #faf8f3; --ink: #1f2b35; --faint: #5a6670; --line: #ddd7ca; }}
@media (prefers-color-scheme: dark) {{
:root {{ --paper: #12171b; --ink: #eceae4; --faint: #a7b1b9; --line: #2f3942; }}
}}
body {{ max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }}
html, body {{ background: var(--paper); color: var(--ink); }}
h1, dt, dd, li, p {{ overflow-wrap: anywhere; }}
.record, .record dl, .record p, .record ul, .record ol {{ margin: 0; }}
.record > div {{ display: grid; grid-template-columns: 14rem 1fr; gap: .25rem 1rem; padding: .6rem 0; }}
.record > div {{ border-bottom: 1px solid var(--line); }}
.record > div > dt {{ font-weight: 600; }}
dd {{ margin: 0; }}
dd dt {{ color: var(--faint); font-size: .875rem; }}
dd dd {{ margin: 0 0 .5rem; }}
dd dd dl {{ padding-inline-start: .75rem; border-inline-start: 2px solid var(--line); }}
ul, ol {{ padding-inline-start: 1.25rem; }}
span[dir] {{ display: block; white-space: pre-line; }}
code, pre {{ font-size: .875rem; overflow-wrap: anywhere; white-space: pre-wrap; }}
@media (max-width: 40rem) {{ .record > div {{ grid-template-columns: 1fr; }} }}
</style></head><body><main>
<h1>Preregistration: {title}</h1>
<p>What this study will do, written down {when}. To check afterwards that it was done, keep the JSON at
the end in a file and run <code>handful replay {typed} --check --against FILE</code>.</p>
<dl class="record">{rows}</dl>
<details><summary>The record as JSON</summary><pre>{json}</pre></details>
</main></body></html>
"""


def done_by_hand(records: Iterable[Record]) -> list[str]:
    """One sentence for each kind of thing; nothing where a study was left to itself."""
    more, doors, withdrawn = 0, 0, 0
    excluded, restored, waiting = 0, 0, set[str]()
    for record in records:
        if record.kind not in _LOOKED_AT:
            continue
        told = json.loads(record.payload)
        if record.kind == events.Extended.kind:
            more += told["n"]
        elif record.kind == events.DoorChanged.kind:
            doors += 1
        elif record.kind == events.Withdrawn.kind:
            withdrawn += 1
        elif record.kind == events.Excluded.kind:
            excluded += not told.get("rule", False) and told.get("why") != WITHDREW
            if told.get("why") == NOT_VERIFIED and told.get("rule", False):
                waiting.add(told["w"])
        else:
            verified = told["w"] in waiting and not told.get("u", False)  # by the panel: that was foreseen
            restored += not verified
            waiting.discard(told["w"])
    said = [
        (more, f"the budget grew by {counted(more, 'answer')}"),
        (doors, f"how people come was changed ({counted(doors, 'time')})"),
        (withdrawn, f"{counted(withdrawn, 'item')} could be chosen no more"),
        (excluded, f"people were excluded by hand ({counted(excluded, 'time')})"),
        (restored, f"people were restored by hand ({counted(restored, 'time')})"),
    ]
    return [sentence for happened, sentence in said if happened]


_LOOKED_AT = {
    kind.kind
    for kind in (
        events.Extended,
        events.DoorChanged,
        events.Withdrawn,
        events.Excluded,
        events.Restored,
    )
}

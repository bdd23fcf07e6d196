"""What a study will do, written down before it begins, so that everybody can see later that it was done.

The record names everything that is fixed at the start. It does not tell the seed, from which what is asked could be
foreseen, but a digest of the seed and a salt: once both are published, anybody can check that no other seed was used.
The journal keeps the record's own digest and the salt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.metadata import version
from typing import Any

from handful.errors import InvalidProblem
from handful.study.rules import EXCLUDE
from handful.study.setup import Setup
from handful.wording import counted

PREREGISTERED = "preregistered"
"""The topic under which a journal notes it."""

FORMAT = 2
"""In format 1 there was no language, and of items only how they look."""

Contents = Mapping[str, str | Mapping[str, str]]
"""The SHA-256 digest of each item by its name, or its digests: `sha256` as it is shown, `uploaded` as it was given."""

UNVERIFIED = (
    "Whoever comes from a panel and cannot be verified by the end is excluded: nothing they answered counts. Their pay "
    "is then for the organizer to decide, and does not depend on what they answered."
)
_WORDS = {
    "study": "Study",
    "items": "Items",
    "k": "To be chosen",
    "feedback": "What is asked",
    "explorer": "What decides what is asked",
    "edition": "Edition of its rules",
    "budget": "Answers at most",
    "epsilon": "ε",
    "delta": "δ",
    "ratio": "Share of the best to be shown",
    "stopping": "When it ends",
    "rule": "Who counts",
    "door": "How people come",
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
    "format": "Format of this record",
    "hash": "Digest of this record",
}


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
        "handful": version("handful"),
        "format": FORMAT,
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


def departures(registered: Mapping[str, Any], now: Mapping[str, Any], noted: Registered | None) -> list[str]:
    """In what a study, as it is, differs from what was registered, in words; nothing if it kept to it."""
    found = []
    if noted is None:
        found.append("the journal has no preregistration")
    else:
        if noted.hash != registered["hash"]:
            found.append(f"the journal names another preregistration, {noted.hash}")
        if noted.answers:
            found.append(f"it was registered only after {counted(noted.answers, 'answer')}")
    unsaid = {"language"} if registered.get("format", 1) < 2 else set()
    for key in sorted({*registered, *now} - {"hash", "handful", "format"} - unsaid):
        before, after = registered.get(key), now.get(key)
        if before == after:
            continue
        if key == "items":
            found += _other_items(before, after)
        elif key == "seed":
            found.append("the seed is not the one that was committed to")
        else:
            found.append(f"{_WORDS.get(key, key).lower()}: registered {_shown(before)}, now {_shown(after)}")
    return found


def _other_items(before: Any, after: Any) -> list[str]:
    """In what the items differ, of what the record says of them: earlier ones say less."""
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


def page_of(record: Mapping[str, Any], answers: int = 0) -> str:
    """The record as a page that stands alone, to be posted before the start; `answers` are those there were by then."""
    when = "before its first answer" if answers == 0 else f"after {counted(answers, 'answer')}"
    rows = "\n".join(
        f"<tr><th>{escape(_WORDS.get(key, key))}</th><td>{_cell(key, value)}</td></tr>"
        for key, value in record.items()
        if value is not None
    )
    return _PAGE.format(title=escape(str(record["study"])), when=when, rows=rows, json=escape(to_json(record)))


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
    return "; ".join(parts) + "; or when the organizer ends it, which the journal then says"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "…"


def _cell(key: str, value: Any) -> str:
    if key == "items":
        lines = "".join(f"<li>{escape(str(one['name']))} {_digests_said(one)}</li>" for one in value["each"])
        return (
            f"{value['number']:,}; digest of the list <code>{value['digest']}</code>"
            f"<details><summary>Each item</summary><ol>{lines}</ol></details>"
        )
    if isinstance(value, dict | list):
        fixed = key == "rule" and isinstance(value, dict) and value.get("unverified") == EXCLUDE
        said = f"<p>{escape(UNVERIFIED)}</p>" if fixed else ""
        return f"{said}<pre>{escape(json.dumps(value, ensure_ascii=False, indent=1))}</pre>"
    return f"<code>{escape(str(value))}</code>" if key in ("seed", "hash") else escape(str(value))


def _digests_said(item: Mapping[str, str]) -> str:
    """An item's digests; with words where there are two, of its file as it was given and of what people see."""
    if "uploaded" not in item:
        return f"<code>{item['sha256']}</code>"
    return f"as uploaded <code>{item['uploaded']}</code>, as shown <code>{item['sha256']}</code>"


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Preregistration: {title}</title>
<style>
body {{ max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; color: #1f2b35; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: left; vertical-align: top; padding: .5rem; border-bottom: 1px solid #ddd7ca; }}
th {{ width: 14rem; }}
code, pre {{ font-size: .875rem; overflow-wrap: anywhere; white-space: pre-wrap; }}
</style></head><body>
<h1>Preregistration: {title}</h1>
<p>What this study will do, written down {when}. To check afterwards that it was done, keep the JSON at
the end in a file and run <code>handful replay {title} --check --against FILE</code>.</p>
<table>{rows}</table>
<details><summary>The record as JSON</summary><pre>{json}</pre></details>
</body></html>
"""
